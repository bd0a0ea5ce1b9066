#include <doctest/doctest.h>

#include "common/wire/text_rules.h"

namespace rota::wire {

TEST_CASE("utf8: takes what RFC 3629 allows and nothing else") {
  for (const char* good : {"", "abc", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80",
                           "\xF4\x8F\xBF\xBF"}) {
    CHECK(is_utf8(good));
  }
  for (const char* wrong : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80",
                            "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE4\xB8", "a\xFF"}) {
    CHECK_FALSE(is_utf8(wrong));
  }
}

TEST_CASE("printable: no control characters of either set") {
  CHECK(is_printable("nightly dump'; DROP TABLE run; --"));
  CHECK_FALSE(is_printable("a\nb"));
  CHECK_FALSE(is_printable(std::string_view("a\0b", 3)));
  CHECK_FALSE(is_printable("\x7F"));
  CHECK_FALSE(is_printable("\xC2\x85"));
}

TEST_CASE("quoted: shows what cannot be shown, and not too much of it") {
  CHECK(quoted("a\nb") == "\"a\\x0ab\"");
  CHECK(quoted("\xFF") == "\"\\xff\"");
  CHECK(quoted(std::string(1000, 'x')).size() < 80);
}

}  // namespace rota::wire
