// A moment that an edit of a calendar took away is one gap that says so: no run, no other gap, and no less.
#include <doctest/doctest.h>

#include "history.h"

namespace rota::master::verify::test {
namespace {

model::CalendarRow calendar(std::int32_t version, WallTime from, std::vector<std::string> exclude) {
  model::Calendar out;
  out.name = "de";
  out.exclude = std::move(exclude);
  model::CalendarRow row;
  row.version = version;
  row.from = row.changed = from;
  row.calendar = std::make_shared<const model::Calendar>(std::move(out));
  return row;
}

/// Every midnight of four days, from 15 November 2023 on. An edit at noon of the first day closes the two that
/// follow, so that they go back to a midnight that is over.
History a_history() {
  const WallTime midnight = std::chrono::floor<std::chrono::days>(kStart) + std::chrono::days{1};
  History out;
  model::Job job;
  job.id = JobId{1};
  job.name = "job";
  job.version = 1;
  job.created = job.changed = midnight - std::chrono::hours{1};
  out.rows.jobs.push_back(job);
  model::JobDefinition definition = *every(Millis{1000}, model::Overlap::Skip);
  definition.rules.schedule = {};
  definition.rules.schedule.kind = model::ScheduleKind::Entries;
  definition.rules.schedule.entries = {"cron 0 0 0 * * ?; calendars de; otherwise previous"};
  model::JobVersionRow version;
  version.job = job.id;
  version.version = 1;
  version.valid_from = version.anchor = job.created;
  version.definition = std::make_shared<const model::JobDefinition>(std::move(definition));
  out.rows.versions.push_back(version);
  out.rows.calendars = {calendar(1, midnight - std::chrono::days{9}, {}),
                        calendar(2, midnight + std::chrono::hours{12}, {"2023-11-16..2023-11-17"})};
  for (const int n : {0, 3}) out.rows.new_runs.push_back(a_run(run_id(1, n + 1), midnight + std::chrono::days{n}));
  const WallTime first = midnight + std::chrono::days{1}, last = midnight + std::chrono::days{2};
  out.rows.gaps = {{JobId{1}, 1, first, last, 2, model::Reason::CalendarEdited, 0, Epoch{1}}};
  out.rows.watermark = midnight + std::chrono::days{3} + Millis{500};
  return out;
}

Request at_its_end(const History& history) {
  Request out;
  out.now = history.rows.watermark->through;
  return out;
}

std::string found(const History& history) {
  const Report report = look(history, at_its_end(history));
  const Check& ticks = check_of(report, "P1");
  return red(report) + (ticks.examples.empty() ? "" : ": " + ticks.examples.front());
}

}  // namespace

TEST_CASE("verify: what an edit of a calendar took away stands in a gap that says so") {
  const Report report = look(a_history(), at_its_end(a_history()));
  CHECK(red(report).empty());
  const Check& ticks = check_of(report, "P1");
  CHECK(ticks.planned == 4);
  CHECK(ticks.fired == 2);
  CHECK(ticks.skipped == 2);
}

TEST_CASE("verify: without that gap, or with one of another reason or count, P1 is broken") {
  History history = a_history();
  history.rows.gaps.clear();
  CHECK(found(history) == "P1: job \"job\" tick 2023-11-16T00:00:00.000Z: neither a run nor a gap row");
  history = a_history();
  history.rows.gaps.front().reason = model::Reason::Missed;
  CHECK(found(history).starts_with("P1: job \"job\" tick 2023-11-16T00:00:00.000Z: neither"));
  history = a_history();
  history.rows.gaps.front().count = 1;
  CHECK(found(history).find("it says 1 ticks, 2 were planned in it") != std::string::npos);
}

TEST_CASE("verify: a run at such a moment was not planned, and such a gap stands for no tick that was") {
  History history = a_history();
  const WallTime away = history.rows.gaps.front().from;
  history.rows.gaps.front() = {JobId{1}, 1, away + std::chrono::days{1}, away + std::chrono::days{1}, 1,
                               model::Reason::CalendarEdited, 0, Epoch{1}};
  history.rows.new_runs.push_back(a_run(run_id(1, 2), away));
  CHECK(found(history) == "P1: job \"job\" tick 2023-11-16T00:00:00.000Z: run 1099511627778 was not planned");
  history = a_history();
  const WallTime fired = *history.rows.new_runs.back().tick;
  history.rows.new_runs.pop_back();
  history.rows.gaps.push_back({JobId{1}, 1, fired, fired, 1, model::Reason::CalendarEdited, 0, Epoch{1}});
  CHECK(found(history).find("tick 2023-11-18T00:00:00.000Z: neither a run nor a gap row") != std::string::npos);
}

TEST_CASE("verify: what a master of an older version left without such a gap is not missed") {
  struct OlderStore final : store::MemoryStore {
    std::optional<WallTime> from;
    Result<std::optional<WallTime>> edits_told_from() override { return from; }
  };
  History history = a_history();
  const WallTime away = history.rows.gaps.front().from;
  history.rows.gaps.clear();
  const Request request = at_its_end(history);
  OlderStore never;
  CHECK(red(look_in(never, history, request)).empty());
  OlderStore since;
  since.from = away;
  CHECK(check_of(look_in(since, history, request), "P1").missing == 1);  // the one behind it
  OlderStore all;
  all.from = away - Millis{1};
  CHECK(check_of(look_in(all, history, request), "P1").missing == 2);
}

}  // namespace rota::master::verify::test
