#include "worker/handlers/http_handler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "test/integration/http/loopback_server.h"

namespace rota::worker::handlers {

namespace {

using rota::testing::http_answer;
using rota::testing::LoopbackServer;

/// A context that keeps the handler's output.
class KeepingContext final : public sdk::Context {
 public:
  explicit KeepingContext(std::map<std::string, std::string> parameters) {
    facts_.run = 77;
    facts_.attempt = 2;
    facts_.epoch = 5;
    facts_.tick = wall_from_ms(1234);
    facts_.parameters = std::move(parameters);
  }
  const sdk::RunFacts& facts() const override { return facts_; }
  void log(std::string_view line) override { write(std::string(line) + "\n"); }
  void write(std::string_view bytes) override { out += bytes; }
  void log_error(std::string_view line) override { err += std::string(line) + "\n"; }
  Result<void> output(std::string value) override {
    result = std::move(value);
    return {};
  }
  void progress(int, std::string_view text) override { said = text; }
  Result<void> save_checkpoint(std::string) override { return {}; }
  std::optional<std::string> checkpoint() const override { return std::nullopt; }
  Result<std::unique_ptr<sdk::HeldLock>> lock(const std::string&, Millis) override {
    return fail(ErrorCode::Unsupported, "no locks here");
  }
  bool cancelled() const override { return is_cancelled; }
  bool wait_cancelled(Millis) override { return is_cancelled; }

  std::string out, err, result, said;
  std::atomic<bool> is_cancelled = false;

