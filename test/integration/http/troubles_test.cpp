// What a server may do to a call, and the message of the failure.
#include <doctest/doctest.h>

#include "test/integration/http/loopback_server.h"
#include "worker/handlers/call_trouble.h"
#include "worker/handlers/http_client.h"

namespace rota::worker::handlers {

namespace {

using rota::testing::http_answer;
using rota::testing::LoopbackServer;

class Silent final : public HttpListener {
 public:
  bool is_cancelled() override { return false; }
  void on_head(std::string_view) override {}
  void on_body(std::string_view) override {}
};

Result<HttpAnswer> call_with(model::Parameters parameters) {
  Silent nobody;
  return make_http_client()->call(model::http_call_of(parameters).value(), nobody);
}

/// The message of the failure, without the method and address that it begins with.
std::string failure_at(const std::string& url, model::Parameters parameters = {}) {
  parameters["url"] = url;
  const auto answer = call_with(parameters);
  if (answer) return "no failure, but status " + std::to_string(answer->status);
  const std::string start = "GET " + url + ": ";
  CHECK_MESSAGE(answer.error().message.starts_with(start), answer.error().message);
  return answer.error().message.substr(start.size());
}

/// The failure with a server that answers with these bytes and closes the connection.
std::string failure_after(const std::string& answer, const model::Parameters& parameters = {}) {
  const LoopbackServer server([&](const auto&) { return answer; });
  return failure_at(server.url("/"), parameters);
}

bool is_within(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kStart = "HTTP/1.1 200 OK\r\n";
const std::string kTooLong = std::string(110'000, 'x') + "\r\n\r\n";

}  // namespace

TEST_CASE("http: a head that is too long is reported with the limit, not as out of memory") {
  const std::string line = "a line of the answer's head is longer than 100KiB, the most that is read; "
                           "the server must send less there";
  CHECK(failure_after(kStart + "X: " + kTooLong) == line);
  CHECK(failure_after("HTTP/1.1 200 " + kTooLong) == line);
  std::string head = kStart;
  for (int i = 0; i < 350; ++i) head += "X: " + std::string(1000, 'x') + "\r\n";
  CHECK(is_within(failure_after(head + "\r\n"), "the answer's head is longer than 300KiB, the most that is read"));
  CHECK(is_within(failure_after(kStart + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: " + kTooLong),
                  "the answer's trailer is longer than 64KiB, the most that is read"));
}

TEST_CASE("http: an answer that breaks off anywhere is not a success") {
  const std::string early = "the answer ended too early (";
  CHECK(failure_after(kStart + "Content-Le") ==
        early + "within its head); look at the server's own log");
  const std::string half = failure_after(kStart + "Content-Length: 10\r\n\r\nhalf");
  CHECK_MESSAGE((half.starts_with(early) && is_within(half, "6 bytes")), half);
  CHECK(failure_after(kStart + "Transfer-Encoding: chunked\r\n\r\n30\r\nabc").starts_with(early));
  CHECK(failure_after("HTTP/1.1 100 Continue\r\n\r\n")
            .starts_with("the connection was closed without an answer ("));
}

TEST_CASE("http: an answer that is not HTTP, or bad HTTP, is reported as such") {
  for (const char* answer : {"220 mail.example ESMTP\r\n\r\n", "HTTP/1.7 200 OK\r\n\r\n"}) {
    const std::string failure = failure_after(answer);
    CAPTURE(failure);
    CHECK(failure.starts_with("what came back is no HTTP/1 or 2 ("));
    CHECK(failure.ends_with("; does another service listen at this port?"));
  }
  const std::string broken = "the answer breaks the rules of HTTP (";
  CHECK(failure_after(kStart + "Content-Length: -3\r\n\r\n").starts_with(broken));
  CHECK(failure_after(kStart + "no colon\r\n\r\n").starts_with(broken));
  CHECK(failure_after(kStart + "Transfer-Encoding: chunked\r\n\r\nzz\r\n").starts_with(broken));
}

TEST_CASE("http: a redirect that leads nowhere names its target") {
  const auto to = [](const std::string& place) {
    return http_answer(302, "", "Location: " + place + "\r\n");
  };
  CHECK(is_within(failure_after(to("file:///etc/passwd"), {{"redirects", "3"}}),
                  "redirected to file:///etc/passwd: was redirected to where no call can go ("));
  CHECK(is_within(failure_after(to("http://a:port/"), {{"redirects", "3"}}),
                  "was redirected to where no call can go ("));
  const std::string loop = failure_after(to("/again"), {{"redirects", "3"}});
  CHECK_MESSAGE(is_within(loop, "/again: was redirected more than 3 times; parameters.redirects allows up to 20"),
                loop);
}

TEST_CASE("http: without a connection the message says why, and which limit it was") {
  const std::string refused = failure_at("http://127.0.0.1:1/");
  CAPTURE(refused);
  CHECK(refused.starts_with("no connection (Failed to connect to 127.0.0.1 port 1 "));
  CHECK(refused.ends_with(": Connection refused); does it listen there, and may this worker reach it?"));
  const LoopbackServer mute([](const auto&) { return std::string(); });
  const std::string late = failure_at(mute.url("/"), {{"timeout", "1s"}});
  CAPTURE(late);
  CHECK(late.starts_with("no whole answer within timeout, 1s ("));
  CHECK(late.ends_with("; parameters.timeout allows more"));
  // It accepts the connection and never answers the TLS handshake.
  const std::string address = mute.url("/").substr(std::string("http").size());
  const std::string unmade = failure_at("https" + address, {{"connect_timeout", "150ms"}, {"timeout", "1h"}});
  CAPTURE(unmade);
  CHECK(unmade.starts_with("no connection within connect_timeout, 150ms ("));
  CHECK(unmade.ends_with("; parameters.connect_timeout allows more"));
}

TEST_CASE("http: problems with names, certificates and files say where to look") {
  const auto words = [](CallTrouble::What what, const std::string& detail) {
    const model::Parameters given{{"url", "https://a.example/"}, {"ca_file", "/etc/ours.pem"}};
    return error_of({what, detail, "https://a.example/", 0, Millis{3}}, model::http_call_of(given).value());
  };
  using What = CallTrouble::What;
  CHECK(words(What::NotTrusted, "SSL certificate problem: self-signed certificate").message ==
        "GET https://a.example/: the server's certificate is not accepted (SSL certificate problem: self-signed "
        "certificate); it must name the host, and come from an authority of this worker's or of "
        "parameters.ca_file");
  CHECK(is_within(words(What::NoAddress, "").message, "worker's DNS"));
  CHECK(is_within(words(What::NoTls, "wrong version number").message, "does it speak TLS at this port?"));
  CHECK(words(What::NotTrusted, "").code == ErrorCode::Unavailable);
  CHECK(words(What::BadCaFile, "").code == ErrorCode::InvalidArgument);
  CHECK(is_within(words(What::BadCaFile, "").message, "ca_file /etc/ours.pem cannot be used; it must be"));
  CHECK(words(What::TimedOut, "").code == ErrorCode::TimedOut);
  const LoopbackServer mute([](const auto&) { return std::string(); });
  const std::string address = mute.url("/").substr(std::string("http").size());
  CHECK(failure_at("https" + address, {{"ca_file", "/nowhere/ca.pem"}})
            .starts_with("ca_file /nowhere/ca.pem cannot be used ("));
}

}  // namespace rota::worker::handlers
