#include "common/host/elsewhere.h"

#include <doctest/doctest.h>

using rota::host::is_elsewhere;

TEST_CASE("elsewhere: this host's addresses are not elsewhere, and neither is an unknown name") {
  CHECK_FALSE(is_elsewhere("127.0.0.1"));
  CHECK_FALSE(is_elsewhere("127.3.2.1"));
  CHECK_FALSE(is_elsewhere("::1"));
  CHECK_FALSE(is_elsewhere("localhost"));
  CHECK_FALSE(is_elsewhere(""));
  CHECK_FALSE(is_elsewhere("no.such.host.invalid"));
  CHECK(is_elsewhere("192.0.2.7"));  // of a network for documentation
}
