#include "common/model/http_call.h"

#include <doctest/doctest.h>

namespace rota::model {

namespace {

std::string trouble(const Parameters& parameters) {
  const auto call = http_call_of(parameters);
  return call ? "none" : call.error().message;
}

}  // namespace

TEST_CASE("http_call: an address is enough, and the defaults are safe") {
  const auto call = http_call_of({{"url", "http://h"}});
  REQUIRE(call);
  HttpCall plain;
  plain.url = "http://h";
  CHECK(*call == plain);
  CHECK(call->redirects == 0);
  CHECK(call->expects(204));
  CHECK_FALSE(call->expects(302));
}

TEST_CASE("http_call: every parameter is read") {
  const auto call = http_call_of({{"url", "https://h:8443/p?q=1"}, {"method", "PATCH"}, {"body", ""},
                                  {"header.X-A", "1"}, {"header.b", "x: y"}, {"expect", "200, 301-303,404"},
                                  {"timeout", "1m30s"}, {"connect_timeout", "250ms"}, {"redirects", "20"},
                                  {"ca_file", "/etc/ca.pem"}});
  REQUIRE(call);
  HttpCall all;
  all.method = "PATCH";
  all.url = "https://h:8443/p?q=1";
  all.headers = {{"X-A", "1"}, {"b", "x: y"}};
  all.has_body = true;
  all.expected = {{200, 200}, {301, 303}, {404, 404}};
  all.timeout = Millis{90'000};
  all.connect_timeout = Millis{250};
  all.redirects = 20;
  all.ca_file = "/etc/ca.pem";
  CHECK(*call == all);
  CHECK(text_of(call->expected) == "200, 301-303, 404");
  CHECK(http_call_of({{"url", "http://h"}, {"body", "x"}})->method == "POST");
  CHECK(http_call_of({{"url", "http://h"}, {"body", "x"}, {"method", "GET"}})->method == "GET");
}

TEST_CASE("http_call: all problems are reported at once, with what is allowed") {
  CHECK(trouble({}) == "parameters.url is missing: give the address to call");
  CHECK(trouble({{"method", "G T"}, {"redirects", "21"}}) ==
        "parameters.method \"G T\" is none: GET, HEAD, POST, PUT, PATCH, DELETE ...; "
        "parameters.redirects \"21\" must be 0 (follow none) to 20");
  for (const char* url : {"", "h", "file:///etc/passwd", "http://", "http:///p", "ftp://h", "HTTP//h"}) {
    CHECK_MESSAGE(trouble({{"url", url}}).find("must be http://HOST") != std::string::npos, url);
  }
  for (const char* url : {"http://h/a b", "http://h/\n", "http://h\r\nX: y"}) {
    CHECK_MESSAGE(trouble({{"url", url}}).find("control character") != std::string::npos, url);
  }
  for (const char* text : {"", "2xx", "99", "600", "300-200", "200-", "-200", "200,", "200 404"}) {
    CHECK_MESSAGE(trouble({{"url", "http://h"}, {"expect", text}}).find("must be like 200") != std::string::npos, text);
  }
  for (const char* text : {"", "0s", "-1s", "30", "25h"}) {
    CHECK_MESSAGE(trouble({{"url", "http://h"}, {"timeout", text}}).find("1ms to 1d") != std::string::npos, text);
  }
  CHECK(trouble({{"url", "http://h"}, {"header.a b", "x"}}).find("is no name of a header") != std::string::npos);
  CHECK(trouble({{"url", "http://h"}, {"header.A", "x\r\nB: y"}}).find("line break") != std::string::npos);
  CHECK(trouble({{"url", "http://h"}, {"ca_file", "ca.pem"}}).find("absolute path") != std::string::npos);
  CHECK(trouble({{"url", "http://h"}, {"timeot", "1s"}}) ==
        "parameters.timeot is no parameter of the handler http (did you mean timeout?)");
}

}  // namespace rota::model
