#include "worker/handlers/http_handler.h"

#include <algorithm>
#include <strings.h>

namespace rota::worker::handlers {

namespace {

constexpr std::size_t kMostResultBytes = 64u << 10;

class CallLog final : public HttpListener {
 public:
  explicit CallLog(sdk::Context& context) : context_(context) {}
  bool is_cancelled() override { return context_.cancelled(); }
  void on_head(std::string_view line) override {
    if (line.starts_with("HTTP/")) body_.clear();  // the body of a redirect is not the result
    if (!line.empty()) context_.log_error(line);
  }
  void on_body(std::string_view bytes) override {
    context_.write(bytes);
    if (body_.size() <= kMostResultBytes) body_.append(bytes.substr(0, kMostResultBytes + 1));
  }
  /// Empty when it is too long to be one.
  std::string result() { return body_.size() <= kMostResultBytes ? std::move(body_) : std::string(); }

 private:
  sdk::Context& context_;
  std::string body_;
};

void add_unless_given(model::HttpCall& call, const char* name, std::string value) {
  const bool is_given = std::ranges::any_of(call.headers, [&](const auto& header) {
    return ::strcasecmp(header.first.c_str(), name) == 0;
  });
  if (!is_given) call.headers.emplace_back(name, std::move(value));
}

void add_facts(model::HttpCall& call, const sdk::RunFacts& facts) {
  add_unless_given(call, "Idempotency-Key", "rota-run-" + std::to_string(facts.run));
  add_unless_given(call, "Rota-Run", std::to_string(facts.run));
  add_unless_given(call, "Rota-Attempt", std::to_string(facts.attempt));
  add_unless_given(call, "Rota-Epoch", std::to_string(facts.epoch));
  if (facts.tick) add_unless_given(call, "Rota-Tick-Ms", std::to_string(to_ms(*facts.tick)));
}

class HttpHandler final : public sdk::Handler {
 public:
  explicit HttpHandler(std::unique_ptr<HttpClient> client) : client_(std::move(client)) {}

  Result<void> run(sdk::Context& context) override {
    auto call = model::http_call_of(context.facts().parameters);
    if (!call) return fail(call.error());
    add_facts(*call, context.facts());
    CallLog log(context);
    const auto answer = client_->call(*call, log);
    if (!answer) return fail(answer.error());
    context.progress(100, "status " + std::to_string(answer->status) + ", " +
                              std::to_string(answer->body_bytes) + " bytes in " +
                              std::to_string(answer->took.count()) + " ms");
    if (auto kept = context.output(log.result()); !kept) return kept;
    if (call->expects(answer->status)) return {};
    return fail(ErrorCode::Unavailable, call->method + " " + answer->url + " was answered with status " +
                                            std::to_string(answer->status) + ", expected " +
                                            model::text_of(call->expected));
  }

 private:
  const std::unique_ptr<HttpClient> client_;
};

}  // namespace

std::unique_ptr<sdk::Handler> make_http_handler(std::unique_ptr<HttpClient> client) {
  return std::make_unique<HttpHandler>(std::move(client));
}

}  // namespace rota::worker::handlers
