// HttpClient over libcurl. A handle for each call: runs are seldom enough that a pool of connections would
// bring nothing but connections that the server has closed.
#include <curl/curl.h>

#include <array>
#include <mutex>
#include <optional>

#include "worker/handlers/http_client.h"

namespace rota::worker::handlers {

namespace {

constexpr int kLookMs = 100;           // between two looks at the cancellation
constexpr const char* kAgent = "rota";

struct EasyEnd {
  void operator()(CURL* handle) const { ::curl_easy_cleanup(handle); }
};
struct MultiEnd {
  void operator()(CURLM* handle) const { ::curl_multi_cleanup(handle); }
};
struct ListEnd {
  void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyEnd>;
using Multi = std::unique_ptr<CURLM, MultiEnd>;
using HeaderList = std::unique_ptr<curl_slist, ListEnd>;

/// What curl's callbacks reach of a call.
struct Hearing {
  HttpListener* listener = nullptr;
  std::int64_t body_bytes = 0;
};

std::size_t take_body(char* bytes, std::size_t one, std::size_t count, void* to) {
  auto& hearing = *static_cast<Hearing*>(to);
  hearing.body_bytes += static_cast<std::int64_t>(one * count);
  hearing.listener->on_body({bytes, one * count});
  return one * count;
}

std::size_t take_head(char* bytes, std::size_t one, std::size_t count, void* to) {
  std::string_view line(bytes, one * count);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  static_cast<Hearing*>(to)->listener->on_head(line);
  return one * count;
}

void add_header(HeaderList& list, const std::string& line) {
  curl_slist* longer = ::curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return;
  (void)list.release();
  list.reset(longer);
}

HeaderList headers_of(const model::HttpCall& call) {
  HeaderList list;
  add_header(list, "Expect:");  // no second's wait before a body, and no answer 100
  // curl's own default for a body would call any of them a form.
  add_header(list, "Content-Type:");
  for (const auto& [name, value] : call.headers) {
    // With a ';' curl sends a header without a value; with a ':' it would leave the header out.
    add_header(list, value.empty() ? name + ";" : name + ": " + value);
  }
  return list;
}

void set_method(CURL* handle, const model::HttpCall& call) {
  if (call.has_body) {
    ::curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    ::curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call.body.data());
  }
  if (call.method == "HEAD") {
    ::curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  } else if (call.method == "POST") {
    // A POST of curl's own, so that a redirect with 303 is followed by a GET.
    if (!call.has_body) ::curl_easy_setopt(handle, CURLOPT_POSTFIELDS, "");
    ::curl_easy_setopt(handle, CURLOPT_POST, 1L);
  } else if (call.method != "GET" || call.has_body) {
    ::curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  }
}

void set_limits(CURL* handle, const model::HttpCall& call) {
  ::curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, call.redirects > 0 ? 1L : 0L);
  ::curl_easy_setopt(handle, CURLOPT_MAXREDIRS, static_cast<long>(call.redirects));
  ::curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout.count()));
  ::curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(call.connect_timeout.count()));
  ::curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(handle, CURLOPT_PROXY, "");
  ::curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);  // never waits for a resolver that hangs
  if (!call.ca_file.empty()) ::curl_easy_setopt(handle, CURLOPT_CAINFO, call.ca_file.c_str());
}

Error trouble_of(CURLcode code, const char* detail, const model::HttpCall& call) {
  const std::string text =
      call.method + " " + call.url + ": " + (*detail != '\0' ? detail : ::curl_easy_strerror(code));
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT: return {ErrorCode::TimedOut, text};
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_SSL_CACERT_BADFILE: return {ErrorCode::InvalidArgument, text};
    default: return {ErrorCode::Unavailable, text};
  }
}

HttpAnswer answer_of(CURL* handle, const Hearing& hearing) {
  long status = 0, redirects = 0;
  const char* url = nullptr;
  curl_off_t took_us = 0;
  ::curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  ::curl_easy_getinfo(handle, CURLINFO_REDIRECT_COUNT, &redirects);
  ::curl_easy_getinfo(handle, CURLINFO_EFFECTIVE_URL, &url);
  ::curl_easy_getinfo(handle, CURLINFO_TOTAL_TIME_T, &took_us);
  return {static_cast<int>(status), static_cast<int>(redirects), url == nullptr ? "" : url,
          hearing.body_bytes, Millis{took_us / 1000}};
}

/// Empty: cancelled, or curl itself is in trouble, of which it then says nothing more.
std::optional<CURLcode> transfer(CURLM* multi, HttpListener& listener) {
  int running = 1;
  while (!listener.is_cancelled()) {
    if (::curl_multi_perform(multi, &running) != CURLM_OK) return std::nullopt;
    int left = 0;
    while (const CURLMsg* message = ::curl_multi_info_read(multi, &left)) {
      if (message->msg == CURLMSG_DONE) return message->data.result;
    }
    if (::curl_multi_poll(multi, nullptr, 0, kLookMs, nullptr) != CURLM_OK) return std::nullopt;
  }
  return std::nullopt;
}

class CurlClient final : public HttpClient {
 public:
  Result<HttpAnswer> call(const model::HttpCall& call, HttpListener& listener) override {
    // With the first call: a worker that makes none has no use for the libraries' memory.
    static std::once_flag once;
    std::call_once(once, [] { ::curl_global_init(CURL_GLOBAL_DEFAULT); });
    const HeaderList headers = headers_of(call);
    const Easy easy(::curl_easy_init());
    const Multi multi(::curl_multi_init());
    if (!easy || !multi) return fail(ErrorCode::Unavailable, "libcurl has no memory for a call");
    std::array<char, CURL_ERROR_SIZE> detail{};
    Hearing hearing{&listener, 0};
    CURL* const handle = easy.get();
    ::curl_easy_setopt(handle, CURLOPT_URL, call.url.c_str());
    ::curl_easy_setopt(handle, CURLOPT_USERAGENT, kAgent);
    ::curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail.data());
    ::curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    ::curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
    ::curl_easy_setopt(handle, CURLOPT_WRITEDATA, &hearing);
    ::curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_head);
    ::curl_easy_setopt(handle, CURLOPT_HEADERDATA, &hearing);
    set_method(handle, call);
    set_limits(handle, call);
    if (::curl_multi_add_handle(multi.get(), handle) != CURLM_OK) {
      return fail(ErrorCode::Unavailable, "libcurl takes no call");
    }
    const auto end = transfer(multi.get(), listener);
    ::curl_multi_remove_handle(multi.get(), handle);
    if (end == CURLE_OK) return answer_of(handle, hearing);
    if (end) return fail(trouble_of(*end, detail.data(), call));
    return fail(ErrorCode::TimedOut,
                call.method + " " + call.url + ": given up, since the run was told to stop");
  }
};

}  // namespace

std::unique_ptr<HttpClient> make_http_client() { return std::make_unique<CurlClient>(); }

}  // namespace rota::worker::handlers
