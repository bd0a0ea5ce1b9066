#include <doctest/doctest.h>

#include "api_setup.h"

namespace rota::master::api::test {

TEST_CASE("queries: any master lists jobs and runs") {
  Stored stored({a_run(5, model::RunState::Succeeded), a_run(6, model::RunState::Running)});
  TestMaster master(stored.memory, false);
  const auto job = master.ask([](auto& client) {
    thrift::JobInfo out;
    client.get_job(out, {}, "default", "nightly");
    return out;
  });
  REQUIRE(job);
  CHECK(job->state == "enabled");
  CHECK(job->next_ms == to_ms(kNow) + 60'000);
  const auto jobs = master.ask([](auto& client) {
    std::vector<thrift::JobInfo> out;
    client.list_jobs(out, {}, "default", "", 0, "");
    return out;
  });
  REQUIRE(jobs);
  CHECK(jobs->size() == 1);
  const auto next_page = master.ask([](auto& client) {
    std::vector<thrift::JobInfo> out;
    client.list_jobs(out, {}, "default", "", 0, "nightly");
    return out;
  });
  REQUIRE(next_page);
  CHECK(next_page->empty());
  thrift::RunFilter filter;
  filter.states = {"running"};
  const auto list = [&] {
    return master.ask([&](auto& client) {
      std::vector<thrift::RunInfo> out;
      client.list_runs(out, {}, filter);
      return out;
    });
  };
  const auto running = list();
  REQUIRE(running);
  REQUIRE(running->size() == 1);
  CHECK(running->front().id == 6);
  filter.states.clear();
  filter.job = "nightly";
  CHECK(list()->size() == 2);
  filter.__set_one_off(true);
  CHECK(list()->empty());
  filter.__set_one_off(false);
  CHECK(list()->size() == 2);
  filter.states = {"sleeping"};
  CHECK(list().error().error.code == ErrorCode::InvalidArgument);
  const auto run = master.ask([](auto& client) {
    thrift::RunDetail out;
    client.get_run(out, {}, 5);
    return out;
  });
  REQUIRE(run);
  CHECK(run->run.job_name == "nightly");
  CHECK(run->run.outcome.state == "succeeded");
  CHECK(run->work.argv == std::vector<std::string>{"/bin/true"});
  const auto none = master.ask([](auto& client) {
    thrift::RunDetail out;
    client.get_run(out, {}, 99);
    return out;
  });
  CHECK(none.error().error.code == ErrorCode::NotFound);
}

TEST_CASE("queries: any master tells which ticks did not fire and why, the newest first") {
  Stored stored;
  core::Changes rows;
  model::Gap gap;
  gap.job = JobId{1};
  gap.version = 1;
  gap.epoch = Epoch{1};
  gap.count = 3;
  gap.from = kNow;
  gap.to = kNow + std::chrono::minutes{2};
  gap.reason = model::Reason::LateSkipped;
  rows.gaps.push_back(gap);
  gap.from = gap.to = kNow + std::chrono::minutes{9};
  gap.count = 1;
  gap.reason = model::Reason::OverlapSkipped;
  gap.reference = 77;
  rows.gaps.push_back(gap);
  stored.put(rows);
  TestMaster master(stored.memory, false);
  const auto gaps = [&](const std::string& job, std::int32_t limit) {
    return master.ask([&](auto& client) {
      std::vector<thrift::GapInfo> out;
      client.list_gaps(out, {}, "default", job, limit);
      return out;
    });
  };
  const auto all = gaps("nightly", 0);
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  CHECK((*all)[0].reason == "overlap_skipped");
  CHECK((*all)[0].run == 77);
  CHECK((*all)[1].from_ms == to_ms(kNow));
  CHECK((*all)[1].to_ms == to_ms(kNow) + 120'000);
  CHECK((*all)[1].count == 3);
  CHECK(gaps("nightly", 1)->size() == 1);
  CHECK(gaps("nobody", 1).error().error.code == ErrorCode::NotFound);
}

TEST_CASE("queries: a database that is away is an error at once") {
  Stored stored;
  TestMaster master(stored.memory, false);
  stored.memory.set_down(true);
  const auto run = master.ask([](auto& client) {
    thrift::RunDetail out;
    client.get_run(out, {}, 5);
    return out;
  });
  CHECK(run.error().error.code == ErrorCode::Unavailable);
}

TEST_CASE("next_fires: previews a schedule, and refuses a wrong one with the reason") {
  Stored stored;
  TestMaster master(stored.memory, false);
  thrift::Schedule schedule;
  schedule.kind = "cron";
  schedule.cron = "0 12 * * *";
  schedule.time_zone = "Europe/Berlin";
  const auto preview = [&] {
    return master.ask([&](auto& client) {
      thrift::NextFires out;
      client.next_fires(out, {}, schedule, 1'767'225'600'000, 3, "", "");  // 2026-01-01 UTC
      return out;
    });
  };
  const auto noon = preview();
  REQUIRE(noon);
  REQUIRE(noon->at_ms.size() == 3);
  CHECK(noon->at_ms[0] == 1'767'265'200'000);  // 11:00 UTC
  schedule.cron = "0 0 30 2 *";
  CHECK(preview().error().error.code == ErrorCode::InvalidArgument);
  schedule.cron = "0 12 * * *";
  schedule.time_zone = "Europe/Berlim";
  CHECK(preview().error().error.message.find("Europe/Berlin") != std::string::npos);
}

TEST_CASE("verify: any master answers it") {
  Stored stored;
  core::Changes rows;
  rows.watermark = kNow + std::chrono::seconds{30};
  stored.put(rows);
  TestMaster master(stored.memory, false);
  master.clock.advance(std::chrono::seconds{40});
  const auto report = master.ask([](auto& client) {
    thrift::VerifyReport out;
    client.verify(out, {}, {});
    return out;
  });
  REQUIRE(report);
  CHECK(report->ok);
  CHECK(report->checks.size() == 20);
  CHECK(report->decided_through_ms == to_ms(kNow) + 30'000);
}

}  // namespace rota::master::api::test
