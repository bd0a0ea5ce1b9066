#include "common/http/server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "common/base/log.h"
#include "common/base/utf8.h"

namespace rota::http {
namespace {

struct SocketAddress {
  sockaddr_storage bytes{};
  bool is_six = false;
};

Result<SocketAddress> address_of(const std::string& host, std::uint16_t port) {
  SocketAddress out;
  auto* four = reinterpret_cast<sockaddr_in*>(&out.bytes);
  auto* six = reinterpret_cast<sockaddr_in6*>(&out.bytes);
  const std::string text = host == "localhost" ? "127.0.0.1" : host;
  if (::inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    return out;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    out.is_six = true;
    return out;
  }
  return fail(ErrorCode::InvalidArgument, "http.host: '" + host + "' is no IP address");
}

MHD_Result send(MHD_Connection* connection, const Response& response) {
  // Every page is text: one broken byte would make the whole page unreadable for a strict reader.
  std::string body = is_utf8(response.body) ? response.body : repaired_text(response.body);
  MHD_Response* out = MHD_create_response_from_buffer(body.size(), body.data(), MHD_RESPMEM_MUST_COPY);
  if (out == nullptr) return MHD_NO;
  MHD_add_response_header(out, MHD_HTTP_HEADER_CONTENT_TYPE, response.content_type.c_str());
  MHD_add_response_header(out, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  MHD_add_response_header(out, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(out, "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  if (response.status == MHD_HTTP_METHOD_NOT_ALLOWED) {
    MHD_add_response_header(out, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    MHD_add_response_header(out, MHD_HTTP_HEADER_CONNECTION, "close");
  }
  const MHD_Result queued = MHD_queue_response(connection, static_cast<unsigned>(response.status), out);
  MHD_destroy_response(out);
  return queued;
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, Answer answer) : options_(std::move(options)), answer_(std::move(answer)) {}
  ~Impl() { stop(); }

  Result<void> start() {
    auto address = address_of(options_.host, options_.port);
    if (!address) return fail(address.error());
    const unsigned flags = unsigned{MHD_USE_EPOLL_INTERNAL_THREAD} |
                           (address->is_six ? unsigned{MHD_USE_IPv6} : 0u);
    const auto idle = std::chrono::ceil<std::chrono::seconds>(options_.idle).count();
    daemon_ = MHD_start_daemon(
        flags, options_.port, nullptr, nullptr, &Impl::on_request, this, MHD_OPTION_SOCK_ADDR,
        reinterpret_cast<sockaddr*>(&address->bytes), MHD_OPTION_CONNECTION_LIMIT, options_.most_connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options_.connection_bytes, MHD_OPTION_CONNECTION_TIMEOUT,
        static_cast<unsigned>(idle), MHD_OPTION_END);
    if (daemon_ != nullptr) return {};
    return fail(ErrorCode::Unavailable, "http: cannot listen on " + options_.host + ":" +
                                            std::to_string(options_.port) + ": " + std::strerror(errno) +
                                            "; choose another http.port, or 0 for none");
  }

  void stop() {
    if (daemon_ == nullptr) return;
    MHD_stop_daemon(daemon_);
    daemon_ = nullptr;
  }

  std::uint16_t port() const {
    if (daemon_ == nullptr) return 0;
    const MHD_DaemonInfo* info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
    return info == nullptr ? options_.port : info->port;
  }

 private:
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url, const char* method,
                               const char*, const char*, std::size_t*, void**) {
    return static_cast<Impl*>(self)->answer(connection, url, method);
  }

  MHD_Result answer(MHD_Connection* connection, const char* url, const char* method) {
    const bool reads = std::strcmp(method, "GET") == 0 || std::strcmp(method, "HEAD") == 0;
    if (!reads) return send(connection, {405, "only GET and HEAD are answered here\n"});
    try {
      return send(connection, answer_(Request{url}));
    } catch (const std::exception& problem) {
      log_error("http", "a page failed", {{"path", url}, {"why", problem.what()}});
      return send(connection, {500, "this page failed; the process's log says why\n"});
    }
  }

  const ServerOptions options_;
  const Answer answer_;
  MHD_Daemon* daemon_ = nullptr;
};

Server::Server(ServerOptions options, Answer answer)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(answer))) {}
Server::~Server() = default;
Result<void> Server::start() { return impl_->start(); }
void Server::stop() { impl_->stop(); }
std::uint16_t Server::port() const { return impl_->port(); }

}  // namespace rota::http
