// The items of one submit: what they share is read once, and nothing else.
#include <doctest/doctest.h>

#include "common/wire/content_hash.h"
#include "common/wire/job_wire.h"
#include "master/api/definition_intake.h"
#include "master/core/time/cron_hash.h"

namespace rota::master::api {
namespace {

thrift::SubmitItem item_of(const std::string& handler, const std::string& key = "key") {
  thrift::SubmitItem item;
  item.definition.__set_name("one");
  item.definition.work.__set_handler(handler);
  item.__set_request_key(key);
  return item;
}

/// An item is accepted as it would be alone.
void check_as_alone(SubmitIntake& intake, const thrift::SubmitItem& item) {
  const auto together = intake.accept(item);
  const auto alone = accept_submit(item);
  REQUIRE(together.has_value() == alone.has_value());
  if (!alone) {
    CHECK(together.error().message == alone.error().message);
    return;
  }
  CHECK(together->job == alone->job);
  CHECK(*together->definition == *alone->definition);
  CHECK(together->request_key == alone->request_key);
  CHECK(together->request_hash == alone->request_hash);
  CHECK((together->parameters == nullptr) == (alone->parameters == nullptr));
  if (alone->parameters) CHECK(*together->parameters == *alone->parameters);
}

std::string refusal_of(const std::vector<std::string>& entries, const core::CalendarSource& calendars = {},
                       std::optional<WallTime> now = {}) {
  thrift::JobEdit edit;
  edit.definition = item_of("noop").definition;
  edit.definition.rules.schedule.__set_kind("entries");
  edit.definition.rules.schedule.__set_entries(entries);
  const auto accepted = accept_edit(edit, "me", calendars, now);
  return accepted ? "" : accepted.error().message;
}

}  // namespace

TEST_CASE("edit intake: entries that are wrong, never fire or name an unknown calendar are refused") {
  CHECK(refusal_of({"every 5s; between 09:00-17:00", "cron H 3 * * *"}) == "");
  CHECK(refusal_of({"every 5s", "cron 0 99 * * *"}).starts_with("schedule[1].cron '0 99 * * *': "));
  CHECK(refusal_of({"every 5s; name a", "every 7s; name a"}) == "schedule[1].name: \"a\" is the name of another entry too; give each a name of its own");
  CHECK(refusal_of({"cron 0 3 * * *; time_zone Mars/Base"}).starts_with("schedule[0].time_zone: "));
  CHECK(refusal_of({"every 5s", "cron 0 9 * * *; between 10:00-11:00"})
            .starts_with("schedule[1] can never fire: none of its moments lies on a day"));
  CHECK(refusal_of({"cron 0 9 * * *; calendars cn"}) ==
        "schedule[0].calendar: there is no calendar cn in namespace default; apply it first: rota calendar apply -f FILE");
  CHECK(refusal_of(std::vector<std::string>(17, "every 5s")).find("17 entries, at most 16 are allowed") != std::string::npos);
}

TEST_CASE("edit intake: what is wrong with an entry is told with its place and key") {
  const std::pair<const char*, const char*> cases[] = {
      {"every 50ms", "every: 50ms is out of range; write a duration from 100ms to 3660d"},
      {"after_end 50ms", "after_end: 50ms is out of range; write a duration from 100ms to 3660d"},
      {"every soon", "every: "},
      {"at tomorrow", "at: "},
      {"working_day 0", "working_day: 0 is out of range; write 1 to 31, or -1 (the last one) to -31"},
      {"working_day 1; time 25:00", "time: \"25:00\" is not a time of day; write it as \"18:00\""},
      {"every 5s; time 18:00", "time: it goes with working_day; remove it"},
      {"at 2026-01-01T00:00:00Z; between 09:00-10:00", "between: it does not go with at; remove it"},
      {"every 5s; between 9-10", "between: \"9-10\" is not two times of day; write them as \"09:30-16:00\""},
      {"every 5s; calendars a; otherwise next",
       "calendar.otherwise: what falls on a closed day can be moved for cron and at, not for every; remove it"},
      {"cron 0 9 * * *; otherwise next", "calendar.otherwise: it needs a calendar; name it, or remove otherwise"},
      {"cron 0 9 * * *; day -1", "calendar.day: it needs a calendar; name it, or remove the day"},
      {"cron 0 9 * * *; calendars a; day 2", "calendar.day: 2 is out of range; write -1, 0 or 1"},
      {"worker_start; calendars a", "calendar: it does not go with @worker_start; remove it"},
      {"every 5s; skipped_time quartz", "skipped_time: quartz goes with cron; remove it"},
      {"every 5s; skipped_time never", "skipped_time: allowed are skip and quartz"},
      {"every 5s; repeated_time third", "repeated_time: allowed are second and both"},
      {"cron 0 9 * * *; dialect latin", "dialect: allowed are unix and quartz"},
      {"every 5s; jitter 25h", "jitter: 1d1h is out of range; write a duration from 0s to 1d"},
      {"every 5s; start 2026-01-02T00:00:00Z; end 2026-01-01T00:00:00Z", "end: 2026-01-01T00:00:00.000Z lies before start, 2026-01-02T00:00:00.000Z; change one of them"},
      {"every 5s; colour blue", "colour: there is no such clause"},
      {"name a", "entry: give one of cron, every, at, after_end, working_day and worker_start"}};
  for (const auto& each : cases) {
    const std::string told = refusal_of({each.first}), wanted = std::string("schedule[0].") + each.second;
    CHECK_MESSAGE(told.starts_with(wanted), each.first << ": " << told);
  }
}

TEST_CASE("edit intake: a calendar that is known is asked") {
  model::Calendar weekend;
  weekend.name = "weekend";
  weekend.days = "sat,sun";
  const auto compiled = core::compile_calendar(weekend, std::make_shared<const model::ZoneRules>());
  REQUIRE(compiled);
  const core::CalendarHistory history{{WallTime{}, std::make_shared<const core::CompiledCalendar>(*compiled)}};
  const core::CalendarSource calendars = [&](std::string_view name) {
    return name == "weekend" ? std::make_shared<const core::CalendarHistory>(history) : nullptr;
  };
  CHECK(refusal_of({"cron 0 9 * * 6; calendars weekend"}, calendars) == "");
  CHECK(refusal_of({"cron 0 9 * * 1-5; calendars weekend"}, calendars).starts_with("schedule[0] can never fire"));
  CHECK(refusal_of({"cron 0 9 * * 6; calendars weekend,cn"}, calendars).starts_with("schedule[0].calendar: there is no calendar cn in"));
}

TEST_CASE("edit intake: what a calendar that covers no day any more lets fire no more is refused") {
  model::Calendar calendar;
  calendar.name = "year";
  calendar.covers = "2025-01-01..2025-12-31";
  calendar.beyond = model::BeyondCover::Hold;
  const auto compiled = core::compile_calendar(calendar, std::make_shared<const model::ZoneRules>());
  REQUIRE(compiled);
  const core::CalendarSource calendars = [&](std::string_view) {
    return std::make_shared<const core::CalendarHistory>(core::CalendarHistory{
        {WallTime{}, std::make_shared<const core::CompiledCalendar>(*compiled)}});
  };
  const WallTime before = wall_from_ms(1'767'000'000'000), after = wall_from_ms(1'768'000'000'000);  // the year ends
  const std::vector<std::string> daily = {"cron 0 9 * * *; calendars year"};
  CHECK(refusal_of(daily, calendars, before) == "");
  CHECK(refusal_of(daily, calendars, after) ==
        "schedule[0] can never fire again: calendar year leaves no day open from now on; let it cover more days first "
        "(rota calendar show)");
  CHECK(refusal_of({"every 1h", "after_end 5m; calendars year"}, calendars, after).starts_with("schedule[1] can never"));
  CHECK(refusal_of({"at 2025-03-03T09:00:00Z; calendars year"}, calendars, after) == "");  // over by itself
}

TEST_CASE("edit intake: entries without a clock are accepted, one delay after an end only") {
  CHECK(refusal_of({"after_end 5s; jitter 1s"}) == "");
  CHECK(refusal_of({"after_end 5s", "after_end 7s"}) == "schedule[1].after_end: another entry has it already; keep one");
  CHECK(refusal_of({"worker_start"}) == "");
  CHECK(refusal_of({"worker_start; jitter 5s; name up", "cron 0 9 * * *"}) == "");
  CHECK(refusal_of({"worker_start; between 09:30-16:00"}) ==
        "schedule[0].between: it does not go with @worker_start; remove it");
}

TEST_CASE("next ticks: each has the start that its jitter gives") {
  model::Schedule schedule;
  schedule.kind = model::ScheduleKind::Entries;
  schedule.entries = {"cron 0 * * * *; jitter 5m", "cron 30 * * * *"};
  const std::uint64_t hash = core::job_hash("default", "a");
  const auto ticks = next_ticks(schedule, hash, WallTime{}, WallTime{}, 3);
  REQUIRE(ticks);
  REQUIRE(ticks->starts.size() == 3);
  CHECK(ticks->starts[0] == ticks->at[0]);  // half past: its entry has none
  CHECK(ticks->starts[1] - ticks->at[1] == core::jitter_of(hash, std::chrono::minutes{5}));
  CHECK(ticks->starts[1] > ticks->at[1]);
  schedule.entries = {"cron 30 * * * *; name a"};
  CHECK(next_ticks(schedule, hash, WallTime{}, WallTime{}, 3)->starts.empty());
}

TEST_CASE("submit intake: equal definitions are one object") {
  SubmitIntake intake;
  const thrift::SubmitItem first = item_of("noop", "a"), second = item_of("noop", "b");
  const auto a = intake.accept(first), b = intake.accept(second);
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->definition == b->definition);
  CHECK(a->request_hash == b->request_hash);
  CHECK(b->request_key == "b");
}

