#include "master/cluster/election_rules.h"

#include <doctest/doctest.h>

using namespace rota::master::cluster;
using rota::zk::Candidate;

namespace {

std::string name(int tag, const std::string& sequence) {
  std::string hex = std::to_string(tag);
  hex.insert(0, 16 - hex.size(), '0');
  return "n_" + hex + "_" + sequence;
}

/// Each of a session of its own.
Candidate candidate(int tag, const std::string& sequence, std::int64_t created) {
  return {name(tag, sequence), 1000 + tag, created};
}

ElectionDecision watch(const Candidate& predecessor) { return {ElectionStep::Watch, predecessor.name}; }
const ElectionDecision kLead{ElectionStep::Lead};

const Candidate a = candidate(9, "0000000003", 30);
const Candidate b = candidate(5, "0000000007", 70);
const Candidate c = candidate(1, "0000000012", 120);

}  // namespace

TEST_CASE("election rules: the candidate that was created first leads, whatever the tags say") {
  CHECK(decide_election({c, a, b}, a.name) == kLead);
}

TEST_CASE("election rules: each candidate watches only its nearest predecessor") {
  CHECK(decide_election({a, b, c}, c.name) == watch(b));
  CHECK(decide_election({c, b, a}, b.name) == watch(a));
  CHECK(decide_election({c, a}, c.name) == watch(a));
}

TEST_CASE("election rules: without a node of its own a candidate joins again") {
  CHECK(decide_election({a, b}, c.name).step == ElectionStep::Rejoin);
  CHECK(decide_election({a, b}, "").step == ElectionStep::Rejoin);
  CHECK(decide_election({}, a.name).step == ElectionStep::Rejoin);
}

TEST_CASE("election rules: foreign names are no candidates") {
  const std::vector<Candidate> nodes{{"0000000000", 7, 1}, {"n_short_0000000000", 7, 2}, {"lock-0000000001", 7, 3},
                                     candidate(1, "x", 4), candidate(1, "", 5), a};
  CHECK(decide_election(nodes, a.name) == kLead);
}

TEST_CASE("election rules: a node that no session owns blocks no candidate, and is named") {
  const Candidate copied{name(2, "0000000001"), 0, 10};
  const Candidate also{name(3, "0000000009"), 0, 90};
  const auto first = decide_election({copied, a, b, also}, a.name);
  CHECK(first.step == ElectionStep::Lead);
  CHECK(first.ownerless == std::vector<std::string>{copied.name, also.name});
  CHECK(decide_election({copied, a, b, also}, b.name).predecessor == a.name);
  CHECK(decide_election({copied}, copied.name).step == ElectionStep::Rejoin);
}

TEST_CASE("election rules: other nodes of the own session are ghosts, and block no candidate") {
  Candidate ghost = candidate(4, "0000000001", 10);
  ghost.owner = b.owner;
  const auto decision = decide_election({ghost, b}, b.name);
  CHECK(decision.step == ElectionStep::Lead);
  CHECK(decision.ghosts == std::vector<std::string>{ghost.name});
  CHECK(decide_election({ghost, b, c}, c.name) == watch(b));
}

TEST_CASE("election rules: where the counter is at its end and repeats, one leads all the same") {
  const Candidate one = candidate(7, "2147483647", 500);
  const Candidate two = candidate(2, "2147483647", 600);
  const Candidate three = candidate(5, "2147483647", 700);
  CHECK(decide_election({one, two, three}, one.name) == kLead);
  CHECK(decide_election({one, two, three}, two.name) == watch(one));
  CHECK(decide_election({three, two, one}, three.name) == watch(two));
}

TEST_CASE("election rules: a wrapped counter still orders the candidates") {
  const Candidate last = candidate(1, "2147483647", 10);
  const Candidate first_wrapped = candidate(2, "-2147483648", 11);
  const Candidate second_wrapped = candidate(3, "-2147483647", 12);
  CHECK(decide_election({first_wrapped, second_wrapped, last}, last.name) == kLead);
  CHECK(decide_election({last, second_wrapped, first_wrapped}, first_wrapped.name) == watch(last));
  CHECK(decide_election({last, second_wrapped, first_wrapped}, second_wrapped.name) == watch(first_wrapped));
}

TEST_CASE("election rules: in any listing exactly one candidate leads, and chains end there") {
  std::vector<Candidate> nodes;
  for (int i = 0; i < 20; ++i) {
    const int order = (i * 7) % 20;
    nodes.push_back(candidate(100 - i, std::to_string(2'147'483'640 + std::min(order, 7)), 1000 + order));
  }
  int leaders = 0;
  for (const Candidate& own : nodes) {
    std::string at = own.name;
    int hops = 0;
    for (auto step = decide_election(nodes, at); step.step == ElectionStep::Watch && hops < 50;
         step = decide_election(nodes, at)) {
      at = step.predecessor;
      ++hops;
    }
    CHECK(at == name(100, "2147483640"));
    if (hops == 0) ++leaders;
  }
  CHECK(leaders == 1);
}
