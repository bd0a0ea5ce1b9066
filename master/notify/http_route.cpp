// DeliveryRoute over libcurl. A handle for each call: notifications are rare.
#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "common/base/utf8.h"
#include "master/notify/delivery.h"

namespace rota::master::notify {
namespace {

constexpr std::size_t kShownAnswer = 200;
constexpr std::size_t kLongestAnswer = 64u << 10;

struct Answer {
  std::string shown;
  std::size_t bytes = 0;
  const std::stop_token* stop = nullptr;
};

std::size_t take_answer(char* bytes, std::size_t one, std::size_t count, void* to) {
  auto& answer = *static_cast<Answer*>(to);
  const std::size_t size = one * count;
  answer.bytes += size;
  if (answer.bytes > kLongestAnswer) return 0;  // ends the call
  answer.shown.append(bytes, std::min(size, kShownAnswer - std::min(kShownAnswer, answer.shown.size())));
  return size;
}

int look_at_stop(void* from, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Answer*>(from)->stop->stop_requested() ? 1 : 0;
}

struct EasyEnd {
  void operator()(CURL* handle) const { ::curl_easy_cleanup(handle); }
};
struct ListEnd {
  void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
};

class HttpRoute final : public DeliveryRoute {
 public:
  explicit HttpRoute(std::string url) : url_(std::move(url)) {}

  Result<std::string> deliver(const std::string& json, Millis timeout, std::stop_token stop) override {
    static std::once_flag once;
    std::call_once(once, [] { ::curl_global_init(CURL_GLOBAL_DEFAULT); });
    const std::unique_ptr<CURL, EasyEnd> easy(::curl_easy_init());
    std::unique_ptr<curl_slist, ListEnd> headers(
        ::curl_slist_append(nullptr, "Content-Type: application/json; charset=utf-8"));
    if (!easy || !headers) return fail(ErrorCode::Unavailable, "libcurl has no memory for a call");
    (void)::curl_slist_append(headers.get(), "Expect:");
    Answer answer{{}, 0, &stop};
    std::array<char, CURL_ERROR_SIZE> detail{};
    CURL* const curl = easy.get();
    ::curl_easy_setopt(curl, CURLOPT_URL, url_.c_str());
    ::curl_easy_setopt(curl, CURLOPT_USERAGENT, "rota");
    ::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    ::curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
    ::curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json.c_str());
    ::curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
    ::curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    ::curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_at_stop);
    ::curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &answer);
    ::curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    ::curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail.data());
    ::curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
    ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeout.count()));
    ::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    ::curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    ::curl_easy_setopt(curl, CURLOPT_PROXY, "");
    ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    ::curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    return told(curl, ::curl_easy_perform(curl), detail.data(), answer);
  }

 private:
  Result<std::string> told(CURL* curl, CURLcode code, const char* detail, const Answer& answer) const {
    if (code != CURLE_OK) {
      const char* const why = *detail != '\0' ? detail : ::curl_easy_strerror(code);
      const auto kind = code == CURLE_OPERATION_TIMEDOUT ? ErrorCode::TimedOut : ErrorCode::Unavailable;
      return fail(kind, fmt::format("POST {}: {}", url_, why));
    }
    long status = 0;
    ::curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    std::string words = fmt::format("status {}", status);
    if (!answer.shown.empty()) words += ": " + shown_text(answer.shown, kShownAnswer);
    if (status >= 200 && status < 300) return words;
    return fail(ErrorCode::Unavailable, fmt::format("POST {}: {}", url_, words));
  }

  const std::string url_;
};

}  // namespace

std::unique_ptr<DeliveryRoute> http_route(std::string url) {
  return std::make_unique<HttpRoute>(std::move(url));
}

}  // namespace rota::master::notify
