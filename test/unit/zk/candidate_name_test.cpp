#include "common/zk/candidate_name.h"

#include <doctest/doctest.h>

using namespace rota::zk;

TEST_CASE("candidate name: the sequence is everything after the fixed-length prefix") {
  CHECK(candidate_sequence("n_0123456789abcdef_0000000042") == 42);
  CHECK(candidate_sequence("n_0123456789abcdef_-2147483648") == -2147483648);
  CHECK(candidate_tag("n_0123456789abcdef_0000000042") == "0123456789abcdef");
}

TEST_CASE("candidate name: a foreign name has no sequence") {
  for (const char* name : {"", "n_", "n_0123456789abcdef_", "n_0123456789abcdef-0000000001",
                           "n_0123456789ABCDEF_0000000001", "m_0123456789abcdef_0000000001",
                           "n_0123456789abcdef_00000000x1", "n_0123456789abcdef_99999999999"}) {
    CAPTURE(name);
    CHECK_FALSE(candidate_sequence(name).has_value());
  }
}

TEST_CASE("candidate names: the node that was created first comes first, whatever the counter says") {
  const Candidate first{"n_0123456789abcdef_2147483647", 1, 10};
  const Candidate second{"n_fedcba9876543210_2147483647", 2, 11};
  const Candidate wrapped{"n_00000000000000aa_-2147483648", 3, 12};
  CHECK(stands_before(first, second));
  CHECK(stands_before(second, wrapped));
  CHECK_FALSE(stands_before(wrapped, first));
  CHECK_FALSE(stands_before(first, first));
}

TEST_CASE("candidate names: a node without a session is not a candidate") {
  CHECK(is_candidate({"n_0123456789abcdef_0000000001", 5, 1}));
  CHECK_FALSE(is_candidate({"n_0123456789abcdef_0000000001", 0, 1}));
  CHECK_FALSE(is_candidate({"lock_0000000001", 5, 1}));
}
