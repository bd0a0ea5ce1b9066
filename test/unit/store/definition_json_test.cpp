#include "common/wire/definition_json.h"

#include <doctest/doctest.h>

using namespace rota;

namespace {

model::JobDefinition full() {
  model::JobDefinition d;
  d.space = "team";
  d.name = "n\"'\\\n\xF0\x9F\xA6\x84";
  d.description = std::string("a\0b", 3);
  d.owner = "me";
  d.labels = {{"k", "v"}, {"", ""}};
  d.rules.schedule.kind = model::ScheduleKind::Once;
  d.rules.schedule.cron = "*/5 * * * *";
  d.rules.schedule.dialect = model::CronDialect::Quartz;
  d.rules.schedule.time_zone = "Europe/Berlin";
  d.rules.schedule.skipped_time = model::SkippedTime::Skip;
  d.rules.schedule.repeated_time = model::RepeatedTime::Both;
  d.rules.schedule.interval = Millis{1234};
  d.rules.schedule.start = wall_from_ms(-5);
  d.rules.schedule.end = wall_from_ms(1ll << 45);
  d.rules.overlap = model::Overlap::Allow;
  d.rules.queue_limit = 7;
  d.rules.late = model::LatePolicy::Skip;
  d.rules.tick_grace = Millis{9};
  d.rules.pool = "gpu";
  d.rules.route = model::RouteKind::Named;
  d.rules.worker = "w9";
  d.rules.retry = {4, Millis{11}, 1.5, Millis{13}, Millis{14}, {"exit 1-5"}, {"exit 2"},
                   model::AnotherWorker::Prefer, "exit 75; every 5m"};
  d.rules.timeout = Millis{17};
  d.rules.kill_grace = Millis{19};
  d.rules.loss = model::LossPolicy::Never;
  d.rules.loss_most = 21;
  d.rules.firings = 25;
  d.rules.until = model::Until::Success;
  d.rules.pause_after_failures = 26;
  d.rules.concurrency = 27;
  d.rules.route_key = "{{param.x}}";
  d.rules.select = {{"os", "deb12,deb13"}, {"zone", "fin"}};
  d.rules.disconnect_grace = Millis{23};
  d.rules.keep_logs = Millis{29};
  d.rules.keep_runs = Millis{30};
  d.work.handler = "h";
  d.work.argv = {"", "a b"};
  d.work.script = "echo";
  d.work.interpreter = "/bin/bash";
  d.work.environment = {{"A", "1"}};
  d.work.parameters = {{"P", "2"}};
  d.work.folder = "/tmp";
  d.work.output_cap_bytes = 1ll << 40;
  d.work.limits = {1, 2, 3, 4, Millis{5}, 6, 7, 8, 9};
  d.work.nice = -3;
  d.work.umask = 077;
  d.work.run_as = "deploy";
  d.work.keep_folder = model::KeepFolder::OnFailure;
  d.work.isolation = model::Isolation::Process;
  d.work.cleanup = {"docker", "rm", "{{run}}"};
  return d;
}

}  // namespace

TEST_CASE("definition json: every field comes back, default or not") {
  for (const auto& definition : {model::JobDefinition{}, full()}) {
    const auto text = wire::definition_to_json(definition);
    REQUIRE(text);
    const auto back = wire::definition_from_json(*text);
    REQUIRE(back);
    CHECK(*back == definition);
    CHECK(*wire::rules_from_json(*wire::rules_to_json(definition.rules)) == definition.rules);
  }
}

TEST_CASE("definition json: a program that does not know loss \"confirm\" reads \"never\"") {
  model::JobRules rules;
  rules.loss = model::LossPolicy::Confirm;
  const std::string text = *wire::rules_to_json(rules);
  CHECK(text.find(R"("loss":"never")") != std::string::npos);
  CHECK(*wire::rules_from_json(text) == rules);
  CHECK(wire::rules_to_json({})->find("loss_") == std::string::npos);
}

TEST_CASE("definition json: a program that does not know a word of overlap reads \"skip\"") {
  for (const auto overlap : {model::Overlap::QueueOne, model::Overlap::Replace, model::Overlap::Terminate}) {
    model::JobRules rules;
    rules.overlap = overlap;
    const std::string text = *wire::rules_to_json(rules);
    CHECK(text.find(R"("overlap":"skip")") != std::string::npos);
    CHECK(wire::rules_from_json(text)->overlap == overlap);
  }
  for (const auto overlap : {model::Overlap::Skip, model::Overlap::Queue, model::Overlap::Allow}) {
    model::JobRules rules;
    rules.overlap = overlap;
    CHECK(wire::rules_to_json(rules)->find("newer_overlap") == std::string::npos);
  }
}

