#include "common/base/utf8.h"

#include <doctest/doctest.h>

namespace rota {

TEST_CASE("utf8: accepts exactly what RFC 3629 allows") {
  for (const char* good : {"", "abc", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF",
                           "eight bytes of ASCII, then \xC3\xA9"}) {
    CHECK(is_utf8(good));
  }
  for (const char* wrong : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80",
                            "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE4\xB8", "a\xFF"}) {
    CHECK_FALSE(is_utf8(wrong));
  }
}

TEST_CASE("utf8: finds the position of the first broken byte") {
  CHECK(broken_utf8_at("plain text that is long enough") == std::nullopt);
  CHECK(broken_utf8_at("\xC3\xA9\xC3") == 2);
  CHECK(broken_utf8_at("12345678\xFF") == 8);
  CHECK(broken_utf8_at("123456789012\x80 and on") == 12);
}

TEST_CASE("utf8: never cuts inside a character") {
  const std::string text = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80z";  // 1 + 2 + 3 + 4 + 1 bytes
  const std::size_t borders[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  for (std::size_t most = 0; most < std::size(borders); ++most) {
    CHECK(cut_text(text, most).size() == borders[most]);
    CHECK(is_utf8(cut_text(text, most)));
  }
  CHECK(cut_text("\x80\x80\x80\x80\x80\x80", 4).size() == 4);  // no text at all: cut all the same
}

TEST_CASE("utf8: repaired and shown texts are always valid") {
  CHECK(repaired_text("a\xC3") == "a\xEF\xBF\xBD");
  CHECK(repaired_text("\xE4\xB8 x") == "\xEF\xBF\xBD\xEF\xBF\xBD x");
  CHECK(repaired_text("gr\xC3\xBCn") == "gr\xC3\xBCn");
  CHECK(shown_text("a\nb\x1b[31m\xFF") == "a\\x0a" "b\\x1b[31m\\xff");
  CHECK(quoted_text("gr\xC3\xBCn") == "\"gr\xC3\xBCn\"");
  CHECK(quoted_text(std::string(1000, 'x'), 10) == "\"xxxxxxxxxx...\"");
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string two{static_cast<char>(first), static_cast<char>(second)};
      CHECK(is_utf8(repaired_text(two)));
      CHECK(is_utf8(shown_text(two)));
      CHECK((repaired_text(two) == two) == is_utf8(two));
    }
  }
}

}  // namespace rota
