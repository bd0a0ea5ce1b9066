#include <doctest/doctest.h>

#include <limits>

#include "common/wire/definition_rules.h"

namespace rota::wire {
namespace {

model::JobDefinition good() {
  model::JobDefinition out;
  out.name = "nightly";
  out.work.argv = {"/bin/true"};
  return out;
}

/// The one problem, or all of them for the failing test's message.
std::string problem(const model::JobDefinition& definition, bool saved = true) {
  const auto all = definition_problems(definition, saved);
  std::string text;
  for (const auto& one : all) text += one + "\n";
  CHECK_MESSAGE(all.size() == 1, text);
  return text;
}

bool names(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("definition: a name and a command are enough") {
  CHECK(definition_problems(good(), true).empty());
  CHECK(validate_definition(good()));
}

TEST_CASE("definition: late: fire_all is refused where its runs would be skipped") {
  auto job = good();
  job.rules.late = model::LatePolicy::FireAll;
  CHECK(problem(job) == "late: \"fire_all\" starts a run for each late tick, so they overlap; set overlap to "
                        "queue, queue_one or allow\n");
  for (const auto ends_others : {model::Overlap::Replace, model::Overlap::Terminate}) {
    job.rules.overlap = ends_others;
    CHECK(names(problem(job), "queue, queue_one or allow"));
  }
  for (const auto fits : {model::Overlap::Queue, model::Overlap::QueueOne, model::Overlap::Allow}) {
    job.rules.overlap = fits;
    CHECK(definition_problems(job, true).empty());
  }
}

TEST_CASE("definition: concurrency is refused beside overlap: allow, and has a range") {
  auto job = good();
  job.rules.concurrency = 3;
  CHECK(definition_problems(job, true).empty());
  job.rules.overlap = model::Overlap::Allow;
  CHECK(problem(job) == "concurrency: 3 is given, but overlap is \"allow\", which knows no bound; set another "
                        "overlap or remove it\n");
  job.rules.concurrency = 1;
  CHECK(definition_problems(job, true).empty());
  job.rules.overlap = model::Overlap::Replace;
  for (const std::int32_t wrong : {0, -1, 1001}) {
    job.rules.concurrency = wrong;
    CHECK(names(problem(job), "concurrency: " + std::to_string(wrong) + " is out of range"));
  }
}

TEST_CASE("definition: a route_key is for consistent_hash, and knows parameters alone") {
  auto job = good();
  job.rules.route_key = "{{param.customer}}";
  CHECK(problem(job) ==
        "route_key: it is given, but route is not \"consistent_hash\"; set route or remove it\n");
  job.rules.route = model::RouteKind::ConsistentHash;
  for (const char* right : {"{{param.customer}}", "eu/{{param.a}}-{{param.b}}", "{{{{param.customer", "plain", ""}) {
    job.rules.route_key = right;
    CHECK(definition_problems(job, true).empty());
  }
  job.rules.route_key = "{{tick}}";
  CHECK(problem(job) ==
        "route_key: {{tick}} is not known here; write {{param.NAME}}, or {{{{ for two braces\n");
  job.rules.route_key = "{{param.}}";
  CHECK(names(problem(job), "{{param.}} is not known here"));
  job.rules.route_key = "x{{param.a";
  CHECK(problem(job) == "route_key: {{ is not closed; write {{param.NAME}}, or {{{{ for two braces\n");
  job.rules.route_key = std::string(257, 'x');
  CHECK(names(problem(job), "route_key: "));
}

TEST_CASE("definition: select takes words, and no start of a worker") {
  auto job = good();
  job.rules.select = {{"os", "deb12,deb13"}, {"zone", "fin"}};
  CHECK(definition_problems(job, true).empty());
  for (const char* wrong : {"", "a,,b", "a,", ",a", " "}) {
    job.rules.select = {{"os", wrong}};
    CHECK(names(problem(job), "holds an empty word; give words with one comma between them"));
  }
  job.rules.select = {{"zone", "fin"}};
  job.rules.schedule = {};
  job.rules.schedule.kind = model::ScheduleKind::Entries;
  job.rules.schedule.entries = {"worker_start"};
  CHECK(problem(job) == "select: a schedule with @worker_start goes by pool, handler and worker alone; remove "
                        "one of the two\n");
}

TEST_CASE("definition: prefer asks for what select allows") {
  auto job = good();
  job.rules.prefer = {{"rack", "r7"}};
  CHECK(definition_problems(job, true).empty());
  job.rules.select = {{"rack", "r7,r8"}};
  CHECK(definition_problems(job, true).empty());
  job.rules.prefer = {{"rack", "r8,r9"}};
  CHECK(problem(job) == "prefer.labels.rack: no worker may have \"r9\", since select.rack is \"r7,r8\"\n");
  job.rules.prefer = {{"os", "a,,b"}};
  CHECK(names(problem(job), "prefer.labels.os: \"a,,b\" holds an empty word"));
  job.rules.prefer = {{"os", "a"}};
  job.rules.route = model::RouteKind::Named;
  job.rules.worker = "w1";
  CHECK(problem(job) == "prefer: worker names the only one; remove one of the two\n");
  job = good();
  job.rules.prefer_for = Millis{5};
  CHECK(problem(job) == "prefer.for: it is given, but prefer.labels is not; give labels or remove it\n");
}

TEST_CASE("definition: a 1 MB command is refused with what to do instead") {
  auto wrong = good();
  wrong.work.argv.push_back(std::string(1u << 20, 'x'));
  const auto text = problem(wrong);
  CHECK(names(text, "command:"));
  CHECK(names(text, "262144"));
  CHECK(names(text, "file"));
}

TEST_CASE("definition: names may hold quotes and SQL, but no control characters") {
  auto job = good();
  job.name = "it's \"x\"'; DROP TABLE run; --";
  CHECK(definition_problems(job, true).empty());
  job.name = "a\tb";
  CHECK(names(problem(job), "control character"));
  job.name = "";
  CHECK(names(problem(job), "missing"));
  job.name = " x";
  CHECK(names(problem(job), "space"));
  job.name = std::string(129, 'x');
  CHECK(names(problem(job), "129"));
  job.name = "\xC3";
  CHECK(names(problem(job), "UTF-8"));
}

TEST_CASE("definition: each number has a range, and the message names it") {
  struct Case {
    const char* place;
    void (*spoil)(model::JobDefinition&);
  };
  const Case cases[] = {
      {"retry.count", [](auto& job) { job.rules.retry.count = -1; }},
      {"retry.count", [](auto& job) { job.rules.retry.count = 1001; }},
      {"retry.delay", [](auto& job) { job.rules.retry.delay = Millis{-1}; }},
      {"retry.factor", [](auto& job) { job.rules.retry.factor = 0.5; }},
      {"retry.factor",
       [](auto& job) { job.rules.retry.factor = std::numeric_limits<double>::quiet_NaN(); }},
      {"retry.max_delay", [](auto& job) { job.rules.retry.max_delay = Millis{INT64_MAX}; }},
      {"timeout", [](auto& job) { job.rules.timeout = Millis{-5}; }},
      {"kill_grace", [](auto& job) { job.rules.kill_grace = std::chrono::hours{2}; }},
      {"disconnect_grace", [](auto& job) { job.rules.disconnect_grace = std::chrono::hours{169}; }},
      {"keep_logs", [](auto& job) { job.rules.keep_logs = Millis{-2}; }},
      {"keep_logs", [](auto& job) { job.rules.keep_logs = Millis{59'999}; }},
      {"keep_runs", [](auto& job) { job.rules.keep_runs = Millis{-2}; }},
      {"keep_runs", [](auto& job) { job.rules.keep_runs = Millis{59'999}; }},
      {"queue_limit", [](auto& job) { job.rules.queue_limit = 0; }},
      {"tick_grace", [](auto& job) { job.rules.tick_grace = Millis{-1}; }},
      {"output_cap_bytes", [](auto& job) { job.work.output_cap_bytes = -1; }},
      {"schedule.every", [](auto& job) { job.rules.schedule.interval = Millis{INT64_MAX}; }},
      {"schedule.cron", [](auto& job) { job.rules.schedule.cron = "\xFF"; }},
      {"schedule.cron", [](auto& job) { job.rules.schedule.cron = std::string(1025, ' '); }},
      {"time_zone", [](auto& job) { job.rules.schedule.time_zone = "\xFF"; }},
      {"pool", [](auto& job) { job.rules.pool = "a b"; }},
      {"worker", [](auto& job) { job.rules.route = model::RouteKind::Named; }},
      {"worker", [](auto& job) { job.rules.worker = "w1"; }},
      {"namespace", [](auto& job) { job.space = ""; }},
      {"handler", [](auto& job) { job.work.handler = ""; }},
      {"folder", [](auto& job) { job.work.folder = "relative"; }},
      {"command", [](auto& job) { job.work.argv.clear(); }},
      {"command", [](auto& job) { job.work.script = "echo"; }},
      {"command[1]", [](auto& job) { job.work.argv.emplace_back("a\0b", 3); }},
      {"command", [](auto& job) { job.work.argv.assign(1025, "x"); }},
      {"environment", [](auto& job) { job.work.environment["a=b"] = "c"; }},
      {"environment.A", [](auto& job) { job.work.environment["A"] = "\xFF"; }},
      {"labels", [](auto& job) { job.labels[""] = "c"; }},
      {"description", [](auto& job) { job.description = std::string(4097, 'x'); }},
  };
  for (const Case& one : cases) {
    auto wrong = good();
    one.spoil(wrong);
    const auto text = problem(wrong);
    CHECK_MESSAGE(text.starts_with(one.place), text);
  }
}

TEST_CASE("definition: all problems come at once") {
  auto wrong = good();
  wrong.name = "";
  wrong.rules.pool = "";
  wrong.rules.retry.count = -1;
  const auto checked = validate_definition(wrong);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == ErrorCode::InvalidArgument);
  CHECK(names(checked.error().message, "name"));
  CHECK(names(checked.error().message, "pool"));
  CHECK(names(checked.error().message, "retry.count"));
}

TEST_CASE("definition: a one-off needs no name and takes no schedule") {
  auto job = good();
  job.name = "";
  CHECK(definition_problems(job, false).empty());
  job.rules.schedule.kind = model::ScheduleKind::FixedRate;
  CHECK(names(problem(job, false), "schedule"));
}

TEST_CASE("definition: a handler needs no command") {
  auto job = good();
  job.work.handler = "hello";
  job.work.argv.clear();
  CHECK(definition_problems(job, true).empty());
}

TEST_CASE("definition: an http call is judged when it is applied, with all that is wrong") {
  auto job = good();
  job.work.argv.clear();
  job.work.handler = "http";
  job.work.parameters = {{"url", "http://h/"}, {"redirects", "2"}};
  CHECK(definition_problems(job, true).empty());
  job.work.parameters = {{"url", "h"}, {"expekt", "200"}};
  const auto text = problem(job);
  CHECK(names(text, "parameters.url \"h\" must be http://"));
  CHECK(names(text, "did you mean expect?"));
}

TEST_CASE("definition: a process of its own is for handlers, and brings limits with it") {
  auto job = good();
  job.work.isolation = model::Isolation::Process;
  CHECK(names(problem(job), "isolation"));
  job.work.handler = "hello";
  job.work.argv.clear();
  job.work.limits.processes = 3;
  CHECK(definition_problems(job, true).empty());
  job.work.isolation = model::Isolation::Worker;
  CHECK(names(problem(job), "isolation: process"));
}

TEST_CASE("definition: a handler inside of the worker is refused what only a process can have") {
  using Change = void (*)(model::JobWork&);
  const std::pair<const char*, Change> changes[] = {
      {"run_as", [](auto& work) { work.run_as = "nobody"; }},
      {"nice", [](auto& work) { work.nice = 5; }},
      {"umask", [](auto& work) { work.umask = 077; }},
      {"folder", [](auto& work) { work.folder = "/srv"; }},
      {"keep_folder", [](auto& work) { work.keep_folder = model::KeepFolder::Always; }},
      {"environment", [](auto& work) { work.environment["A"] = "b"; }}};
  for (const auto& one : changes) {
    const std::string name = one.first;  // CAPTURE takes no structured binding
    CAPTURE(name);
    auto job = good();
    job.work.handler = "hello";
    job.work.argv.clear();
    job.work.environment.clear();
    CHECK(definition_problems(job, true).empty());
    one.second(job.work);
    CHECK(names(problem(job), name + ": it is for processes"));
    job.work.isolation = model::Isolation::Process;
    CHECK(definition_problems(job, true).empty());
  }
  auto patient = good();
  patient.rules.disconnect_grace = std::chrono::minutes{1};
  CHECK(definition_problems(patient, true).empty());
  patient.work.handler = "hello";
  patient.work.argv.clear();
  CHECK(names(problem(patient), "disconnect_grace: a handler inside"));
}

TEST_CASE("definition: a share of cores has its bounds") {
  auto job = good();
  for (const std::int32_t fits : {0, 10, 500, 1'000'000}) {
    job.work.limits.milli_cpus = fits;
    CHECK(definition_problems(job, true).empty());
  }
  for (const std::int32_t wrong : {-1, 9, 1'000'001}) {
    job.work.limits.milli_cpus = wrong;
    CHECK(names(problem(job), "limits.cpus"));
  }
}

TEST_CASE("definition: parameters and request keys are bounded") {
  CHECK(validate_parameters({{"k", "v"}}));
  CHECK_FALSE(validate_parameters({{"k", std::string(65u << 10, 'x')}}));
  CHECK_FALSE(validate_parameters({{"", "v"}}));
  model::Parameters many;
  for (int i = 0; i < 257; ++i) many[std::to_string(i)] = "";
  CHECK_FALSE(validate_parameters(many));
  CHECK(validate_request_key(""));
  CHECK(validate_request_key("nightly-2026-01-01"));
  CHECK_FALSE(validate_request_key("a\nb"));
  CHECK_FALSE(validate_request_key("a "));
  CHECK_FALSE(validate_request_key(std::string(129, 'k')));
}

}  // namespace rota::wire