TEST_CASE("definition json: a program that does not know a route reads \"least_loaded\"") {
  using model::RouteKind;
  for (int kind = 0; kind <= static_cast<int>(RouteKind::FastestResponse); ++kind) {
    model::JobRules rules;
    rules.route = static_cast<RouteKind>(kind);
    const std::string text = *wire::rules_to_json(rules);
    CHECK(wire::rules_from_json(text)->route == rules.route);
    const bool is_known = rules.route == RouteKind::RoundRobin || rules.route == RouteKind::LeastLoaded ||
                          rules.route == RouteKind::Named;
    CHECK((text.find("newer_route") == std::string::npos) == is_known);
    const bool is_bare = text.find(R"("route":"least_loaded")") == std::string::npos;
    CHECK(is_bare == (is_known && rules.route != RouteKind::LeastLoaded));
  }
  CHECK(wire::rules_to_json({})->find("route_key") == std::string::npos);
}

TEST_CASE("definition json: a program that does not know select finds no worker for such a job") {
  model::JobRules rules;
  rules.pool = "gpu";
  CHECK(wire::rules_to_json(rules)->find("newer_pool") == std::string::npos);
  rules.select = {{"zone", "fin"}};
  const std::string text = *wire::rules_to_json(rules);
  CHECK(text.find(R"("pool":"select.needs.a.newer.master")") != std::string::npos);
  CHECK(wire::rules_from_json(text) == rules);
}

TEST_CASE("definition json: a program that knows select, but not slots or needs, finds no worker for such a job") {
  for (const bool has_slots : {false, true}) {
    model::JobRules rules;
    rules.pool = "gpu";
    rules.select = {{"zone", "fin"}};
    if (has_slots) rules.slots = 2;
    else rules.needs = {{"memory", std::int64_t{8} << 30}};
    const std::string text = *wire::rules_to_json(rules);
    CHECK(text.find(R"("pool":"select.needs.a.newer.master")") != std::string::npos);
    CHECK(text.find("newer_pool") == std::string::npos);
    CHECK(text.find(R"("needs_pool":"gpu")") != std::string::npos);
    CHECK(wire::rules_from_json(text) == rules);
  }
}

TEST_CASE("definition json: a program that does not know a retry rule finds no worker for such a job") {
  using model::AnotherWorker;
  const auto is_hidden = [](const auto& change) {
    model::JobRules rules;
    rules.retry.count = 3;
    change(rules.retry);
    const std::string text = *wire::rules_to_json(rules);
    CHECK(wire::rules_from_json(text) == rules);
    return text.find(R"("pool":"select.needs.a.newer.master")") != std::string::npos;
  };
  CHECK(is_hidden([](model::RetryRule& rule) { rule.only = {"timed_out"}; }));
  CHECK(is_hidden([](model::RetryRule& rule) { rule.never = {"exit 2"}; }));
  CHECK(is_hidden([](model::RetryRule& rule) { rule.another_worker = AnotherWorker::Require; }));
  CHECK(is_hidden([](model::RetryRule& rule) { rule.again = "exit 75; every 5m"; }));
  CHECK_FALSE(is_hidden([](model::RetryRule& rule) { rule.jitter = Millis{500}; }));
  CHECK_FALSE(is_hidden([](model::RetryRule& rule) { rule.another_worker = AnotherWorker::Prefer; }));
  CHECK_FALSE(is_hidden([](model::RetryRule&) {}));
}

TEST_CASE("definition json: missing fields keep their default, unknown ones are passed over") {
  const auto definition = wire::definition_from_json(
      R"({"name": "x", "future": 1, "rules": {"overlap": "queue", "more": {}}})");
  REQUIRE(definition);
  CHECK(definition->name == "x");
  CHECK(definition->rules.overlap == model::Overlap::Queue);
  CHECK(definition->rules.pool == "default");
}

TEST_CASE("definition json: what can not be read is Corrupt and says why") {
  for (const char* text : {"", "{", "[]", "null", R"({"name": 3})", R"({"labels": {"a": 1}})",
                           R"({"rules": {"overlap": "sometimes"}})", R"({"rules": {"overlap": 3}})",
                           R"({"rules": 3})"}) {
    CAPTURE(text);
    const auto read = wire::definition_from_json(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::Corrupt);
  }
  CHECK(wire::rules_from_json(R"({"overlap": "sometimes"})").error().message.find("sometimes") !=
        std::string::npos);
}

TEST_CASE("definition json: text that is no UTF-8 is refused") {
  auto definition = full();
  definition.work.argv = {"\xFF"};
  CHECK(wire::definition_to_json(definition).error().code == ErrorCode::InvalidArgument);
  CHECK(wire::texts_to_json({{"a", "\xC3"}}).error().code == ErrorCode::InvalidArgument);
}

TEST_CASE("definition json: parameters come back, none too") {
  for (const std::map<std::string, std::string>& texts :
       {std::map<std::string, std::string>{}, {{"a", "'; DROP TABLE"}, {"", ""}}}) {
    CHECK(*wire::texts_from_json(*wire::texts_to_json(texts)) == texts);
  }
  CHECK(wire::texts_from_json("[1]").error().code == ErrorCode::Corrupt);
}
