// In which order jobs that name each other as children are applied.
#include "client/child_order.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::client;

namespace {

thrift::JobDefinition a_job(const std::string& name, std::vector<std::string> success = {},
                            std::vector<std::string> failure = {}, std::vector<std::string> end = {}) {
  thrift::JobDefinition job;
  job.space = "default";
  job.name = name;
  job.rules.on_success = std::move(success);
  job.rules.on_failure = std::move(failure);
  job.rules.on_end = std::move(end);
  return job;
}

std::string order_of(const std::vector<thrift::JobDefinition>& jobs) {
  std::string out;
  for (const std::size_t place : child_order(jobs).order) out += jobs[place].name;
  return out;
}

}  // namespace

TEST_CASE("child order: jobs that name none stay as they came") {
  CHECK(order_of({a_job("c"), a_job("a"), a_job("b")}) == "cab");
  CHECK(order_of({}).empty());
}

TEST_CASE("child order: children come before those that name them, by any key") {
  CHECK(order_of({a_job("a", {"b"}), a_job("b", {}, {"c"}), a_job("c", {}, {}, {"d"}), a_job("d")}) == "dcba");
  CHECK(order_of({a_job("a", {"c", "elsewhere"}), a_job("b", {}, {"c"}), a_job("c")}) == "cab");
}

TEST_CASE("child order: a circle is told with its way, a job of the same name elsewhere makes none") {
  CHECK(child_order({a_job("a", {"b"}), a_job("b", {}, {"c"}), a_job("c", {}, {}, {"b"})}).circle == "b -> c -> b");
  CHECK(child_order({a_job("a", {"a"})}).circle == "a -> a");
  auto other = a_job("b", {"a"});
  other.space = "shop";
  CHECK(child_order({a_job("a", {"b"}), other}).circle.empty());
}

TEST_CASE("child order: for a deletion a job comes before those that it names, others stay as they came") {
  const auto order_in = [](const std::vector<thrift::JobDefinition>& jobs) {
    std::string out;
    for (const std::size_t place : parents_first(jobs)) out += jobs[place].name;
    return out;
  };
  CHECK(order_in({}).empty());
  CHECK(order_in({a_job("c"), a_job("a"), a_job("b")}) == "cab");
  CHECK(order_in({a_job("a"), a_job("b", {"a"}), a_job("c")}) == "bac");
  CHECK(order_in({a_job("a"), a_job("b", {}, {"a"}), a_job("c", {}, {}, {"b", "elsewhere"})}) == "cba");
  CHECK(order_in({a_job("a", {"b"}), a_job("b", {"a"}), a_job("c")}) == "abc");  // a circle: none is lost
}
