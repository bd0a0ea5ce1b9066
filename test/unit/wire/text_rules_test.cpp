#include <doctest/doctest.h>

#include "common/wire/text_rules.h"

namespace rota::wire {


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
