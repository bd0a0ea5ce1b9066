#include "common/zk/candidate_name.h"

#include <doctest/doctest.h>

using namespace rota::zk;

TEST_CASE("candidate name: the sequence is all that follows the fixed-length prefix") {
  CHECK(candidate_sequence("n_0123456789abcdef_0000000042") == 42);
  CHECK(candidate_sequence("n_0123456789abcdef_-2147483648") == -2147483648);
  CHECK(candidate_tag("n_0123456789abcdef_0000000042") == "0123456789abcdef");
}

TEST_CASE("candidate name: what is none of ours has no sequence") {
  for (const char* name : {"", "n_", "n_0123456789abcdef_", "n_0123456789abcdef-0000000001",
                           "n_0123456789ABCDEF_0000000001", "m_0123456789abcdef_0000000001",
                           "n_0123456789abcdef_00000000x1", "n_0123456789abcdef_99999999999"}) {
    CAPTURE(name);
    CHECK_FALSE(candidate_sequence(name).has_value());
  }
}

TEST_CASE("candidate name: sequences compare by their wrap-around difference") {
  CHECK(sequence_before(1, 2));
  CHECK_FALSE(sequence_before(2, 1));
  CHECK_FALSE(sequence_before(2, 2));
  CHECK(sequence_before(2147483647, -2147483647 - 1));
  CHECK_FALSE(sequence_before(-2147483647 - 1, 2147483647));
}
