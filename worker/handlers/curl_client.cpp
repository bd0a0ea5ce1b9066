// HttpClient over libcurl. One handle for each call: calls are too rare for a pool of connections, which
// the server would have closed meanwhile.
#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>

#include "worker/handlers/call_trouble.h"
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
  bool is_in_head = false;             ///< of HTTP/1, whose empty line has not come
};

std::size_t receive_body(char* bytes, std::size_t one, std::size_t count, void* to) {
  auto& hearing = *static_cast<Hearing*>(to);
  hearing.body_bytes += static_cast<std::int64_t>(one * count);
  hearing.listener->on_body({bytes, one * count});
  return one * count;
}

std::size_t receive_head(char* bytes, std::size_t one, std::size_t count, void* to) {
  std::string_view line(bytes, one * count);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  auto& hearing = *static_cast<Hearing*>(to);
  if (line.starts_with("HTTP/1")) hearing.is_in_head = true;
  if (line.empty()) hearing.is_in_head = false;
  hearing.listener->on_head(line);
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
  add_header(list, "Expect:");  // no wait of a second before a body, and no answer 100
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

constexpr int kTooLarge = 100;         // newer libraries' CURLE_TOO_LARGE; older ones are out of memory
using What = CallTrouble::What;

/// `has_answered`: bytes of an answer have come.
What what_of(int code, std::string_view detail, bool has_answered, bool was_redirected) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST: return What::NoAddress;
    case CURLE_COULDNT_CONNECT: return What::NoConnection;
    case CURLE_OPERATION_TIMEDOUT: return What::TimedOut;
    case CURLE_SSL_CONNECT_ERROR: return What::NoTls;
    case CURLE_PEER_FAILED_VERIFICATION: return What::NotTrusted;
    case CURLE_SSL_CACERT_BADFILE: return What::BadCaFile;
    case CURLE_URL_MALFORMAT: return was_redirected ? What::BadRedirect : What::BadUrl;
    case CURLE_UNSUPPORTED_PROTOCOL:
      // Not so rare: it stands for the scheme of a redirect, and for an answer that is no HTTP.
      if (detail.starts_with("Protocol ")) return was_redirected ? What::BadRedirect : What::BadUrl;
      return What::NoHttp;
    case CURLE_TOO_MANY_REDIRECTS: return What::TooManyRedirects;
    case CURLE_GOT_NOTHING: return What::NoAnswer;
    case CURLE_PARTIAL_FILE: return What::CutShort;
    case CURLE_SEND_ERROR: return What::NotSent;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return What::BrokenRules;
    case CURLE_RECV_ERROR:
      if (detail.starts_with("Too large response headers")) return What::HeadTooLong;
      if (detail.starts_with("Out of memory in chunked")) return What::TrailerTooLong;
      if (detail.ends_with("chunked-encoding")) return What::BrokenRules;
      return has_answered ? What::CutShort : What::NoAnswer;
    case CURLE_OUT_OF_MEMORY:
    case kTooLarge: return has_answered ? What::HeadLineTooLong : What::Other;
    default: return What::Other;
  }
}

/// The library's words, where they add to ours.
std::string detail_of(CURL* handle, CURLcode code, What what, const char* told) {
  // An earlier hop's words stand there; of a size they tell less than we do, or something wrong.
  if (what == What::TooManyRedirects || what == What::HeadLineTooLong || what == What::TrailerTooLong) {
    return {};
  }
  std::string detail = *told != '\0' ? told : ::curl_easy_strerror(code);
  long error = 0;
  ::curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &error);
  if (what == What::NoConnection && error != 0) {
    detail += std::string(": ") + std::strerror(static_cast<int>(error));
  }
  return detail;
}

Error trouble_of(CURL* handle, CURLcode code, const char* told, Millis took, const model::HttpCall& call) {
  const HttpAnswer so_far = answer_of(handle, {});
  curl_off_t first_byte_us = 0;
  ::curl_easy_getinfo(handle, CURLINFO_STARTTRANSFER_TIME_T, &first_byte_us);
  CallTrouble trouble;
  trouble.what = what_of(code, told, first_byte_us > 0, so_far.redirects > 0);
  trouble.detail = detail_of(handle, code, trouble.what, told);
  trouble.last_url = so_far.url;
  trouble.redirects = so_far.redirects;
  trouble.took = took;
  return error_of(trouble, call);
}

Error cut_head_of(CURL* handle, const model::HttpCall& call) {
  const HttpAnswer so_far = answer_of(handle, {});
  return error_of({What::CutShort, "within its head", so_far.url, so_far.redirects, so_far.took}, call);
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
    // With the first call: a worker that makes none does not need the libraries' memory.
    static std::once_flag once;
    std::call_once(once, [] { ::curl_global_init(CURL_GLOBAL_DEFAULT); });
    const HeaderList headers = headers_of(call);
    const Easy easy(::curl_easy_init());
    const Multi multi(::curl_multi_init());
    if (!easy || !multi) return fail(ErrorCode::Unavailable, "libcurl has no memory for a call");
    std::array<char, CURL_ERROR_SIZE> detail{};
    Hearing hearing{&listener};
    CURL* const handle = easy.get();
    ::curl_easy_setopt(handle, CURLOPT_URL, call.url.c_str());
    ::curl_easy_setopt(handle, CURLOPT_USERAGENT, kAgent);
    ::curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail.data());
    ::curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    ::curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive_body);
    ::curl_easy_setopt(handle, CURLOPT_WRITEDATA, &hearing);
    ::curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, receive_head);
    ::curl_easy_setopt(handle, CURLOPT_HEADERDATA, &hearing);
    set_method(handle, call);
    set_limits(handle, call);
    if (::curl_multi_add_handle(multi.get(), handle) != CURLM_OK) {
      return fail(ErrorCode::Unavailable, "libcurl accepts no call");
    }
    const auto begun = std::chrono::steady_clock::now();
    const auto end = transfer(multi.get(), listener);
    const auto took = std::chrono::ceil<Millis>(std::chrono::steady_clock::now() - begun);
    ::curl_multi_remove_handle(multi.get(), handle);
    // To libcurl a head that breaks off is one that has ended.
    if (end == CURLE_OK && hearing.is_in_head) return fail(cut_head_of(handle, call));
    if (end == CURLE_OK) return answer_of(handle, hearing);
    if (end) return fail(trouble_of(handle, *end, detail.data(), took, call));
    return fail(ErrorCode::TimedOut,
                call.method + " " + call.url + ": given up, since the run was told to stop");
  }
};

}  // namespace

std::unique_ptr<HttpClient> make_http_client() { return std::make_unique<CurlClient>(); }

}  // namespace rota::worker::handlers
