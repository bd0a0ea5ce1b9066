#include "client/command/screen_text.h"

#include <doctest/doctest.h>

namespace rota::client {

TEST_CASE("screen text: lines and tabs stay, bytes that control a terminal are shown escaped") {
  ScreenText text;
  CHECK(text.show("a\tb\nc\r\nd") == "a\tb\nc\nd");
  CHECK(text.show("\x1b[31mred\x07\x08") == "\\x1b[31mred\\x07\\x08");
  CHECK(text.show("50%\r60%\n") == "50%\\x0d60%\n");
  CHECK(text.show("\x7f\xc2\x9b" "1m") == "\\x7f\\xc2\\x9b1m");
  CHECK(text.show(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(text.show("\xff\xfe.") == "\\xff\\xfe.");
  CHECK(text.rest().empty());
}

TEST_CASE("screen text: the result does not depend on where pieces cut a character or a line end") {
  const std::string all = "gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80 a\r\nb\xe2\x82z \x1b[0m\n";
  ScreenText whole;
  const std::string wanted = whole.show(all);
  CHECK(wanted == "gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80 a\nb\\xe2\\x82z \\x1b[0m\n");
  for (std::size_t first = 0; first <= all.size(); ++first) {
    for (std::size_t second = first; second <= all.size(); ++second) {
      ScreenText text;
      std::string shown = text.show(all.substr(0, first));
      shown += text.show(all.substr(first, second - first));
      shown += text.show(all.substr(second));
      CHECK(shown == wanted);
    }
  }
  ScreenText text;
  CHECK(text.show("end\xe2\x82").empty() == false);
  CHECK(text.rest() == "\\xe2\\x82");
}

}  // namespace rota::client