TEST_CASE("submit intake: each item is accepted as it would be alone, whatever came before it") {
  thrift::SubmitItem wrong = item_of("noop");
  wrong.definition.rules.__set_overlap("sometimes");
  thrift::SubmitItem with_parameters = item_of("noop");
  with_parameters.__set_parameters({{"color", "red"}});
  thrift::SubmitItem with_others = item_of("noop");
  with_others.__set_parameters({{"color", "blue"}});
  thrift::SubmitItem bad_parameters = item_of("noop");
  bad_parameters.__set_parameters({{"", "red"}});
  thrift::SubmitItem without_key = item_of("noop", "");
  thrift::SubmitItem bad_key = item_of("noop", " x");
  thrift::SubmitItem scheduled = item_of("noop");
  scheduled.definition.rules.schedule.__set_kind("fixed_rate");
  thrift::SubmitItem nameless = item_of("noop");
  nameless.definition.__set_name("");
  const std::vector<thrift::SubmitItem> kinds{item_of("noop"), item_of("other"), wrong, with_parameters,
                                              with_others, bad_parameters, without_key, bad_key, scheduled,
                                              nameless};
  for (const thrift::SubmitItem& before : kinds) {
    for (const thrift::SubmitItem& after : kinds) {
      SubmitIntake intake;
      check_as_alone(intake, before);
      check_as_alone(intake, after);
      check_as_alone(intake, before);
    }
  }
}

}  // namespace rota::master::api
