#include "master/cluster/etcd_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <mutex>

namespace rota::master::cluster {

using nlohmann::json;

namespace {

constexpr std::size_t kLongestAnswer = 64 << 10;
// gRPC's codes, as the gateway tells them.
constexpr int kNotFound = 5, kDenied = 7, kFailedPrecondition = 9, kUnauthenticated = 16;

std::size_t take_body(char* bytes, std::size_t one, std::size_t count, void* to) {
  auto& body = *static_cast<std::string*>(to);
  if (body.size() + one * count > kLongestAnswer) return 0;  // ends the call
  body.append(bytes, one * count);
  return one * count;
}

/// What etcd itself says went wrong.
Error refusal(const std::string& where, long status, const std::string& text) {
  const json answer = json::parse(text, nullptr, false);
  const bool is_told = answer.is_object() && answer.contains("error") && answer["error"].is_string();
  const std::string why =
      is_told ? answer["error"].get<std::string>() : fmt::format("HTTP status {}", status);
  const int code = is_told && answer.contains("code") && answer["code"].is_number_integer()
                       ? answer["code"].get<int>() : 0;
  const std::string message = fmt::format("{}: {}", where, why);
  if (code == kNotFound) return {ErrorCode::NotFound, message};
  if (code == kFailedPrecondition) return {ErrorCode::AlreadyExists, message};
  if (code == kDenied || code == kUnauthenticated) return {ErrorCode::Denied, message};
  return {ErrorCode::UnknownOutcome, message};
}

/// Of an answer from one endpoint the others have nothing to add.
bool is_final(ErrorCode code) { return code != ErrorCode::UnknownOutcome; }

}  // namespace

struct EtcdClient::Handle {
  Handle() {
    static std::once_flag once;
    std::call_once(once, [] { ::curl_global_init(CURL_GLOBAL_DEFAULT); });
    curl = ::curl_easy_init();
    headers = ::curl_slist_append(headers, "Content-Type: application/json");
    headers = ::curl_slist_append(headers, "Expect:");
  }
  ~Handle() {
    ::curl_easy_cleanup(curl);
    ::curl_slist_free_all(headers);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  CURL* curl = nullptr;
  curl_slist* headers = nullptr;
};

EtcdClient::EtcdClient(EtcdServers servers)
    : servers_(std::move(servers)), handle_(std::make_unique<Handle>()) {}
EtcdClient::~EtcdClient() = default;

Result<json> EtcdClient::post(const std::string& path, const json& body) {
  const std::string text = body.dump(-1, ' ', false, json::error_handler_t::replace);
  Result<json> answer = fail(ErrorCode::Unavailable, "etcd.endpoints is empty");
  for (std::size_t i = 0; i < servers_.endpoints.size(); ++i) {
    answer = post_to(servers_.endpoints[at_ % servers_.endpoints.size()], path, text);
    if (answer || is_final(answer.error().code)) return answer;
    ++at_;
  }
  return answer;
}

Result<json> EtcdClient::post_to(const std::string& endpoint, const std::string& path,
                                 const std::string& body) {
  CURL* const curl = handle_->curl;
  if (curl == nullptr) return fail(ErrorCode::UnknownOutcome, "libcurl has no memory for a call");
  const std::string url = endpoint + path;
  const auto deadline = static_cast<long>(servers_.deadline.count());
  std::string text;
  std::array<char, CURL_ERROR_SIZE> detail{};
  ::curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  ::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, handle_->headers);
  ::curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  ::curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  ::curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  ::curl_easy_setopt(curl, CURLOPT_WRITEDATA, &text);
  ::curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail.data());
  ::curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, deadline);
  ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, deadline);
  ::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(curl, CURLOPT_PROXY, "");
  ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
  const CURLcode code = ::curl_easy_perform(curl);
  ::curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  const std::string where = "etcd at " + endpoint;
  if (code != CURLE_OK) {
    const char* const why = detail[0] != '\0' ? detail.data() : ::curl_easy_strerror(code);
    return fail(ErrorCode::UnknownOutcome, fmt::format("{}: {}", where, why));
  }
  long status = 0;
  ::curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) return fail(refusal(where, status, text));
  json answer = json::parse(text, nullptr, false);
  if (answer.is_object()) return answer;
  return fail(ErrorCode::UnknownOutcome, where + " answers with what is no JSON object");
}

}  // namespace rota::master::cluster