 private:
  sdk::RunFacts facts_;
};

Result<void> run_http(KeepingContext& context) {
  return make_http_handler(make_http_client())->run(context);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("http: the answer's body is the output and the result; the head is separate") {
  LoopbackServer server([](const auto&) { return http_answer(200, "pong\n", "X-Of: server\r\n"); });
  KeepingContext context({{"url", server.url("/ping?x=1")}, {"header.X-Mine", "a b"}, {"header.X-Empty", ""}});
  REQUIRE(run_http(context));
  CHECK(context.out == "pong\n");
  CHECK(context.result == "pong\n");
  CHECK(has(context.err, "HTTP/1.1 200 Said\nX-Of: server\n"));
  CHECK(has(context.said, "status 200, 5 bytes in "));
  const auto asked = server.requests();
  REQUIRE(asked.size() == 1);
  CHECK(has(asked[0].head, "GET /ping?x=1 HTTP/1.1\r\n"));
  for (const char* line : {"X-Mine: a b\r\n", "X-Empty:\r\n", "Idempotency-Key: rota-run-77\r\n", "Rota-Attempt: 2\r\n",
                           "Rota-Epoch: 5\r\n", "Rota-Tick-Ms: 1234\r\n", "User-Agent: rota\r\n"}) {
    CHECK_MESSAGE(has(asked[0].head, line), line, asked[0].head);
  }
}

TEST_CASE("http: a body is sent byte for byte, with the job's own headers only") {
  LoopbackServer server([](const auto&) { return http_answer(201, ""); });
  const std::string body("{\"a\":\t\"\xc3\xa4\"}\n\0.", 14);
  KeepingContext context({{"url", server.url("/")}, {"body", body}, {"header.idempotency-key", "mine"}});
  REQUIRE(run_http(context));
  KeepingContext put({{"url", server.url("/")}, {"method", "PUT"}, {"body", std::string(300'000, 'x')},
                      {"header.Content-Type", "text/plain"}});
  REQUIRE(run_http(put));
  KeepingContext empty({{"url", server.url("/")}, {"method", "POST"}});
  REQUIRE(run_http(empty));
  KeepingContext remove({{"url", server.url("/x")}, {"method", "DELETE"}});
  REQUIRE(run_http(remove));
  const auto asked = server.requests();
  REQUIRE(asked.size() == 4);
  CHECK(asked[0].body == body);
  CHECK(has(asked[0].head, "POST / HTTP/1.1\r\n"));
  CHECK_FALSE(has(asked[0].head, "Content-Type"));
  CHECK(has(asked[0].head, "idempotency-key: mine\r\n"));
  CHECK_FALSE(has(asked[0].head, "Idempotency-Key"));
  CHECK(asked[1].body.size() == 300'000);
  CHECK(has(asked[1].head, "PUT / HTTP/1.1\r\n"));
  CHECK(has(asked[1].head, "Content-Type: text/plain\r\n"));
  CHECK_FALSE(has(asked[1].head, "Expect"));
  CHECK(has(asked[2].head, "POST / HTTP/1.1\r\n"));
  CHECK(has(asked[2].head, "Content-Length: 0\r\n"));
  CHECK(has(asked[3].head, "DELETE /x HTTP/1.1\r\n"));
}

TEST_CASE("http: an unexpected status fails and keeps the answer") {
  LoopbackServer server([](const auto&) { return http_answer(503, "full"); });
  KeepingContext context({{"url", server.url("/")}});
  const auto failed = run_http(context);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "GET " + server.url("/") + " was answered with status 503, expected 200-299");
  CHECK(context.out == "full");
  CHECK(context.result == "full");
  KeepingContext fine({{"url", server.url("/")}, {"expect", "404, 500-503"}});
  CHECK(run_http(fine));
}

TEST_CASE("http: redirects are followed only when asked, and no further than asked") {
  LoopbackServer server([](const LoopbackServer::Request& request) {
    if (request.path() == "/end") return http_answer(200, "here");
    if (request.path() == "/file") return http_answer(302, "", "Location: file:///etc/passwd\r\n");
    const std::string next = request.path() == "/1" ? "/2" : request.path() == "/2" ? "/end" : "/loop";
    return http_answer(302, "moved", "Location: " + next + "\r\n");
  });
  KeepingContext none({{"url", server.url("/1")}});
  const auto stayed = run_http(none);
  REQUIRE_FALSE(stayed);
  CHECK(has(stayed.error().message, "status 302"));
  CHECK(server.requests().size() == 1);
  KeepingContext two({{"url", server.url("/1")}, {"redirects", "2"}});
  REQUIRE(run_http(two));
  CHECK(two.result == "here");
  KeepingContext loop({{"url", server.url("/loop")}, {"redirects", "3"}});
  const auto endless = run_http(loop);
  REQUIRE_FALSE(endless);
  CHECK(has(endless.error().message, "redirects"));
  KeepingContext file({{"url", server.url("/file")}, {"redirects", "3"}});
  CHECK_FALSE(run_http(file));
  CHECK(file.out.empty());
}

TEST_CASE("http: a call to a silent server ends with the timeout, or at once when cancelled") {
  LoopbackServer server([](const auto&) { return std::string(); });
  KeepingContext slow({{"url", server.url("/")}, {"timeout", "150ms"}});
  const auto late = run_http(slow);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::TimedOut);
  CHECK(has(late.error().message, "timed out"));
  KeepingContext told({{"url", server.url("/told")}, {"timeout", "1h"}});
  const auto is_asked = [&] {  // the previous call may have timed out before it sent its request
    const auto all = server.requests();
    return std::ranges::any_of(all, [](const auto& request) { return request.path() == "/told"; });
  };
  std::jthread canceller([&] {
    while (!is_asked()) std::this_thread::yield();
    told.is_cancelled = true;
  });
  const auto cancelled = run_http(told);
  REQUIRE_FALSE(cancelled);
  CHECK(has(cancelled.error().message, "told to stop"));
}

TEST_CASE("http: no connection, a broken answer and a wrong certificate file are reported") {
  const std::string nobody = "http://127.0.0.1:1/";  // no port that another process is given meanwhile
  KeepingContext refused({{"url", nobody}});
  const auto gone = run_http(refused);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == ErrorCode::Unavailable);
  CHECK(has(gone.error().message, "GET " + nobody + ": "));
  LoopbackServer server([](const LoopbackServer::Request& request) {
    if (request.path() == "/cut") return std::string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    return std::string("this is no HTTP\r\n\r\n");
  });
  KeepingContext cut({{"url", server.url("/cut")}});
  CHECK_FALSE(run_http(cut));
  CHECK(cut.out == "half");
  CHECK(cut.result.empty());
  KeepingContext strange({{"url", server.url("/")}});
  CHECK_FALSE(run_http(strange));
}

TEST_CASE("http: a long body is output, but not a result") {
  LoopbackServer server([](const auto&) { return http_answer(200, std::string(3'000'000, 'x')); });
  KeepingContext context({{"url", server.url("/")}});
  REQUIRE(run_http(context));
  CHECK(context.out.size() == 3'000'000);
  CHECK(context.result.empty());
}

}  // namespace rota::worker::handlers
