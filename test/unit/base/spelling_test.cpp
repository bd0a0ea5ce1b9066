#include "common/base/spelling.h"

#include <doctest/doctest.h>

using namespace rota;

TEST_CASE("spelling: counts edits, a swap of neighbours as one") {
  CHECK(edits_between("", "abc") == 3);
  CHECK(edits_between("abc", "abc") == 0);
  CHECK(edits_between("kitten", "sitting") == 3);
  CHECK(edits_between("nmae", "name") == 1);
}

TEST_CASE("spelling: finds the intended name, or none") {
  const std::vector<std::string> known{"connect", "session_timeout_ms", "server_tick_ms"};
  CHECK(nearest_name("conect", known) == "connect");
  CHECK(nearest_name("Session-Timeout-ms", known) == "session_timeout_ms");
  CHECK(nearest_name("session", known) == "session_timeout_ms");
  CHECK(nearest_name("pool", known).empty());
  CHECK(nearest_name("s", known).empty());
  CHECK(did_you_mean("conect", known) == " (did you mean connect?)");
  CHECK(did_you_mean("zzz", known).empty());
}
