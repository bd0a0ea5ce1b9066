#include <doctest/doctest.h>

#include "common/wire/job_names.h"
#include "common/wire/job_wire.h"

namespace rota::wire {
namespace {

model::JobDefinition everything() {
  model::JobDefinition out;
  out.space = "s";
  out.name = "n";
  out.description = "d";
  out.owner = "o";
  out.labels = {{"l", "v"}};
  model::Schedule& schedule = out.rules.schedule;
  schedule.kind = model::ScheduleKind::Cron;
  schedule.cron = "* * * * *";
  schedule.dialect = model::CronDialect::Quartz;
  schedule.time_zone = "Europe/Berlin";
  schedule.skipped_time = model::SkippedTime::Skip;
  schedule.repeated_time = model::RepeatedTime::Both;
  schedule.interval = Millis{5};
  schedule.start = wall_from_ms(1);
  schedule.end = wall_from_ms(2);
  out.rules.overlap = model::Overlap::Queue;
  out.rules.queue_limit = 3;
  out.rules.late = model::LatePolicy::Skip;
  out.rules.tick_grace = Millis{4};
  out.rules.pool = "p";
  out.rules.route = model::RouteKind::Named;
  out.rules.worker = "w";
  out.rules.retry = {2, Millis{3}, 1.5, Millis{7}, Millis{9}, {"exit 1-5"}, {"exit 2", "timed_out"},
                     model::AnotherWorker::Prefer, "exit 75; every 5m"};
  out.rules.timeout = Millis{8};
  out.rules.kill_grace = Millis{9};
  out.rules.loss = model::LossPolicy::Never;
  out.rules.loss_most = 9;
  out.rules.firings = 10;
  out.rules.until = model::Until::Success;
  out.rules.pause_after_failures = 11;
  out.rules.disconnect_grace = Millis{10};
  out.rules.expect_start_within = Millis{12};
  out.rules.expect_finish_by = "07:30";
  out.rules.expect_longer_than = "3x";
  out.rules.keep_logs = model::kKeepForEver;
  out.rules.keep_runs = Millis{90'000'000};
  out.work = {"h", {"a", "b"}, "s", "/bin/bash", {{"E", "1"}}, {{"P", "2"}}, "/f", 11,
              {1, 2, 3, 4, Millis{5}, 6, 7, 8, 9}, -5, 077, "deploy", model::KeepFolder::Always,
              model::Isolation::Process, {"rm", "{{run}}"}};
  return out;
}

}  // namespace

TEST_CASE("definition: every field survives the way over the wire") {
  const auto back = from_wire(to_wire(everything()));
  REQUIRE(back);
  CHECK(*back == everything());
  const auto plain = from_wire(to_wire(model::JobDefinition{}));
  REQUIRE(plain);
  CHECK(*plain == model::JobDefinition{});
}

TEST_CASE("definition: the defaults of the IDL are those of the model") {
  const auto plain = from_wire(thrift::JobDefinition{});
  REQUIRE(plain);
  CHECK(*plain == model::JobDefinition{});
}

TEST_CASE("definition: unknown names are refused all at once, with the allowed ones") {
  auto wrong = to_wire(everything());
  wrong.rules.overlap = "maybe";
  wrong.rules.schedule.kind = "weekly";
  wrong.rules.schedule.__set_start_ms(-1);
  const auto back = from_wire(wrong);
  REQUIRE_FALSE(back);
  CHECK(back.error().code == ErrorCode::InvalidArgument);
  CHECK(back.error().message.find("overlap: \"maybe\" is none of skip, queue, allow") !=
        std::string::npos);
  CHECK(back.error().message.find("\"weekly\"") != std::string::npos);
  CHECK(back.error().message.find("start: -1 is no moment") != std::string::npos);
}

TEST_CASE("names: each choice is found by its own name") {
  for (int i = 0; i < 4; ++i) {
    const auto kind = static_cast<model::ScheduleKind>(i);
    CHECK(named<model::ScheduleKind>(name_of(kind)) == kind);
  }
  CHECK_FALSE(named<model::Overlap>("Skip"));
  CHECK_FALSE(named<model::JobState>(""));
}

}  // namespace rota::wire
