#include <doctest/doctest.h>

#include "common/wire/content_hash.h"

namespace rota::wire {
namespace {

model::JobDefinition a_command(std::vector<std::string> argv) {
  model::JobDefinition out;
  out.name = "x";
  out.work.argv = std::move(argv);
  return out;
}

}  // namespace

TEST_CASE("one_off_id: the same definition has the same id, another has another") {
  const JobId id = one_off_id(a_command({"echo", "a"}));
  CHECK(id == one_off_id(a_command({"echo", "a"})));
  CHECK((id.value & kOneOffBit) != 0);
  CHECK(id.value > 0);
  CHECK(id != one_off_id(a_command({"echo", "b"})));
  CHECK(id != one_off_id(a_command({"echoa"})));
  CHECK(one_off_id(a_command({"a", "b"})) != one_off_id(a_command({"a,b"})));
}

TEST_CASE("one_off_id: stays what it was, since stored rows hang on it") {
  CHECK(one_off_id(a_command({"echo", "a"})).value == 4813607961917258840);
}

TEST_CASE("submit_hash: covers definition and parameters, and tells fields apart") {
  const auto plain = submit_hash(a_command({"echo"}), {});
  CHECK(plain.starts_with("1:"));
  CHECK(plain.size() == 34);
  CHECK(plain == submit_hash(a_command({"echo"}), {}));
  CHECK(plain != submit_hash(a_command({"echo"}), {{"k", "v"}}));
  auto with_script = a_command({});
  with_script.work.script = "echo";
  CHECK(plain != submit_hash(with_script, {}));
  auto slower = a_command({"echo"});
  slower.rules.timeout = Millis{1};
  CHECK(plain != submit_hash(slower, {}));
  auto throttled = a_command({"echo"});
  throttled.work.limits.milli_cpus = 500;
  auto slowed = throttled;
  slowed.work.limits.milli_cpus = 250;
  CHECK(submit_hash(slowed, {}) != submit_hash(throttled, {}));
}

TEST_CASE("run_now_hash: tells a name from a namespace") {
  CHECK(run_now_hash("a", "b", {}) != run_now_hash("b", "a", {}));
  CHECK(run_now_hash("a", "b", {}) != run_now_hash("a", "b", {{"k", ""}}));
}

}  // namespace rota::wire
