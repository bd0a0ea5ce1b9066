// Calendars: each version once, read back as it was, and what a new Term gets of them.
#include <doctest/doctest.h>

#include "master/core/time/calendar_lead.h"
#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

model::CalendarRow a_row(const std::string& name, std::int32_t version, std::int64_t from_s) {
  model::Calendar calendar;
  calendar.name = name;
  calendar.description = nasty_text();
  calendar.time_zone = "UTC";
  calendar.days = "mon-fri";
  calendar.exclude = {"2026-12-25..2026-12-26", "2026-01-01"};
  calendar.include = {"2026-02-14"};
  calendar.hours = {{"2026-11-27", "09:30-13:00"}};
  calendar.covers = "2026-01-01..2026-12-31";
  calendar.beyond = model::BeyondCover::Hold;
  model::CalendarRow row;
  row.version = version;
  row.from = wall_from_ms(kBase + from_s * 1000);
  row.changed = wall_from_ms(kBase + from_s * 1000 - 10'000);
  row.principal = "local";
  row.calendar = std::make_shared<const model::Calendar>(std::move(calendar));
  return row;
}

model::CalendarRow a_deletion(const std::string& name, std::int32_t version, std::int64_t at_s) {
  model::CalendarRow row = a_row(name, version, at_s);
  row.deleted = true;
  row.why = "not wanted";
  return row;
}

void apply(const Backend& on, std::vector<model::CalendarRow> rows, std::optional<WallTime> watermark = {}) {
  core::Changes changes;
  changes.calendars = std::move(rows);
  if (watermark) changes.watermark = *watermark;
  const auto result = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
}

std::string words(const model::CalendarRow& row) {
  return row.calendar->name + " " + std::to_string(row.version) + (row.deleted ? " deleted" : "");
}

std::vector<std::string> words(const std::vector<model::CalendarRow>& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) out.push_back(words(row));
  return out;
}

std::vector<std::string> recovered(const Backend& on) {
  const auto all = on.office->recover();
  REQUIRE(all);
  std::vector<std::string> out;
  for (const auto& each : all->calendars) {
    CHECK(each.zone != nullptr);
    out.push_back(words(each.row));
  }
  return out;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("calendars: a version comes back as it went in, also when its batch is repeated") {
  ON_EACH_STORE(on, led_backends()) {
    const auto row = a_row("de", 1, 5);
    for (int i = 0; i < 3; ++i) apply(on, {row});
    const auto rows = on.reader->calendar_versions("default", "de");
    REQUIRE(rows);
    REQUIRE(rows->size() == 1);
    const model::CalendarRow& back = rows->front();
    CHECK(back.space == "default");
    CHECK(back.version == 1);
    CHECK(back.from == row.from);
    CHECK(back.changed == row.changed);
    CHECK(back.principal == "local");
    CHECK(!back.deleted);
    CHECK(*back.calendar == *row.calendar);
  }
}

TEST_CASE("calendars: a list has the newest version of each, without deleted ones") {
  ON_EACH_STORE(on, led_backends()) {
    apply(on, {a_row("cn", 1, 1), a_row("de", 1, 1), a_row("de_by", 1, 1), a_row("nyse", 1, 1)});
    apply(on, {a_row("de", 2, 20), a_deletion("cn", 2, 20)});
    CHECK(words(*on.reader->list_calendars("default", "", 100)) == Words{"de 2", "de_by 1", "nyse 1"});
    CHECK(words(*on.reader->list_calendars("default", "de", 100)) == Words{"de 2", "de_by 1"});
    CHECK(words(*on.reader->list_calendars("default", "de_", 100)) == Words{"de_by 1"});
    CHECK(words(*on.reader->list_calendars("default", "", 1)) == Words{"de 2"});
    CHECK(on.reader->list_calendars("other", "", 100)->empty());
    CHECK(words(*on.reader->calendar_versions("default", "cn")) == Words{"cn 1", "cn 2 deleted"});
    CHECK(on.reader->calendar_versions("default", "c")->empty());
  }
}

TEST_CASE("calendars: a Term begins with the version in force 33 days before the watermark and those behind it") {
  ON_EACH_STORE(on, led_backends()) {
    apply(on, {a_row("de", 1, 1), a_row("de", 2, 20), a_row("de", 3, 40), a_row("de", 4, 60)});
    CHECK(recovered(on) == Words{"de 1", "de 2", "de 3", "de 4"});
    const WallTime long_after = wall_from_ms(kBase) + std::chrono::days{33};
    apply(on, {}, long_after + Millis{39'999});
    CHECK(recovered(on) == Words{"de 2", "de 3", "de 4"});
    apply(on, {}, long_after + Millis{40'000});
    CHECK(recovered(on) == Words{"de 3", "de 4"});
    apply(on, {}, long_after + Millis{90'000});
    CHECK(recovered(on) == Words{"de 4"});
  }
}

TEST_CASE("calendars: a freeze that is not made up for needs the versions of its ticks") {
  ON_EACH_STORE(on, led_backends()) {
    apply(on, {a_row("de", 1, 1), a_row("de", 2, 20), a_row("de", 3, 40)}, wall_from_ms(kBase) + std::chrono::days{90});
    CHECK(recovered(on) == Words{"de 3"});
    core::Changes changes;
    changes.freezes = {{5, "", wall_from_ms(kBase) + std::chrono::days{33} + Millis{25'000}, wall_from_ms(kBase * 2), {},
                        "ann", "", JobId{}, false}};
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    CHECK(recovered(on) == Words{"de 2", "de 3"});
  }
}

TEST_CASE("calendars: of a deleted one a Term knows the last version, of a new one of its name nothing older") {
  ON_EACH_STORE(on, led_backends()) {
    apply(on, {a_row("de", 1, 1), a_row("de", 2, 20), a_deletion("de", 3, 30), a_row("us", 1, 1)});
    CHECK(recovered(on) == Words{"de 3 deleted", "us 1"});
    apply(on, {a_row("de", 4, 35)});
    CHECK(recovered(on) == Words{"de 4", "us 1"});
  }
}

TEST_CASE("calendars: an edit that a rewind finds ahead of its moment is one of that moment") {
  ON_EACH_STORE(on, led_backends()) {
    apply(on, {a_row("de", 1, 0), a_row("de", 2, 100), a_row("de", 3, 5000), a_row("de", 4, 5010)}, wall_from_ms(kBase + 6'000'000));
    REQUIRE(on.office->enter_office(Epoch{2}, "operator"));
    const WallTime to = wall_from_ms(kBase + 1'000'000), from = wall_from_ms(kBase + 6'000'000);
    REQUIRE(on.office->rewind({Epoch{2}, from, from, to, {}, {}}));
    const auto rows = on.reader->calendar_versions("default", "de");
    REQUIRE(rows->size() == 4);
    CHECK(rows->at(1).from == wall_from_ms(kBase + 100'000));
    CHECK(rows->at(1).changed == wall_from_ms(kBase + 90'000));
    CHECK(rows->at(2).changed == to);
    CHECK(rows->at(2).from == to + core::kCalendarLead + Millis{3});
    CHECK(rows->at(3).from == to + core::kCalendarLead + Millis{4});
  }
}
