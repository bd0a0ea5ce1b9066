#include "worker/run/job_environment.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "worker/run/command_plan.h"

namespace rota::worker::run {

namespace {

Order an_order() {
  Order order;
  order.key = {RunId{42}, 3};
  order.job_name = "nightly";
  order.space = "default";
  order.kind = "tick";
  order.tick = wall_from_ms(1000);
  order.work.argv = {"true"};
  return order;
}

std::vector<std::string> lines_of(const Order& order, const EnvironmentBase& base = {}) {
  return job_environment(base, order, Epoch{7}, {"w1", "aa"}, "/work/1");
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

}  // namespace

TEST_CASE("job_environment: says who the attempt is") {
  const auto lines = lines_of(an_order());
  for (const char* line :
       {"ROTA_RUN_ID=42", "ROTA_ATTEMPT=3", "ROTA_EPOCH=7", "ROTA_JOB=nightly", "ROTA_TICK_MS=1000",
        "ROTA_WORKER=w1", "ROTA_INCARNATION=aa", "ROTA_RUN_KIND=tick", "ROTA_WORK_FOLDER=/work/1"}) {
    CHECK_MESSAGE(has(lines, line), line);
  }
  Order by_hand = an_order();
  by_hand.tick.reset();
  for (const std::string& line : lines_of(by_hand)) CHECK_FALSE(line.starts_with("ROTA_TICK_MS"));
}

TEST_CASE("job_environment: only the allow list passes, the job overrides it, nobody overrides Rota") {
  const char* environment[] = {"HOME=/root", "SECRET=x", "LANG=C", "broken", nullptr};
  const EnvironmentBase base = environment_base({"HOME", "LANG"}, environment);
  Order order = an_order();
  order.work.environment = {{"LANG", "de"}, {"ROTA_RUN_ID", "1"}};
  const auto lines = lines_of(order, base);
  CHECK(has(lines, "HOME=/root"));
  CHECK(has(lines, "LANG=de"));
  CHECK(has(lines, "ROTA_RUN_ID=42"));
  for (const std::string& line : lines) CHECK_FALSE(line.starts_with("SECRET"));
  CHECK(base.allowed.contains("PATH"));
}

TEST_CASE("job_environment: parameters become variables") {
  CHECK(parameter_variable("day-of.Week 2") == "ROTA_PARAM_DAY_OF_WEEK_2");
  Order order = an_order();
  order.parameters = {{"who", "a b"}};
  CHECK(has(lines_of(order), "ROTA_PARAM_WHO=a b"));
}

TEST_CASE("command_plan: names what can never be started") {
  model::JobWork work;
  CHECK(trouble_with(work));
  work.argv = {std::string("a\0b", 3)};
  CHECK(trouble_with(work));
  work.argv = {"true"};
  CHECK_FALSE(trouble_with(work));
  work.environment = {{"A=B", "x"}};
  CHECK(trouble_with(work));
  work.environment.clear();
  work.argv.clear();
  work.script = "exit 0";
  CHECK_FALSE(trouble_with(work));
  work.interpreter = "  ";
  CHECK(trouble_with(work));
  work.handler = "noop";
  CHECK_FALSE(trouble_with(work));
}

TEST_CASE("command_plan: a script goes to its interpreter's words") {
  Order order = an_order();
  order.work.argv.clear();
  order.work.interpreter = "/usr/bin/env bash -e";
  order.work.folder = "/srv";
  const auto start = plan_command(order, {"/work/1", "/work/1/.rota-script"}, {}, Epoch{7}, {});
  CHECK(start.argv == std::vector<std::string>{"/usr/bin/env", "bash", "-e", "/work/1/.rota-script"});
  CHECK(start.folder == "/srv");
}

TEST_CASE("command_plan: a note survives the warden") {
  const auto note = decode_note(encode_note({{"w1", "aa"}, 77}));
  REQUIRE(note);
  CHECK(note->life == model::WorkerKey{"w1", "aa"});
  CHECK(note->cap_bytes == 77);
  CHECK_FALSE(decode_note("2\nw1\naa\n77\n"));
  CHECK_FALSE(decode_note(""));
}

}  // namespace rota::worker::run
