#include "master/cluster/election_rules.h"

#include <doctest/doctest.h>

#include "common/zk/candidate_name.h"

using namespace rota::master::cluster;

namespace {

std::string candidate(int tag, std::string sequence) {
  std::string hex = std::to_string(tag);
  hex.insert(0, 16 - hex.size(), '0');
  return "n_" + hex + "_" + sequence;
}

const std::string a = candidate(9, "0000000003");
const std::string b = candidate(5, "0000000007");
const std::string c = candidate(1, "0000000012");

}  // namespace

TEST_CASE("election rules: the lowest sequence leads, whatever the tags say") {
  CHECK(decide_election({c, a, b}, a) == ElectionDecision{ElectionStep::Lead, ""});
}

TEST_CASE("election rules: each candidate watches only its nearest predecessor") {
  CHECK(decide_election({a, b, c}, c) == ElectionDecision{ElectionStep::Watch, b});
  CHECK(decide_election({c, b, a}, b) == ElectionDecision{ElectionStep::Watch, a});
  CHECK(decide_election({c, a}, c) == ElectionDecision{ElectionStep::Watch, a});
}

TEST_CASE("election rules: without a node of its own a candidate joins again") {
  CHECK(decide_election({a, b}, c).step == ElectionStep::Rejoin);
  CHECK(decide_election({a, b}, "").step == ElectionStep::Rejoin);
  CHECK(decide_election({}, a).step == ElectionStep::Rejoin);
}

TEST_CASE("election rules: foreign names are no candidates") {
  const std::vector<std::string> listing{"0000000000", "n_short_0000000000", "lock-0000000001",
                                         candidate(1, "x"), candidate(1, ""), a};
  CHECK(decide_election(listing, a) == ElectionDecision{ElectionStep::Lead, ""});
}

TEST_CASE("election rules: a wrapped counter still orders the candidates") {
  const std::string last = candidate(1, "2147483647");
  const std::string first_wrapped = candidate(2, "-2147483648");
  const std::string second_wrapped = candidate(3, "-2147483647");
  CHECK(decide_election({first_wrapped, second_wrapped, last}, last).step == ElectionStep::Lead);
  CHECK(decide_election({last, second_wrapped, first_wrapped}, first_wrapped) ==
        ElectionDecision{ElectionStep::Watch, last});
  CHECK(decide_election({last, second_wrapped, first_wrapped}, second_wrapped) ==
        ElectionDecision{ElectionStep::Watch, first_wrapped});
}

TEST_CASE("election rules: in any listing exactly one candidate leads, and chains end there") {
  std::vector<std::string> listing;
  for (int i = 0; i < 20; ++i) {
    listing.push_back(candidate(100 - i, std::to_string(1000000000 + (i * 7) % 20)));
  }
  int leaders = 0;
  for (const auto& own : listing) {
    std::string at = own;
    int hops = 0;
    for (auto step = decide_election(listing, at); step.step == ElectionStep::Watch && hops < 50;
         step = decide_election(listing, at)) {
      at = step.predecessor;
      ++hops;
    }
    CHECK(at == candidate(100, "1000000000"));
    if (hops == 0) ++leaders;
  }
  CHECK(leaders == 1);
}
