#include "master/store/prose.h"

#include <doctest/doctest.h>

using namespace rota::master::store;

TEST_CASE("prose: valid UTF-8 that fits stays as it is") {
  for (const std::string text : {"", "plain", "\xC3\xA4\xE4\xB8\xAD\xF0\x9F\xA6\x84", "\xED\x9F\xBF"}) {
    CHECK(is_clean_prose(text, 100));
    CHECK(clean_prose(text, 100) == text);
  }
}

TEST_CASE("prose: bytes that are no UTF-8 are replaced one by one") {
  const std::string mark = "\xEF\xBF\xBD";
  CHECK(clean_prose("a\xFF" "b", 100) == "a" + mark + "b");
  for (const std::string bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                                "\xF4\x90\x80\x80", "\x80", "\xC3", "\xE4\xB8", "\xF5"}) {
    CAPTURE(bad.size());
    CHECK_FALSE(is_clean_prose(bad, 100));
    CHECK(is_clean_prose(clean_prose(bad, 100), 100));
  }
}

TEST_CASE("prose: is cut at a character's border") {
  CHECK(clean_prose("abcdef", 3) == "abc");
  CHECK(clean_prose("a\xE4\xB8\xAD", 3) == "a");
  CHECK_FALSE(is_clean_prose("abcd", 3));
}
