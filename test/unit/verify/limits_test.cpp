// P39: attempts that began when the time of their run was over.
#include <doctest/doctest.h>

#include "history.h"
#include "master/verify/limit_check.h"

namespace rota::master::verify::test {
namespace {

History a_history_with(Millis run, Millis queue) {
  History out = a_true_history();
  model::JobDefinition definition = *out.rows.versions[0].definition;
  definition.rules.run_timeout = run;
  definition.rules.queue_timeout = queue;
  out.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  return out;
}

constexpr Millis kMinute{60'000};

Request long_after() {
  Request out;
  out.now = at(1000);
  return out;
}

}  // namespace

TEST_CASE("verify: runs in their time are green, and counted") {
  const Report report = look(a_history_with(5 * kMinute, 5 * kMinute));
  CHECK(red(report) == "");
  CHECK(check_of(report, "P39").planned == 16);
  CHECK(check_of(look(a_true_history()), "P39").planned == 0);
}

TEST_CASE("verify: a first attempt that began when its wait was over is red") {
  History history = a_history_with(Millis{0}, kMinute);
  model::Run& run = history.rows.new_runs.back();
  const auto begin_after = [&](Millis wait) {
    run.progress.dispatched = run.recorded + wait;
    run.progress.started = run.progress.outcome.started = *run.progress.dispatched;
    run.progress.ended = run.progress.outcome.ended = *run.progress.dispatched + Millis{1};
  };
  SUBCASE("long after it") {
    begin_after(3 * kMinute);
    CHECK(red(look(history, long_after())) == "P39");
  }
  SUBCASE("so late as another clock may say") {
    begin_after(kMinute + Millis{59'000});
    CHECK(red(look(history, long_after())) == "");
  }
}

TEST_CASE("verify: another attempt after its run's time is red") {
  History history = a_history_with(kMinute, Millis{0});
  model::Run& run = history.rows.new_runs.back();
  model::AttemptRow first = first_attempt_of(run);
  first.outcome.state = model::RunState::Failed;
  first.epoch = Epoch{2};
  SUBCASE("long after it") {
    first.dispatched = *run.progress.dispatched - 3 * kMinute;
    history.rows.attempts.push_back(first);
    CHECK(red(look(history)) == "P39");
    CHECK(check_of(look(history), "P39").examples.at(0).find("attempt 2 began 3m after the first") !=
          std::string::npos);
  }
  SUBCASE("in it") {
    first.dispatched = *run.progress.dispatched - kMinute / 2;
    history.rows.attempts.push_back(first);
    CHECK(red(look(history)) == "");
  }
  SUBCASE("by a Term whose clock was set back meanwhile") {
    first.dispatched = *run.progress.dispatched + 3 * kMinute;
    first.outcome.started = *first.dispatched;
    first.outcome.ended = *first.dispatched + Millis{1};
    history.rows.attempts.push_back(first);
    const Report report = look(history);
    CHECK(check_of(report, "P39").ok);
  }
}

TEST_CASE("verify: what a namespace says counts where the job does not") {
  History history = a_history_with(Millis{0}, Millis{0});
  model::Run& run = history.rows.new_runs.back();
  run.progress.dispatched = run.recorded + 3 * kMinute;
  run.progress.started = run.progress.outcome.started = *run.progress.dispatched;
  run.progress.ended = run.progress.outcome.ended = *run.progress.dispatched + Millis{1};
  model::QuotaRow row;
  row.of = model::QuotaOf::Space;
  row.name = "default";
  row.version = 1;
  row.quota.queue_timeout = kMinute;
  row.changed = run.recorded - 60 * kMinute;
  const auto looked = [&](std::vector<model::QuotaRow> rows) {
    history.rows.quotas = std::move(rows);
    return look(history, long_after());
  };
  model::QuotaRow removed = row;
  removed.version = 2;
  removed.quota.queue_timeout = Millis{0};
  SUBCASE("its first attempt began when its wait was over") {
    const Report report = looked({row});
    CHECK(red(report) == "P39");
    CHECK(check_of(report, "P39").examples.at(0).find("its namespace allows 1m (timeout.queue)") !=
          std::string::npos);
  }
  SUBCASE("long enough") {
    row.quota.queue_timeout = 10 * kMinute;
    CHECK(red(looked({row})) == "");
    CHECK(check_of(looked({row}), "P39").planned == 16);
  }
  SUBCASE("another namespace") {
    row.name = "shop";
    CHECK(red(looked({row})) == "");
    CHECK(check_of(looked({row}), "P39").planned == 0);
  }
  SUBCASE("removed before") {
    removed.changed = *run.progress.dispatched - 2 * kMinute;
    CHECK(red(looked({row, removed})) == "");
  }
  SUBCASE("removed at about that moment, by another clock") {
    removed.changed = *run.progress.dispatched + kMinute / 2;
    CHECK(red(looked({row, removed})) == "");
  }
  SUBCASE("removed after") {
    removed.changed = *run.progress.dispatched + 5 * kMinute;
    CHECK(red(looked({row, removed})) == "P39");
  }
  SUBCASE("set after") {
    row.changed = *run.progress.dispatched + 5 * kMinute;
    CHECK(red(looked({row})) == "");
  }
}

TEST_CASE("verify: the jitter of a schedule is the longest of its entries") {
  model::Schedule schedule;
  CHECK(longest_jitter(schedule) == Millis{0});
  schedule.entries = {"every 5m", "every 7m; jitter 20s", "cron 0 2 * * *; jitter 3m"};
  CHECK(longest_jitter(schedule) == 3 * kMinute);
}

}  // namespace rota::master::verify::test
