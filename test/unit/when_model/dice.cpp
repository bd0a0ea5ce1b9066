#include "dice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/duration_text.h"
#include "common/model/day_text.h"
#include "common/time/zones.h"
#include "master/core/time/cron.h"
#include "master/core/time/cron_hash.h"

namespace rota::when_model {

const std::vector<std::string> kZones = {"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                                         "Asia/Kolkata", "Pacific/Auckland", "America/St_Johns"};

namespace {

constexpr const char* kDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

std::set<int> all_of(int low, int high, int step = 1) {
  std::set<int> out;
  for (int value = low; value <= high; value += step) out.insert(value);
  return out;
}

/// A list of values and ranges.
std::string list(Dice& dice, int low, int high, std::set<int>& values) {
  std::vector<std::string> items;
  for (std::int64_t left = dice.pick(1, 3); left > 0; --left) {
    const int first = static_cast<int>(dice.pick(low, high));
    const int last = dice.chance(30) ? static_cast<int>(dice.pick(first, std::min(high, first + 4))) : first;
    for (int value = first; value <= last; ++value) values.insert(value);
    items.push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
  }
  return fmt::format("{}", fmt::join(items, ","));
}

/// What H stands for is the parser's to say; that it keeps to its range, and stays, is looked at.
std::string hashed(Dice& dice, bool is_hour, const std::pair<std::string, std::string>& key, std::set<int>& values) {
  const int high = static_cast<int>(is_hour ? dice.pick(1, 23) : dice.pick(1, 59));
  const int low = static_cast<int>(dice.pick(0, high));
  const std::string text = fmt::format("H({}-{})", low, high);
  const std::string cron = is_hour ? fmt::format("0 {} * * *", text) : fmt::format("{} 0 * * *", text);
  const auto read = master::core::parse_cron(cron, model::CronDialect::Unix,
                                             master::core::job_hash(key.first, key.second));
  REQUIRE(read);
  const std::uint64_t bits = is_hour ? read->hours : read->minutes;
  REQUIRE(std::has_single_bit(bits));
  values = {std::countr_zero(bits)};
  CHECK_MESSAGE((*values.begin() >= low && *values.begin() <= high), text, " stands for ", *values.begin());
  return text;
}

struct DateField {
  std::string month_day = "*", weekday = "*";
  std::function<bool(std::chrono::year_month_day)> is_its_date = [](auto) { return true; };
};

int weekday_of(std::chrono::year_month_day date) {
  return static_cast<int>(std::chrono::weekday{std::chrono::sys_days{date}}.c_encoding());
}

int day_number(std::chrono::year_month_day date) { return static_cast<int>(unsigned(date.day())); }

int last_of(std::chrono::year_month_day date) {
  return day_number(std::chrono::year_month_day{date.year() / date.month() / std::chrono::last});
}

DateField unix_dates(Dice& dice) {
  DateField out;
  std::set<int> month_days, weekdays;
  const std::int64_t kind = dice.pick(0, 3);
  if (kind == 1 || kind == 3) out.month_day = list(dice, 1, 31, month_days);
  if (kind >= 2) out.weekday = list(dice, 0, 6, weekdays);
  out.is_its_date = [=](std::chrono::year_month_day date) {
    const bool by_day = month_days.contains(day_number(date)), by_weekday = weekdays.contains(weekday_of(date));
    return kind == 0 || (kind == 1 && by_day) || (kind == 2 && by_weekday) || (kind == 3 && (by_day || by_weekday));
  };
  return out;
}

/// The working day nearest to that one, in its month.
bool is_nearest_weekday(std::chrono::year_month_day date, int wanted) {
  using namespace std::chrono;
  const sys_days first{date.year() / date.month() / 1};
  if (wanted > last_of(date)) return false;
  const auto is_weekday = [](sys_days day) { return weekday{day} != Saturday && weekday{day} != Sunday; };
  const sys_days there = first + days{wanted - 1}, end = first + days{last_of(date) - 1};
  for (int far = 0; far < 3; ++far) {
    for (const sys_days day : {there - days{far}, there + days{far}}) {
      if (day >= first && day <= end && is_weekday(day)) return day == sys_days{date};
    }
  }
  return false;
}

DateField quartz_dates(Dice& dice) {
  DateField out;
  const int number = static_cast<int>(dice.pick(1, 28)), weekday = static_cast<int>(dice.pick(0, 6));
  const int nth = static_cast<int>(dice.pick(1, 4)), before = static_cast<int>(dice.pick(1, 9));
  out.weekday = "?";
  switch (dice.pick(0, 6)) {
    case 0:
      out.month_day = "L";
      out.is_its_date = [](auto date) { return day_number(date) == last_of(date); };
      break;
    case 1:
      out.month_day = fmt::format("L-{}", before);
      out.is_its_date = [=](auto date) { return day_number(date) == last_of(date) - before; };
      break;
    case 2:
      out.month_day = fmt::format("{}W", number);
      out.is_its_date = [=](auto date) { return is_nearest_weekday(date, number); };
      break;
    case 3:
      out.month_day = "?";
      out.weekday = fmt::format("{}#{}", weekday + 1, nth);
      out.is_its_date = [=](auto date) { return weekday_of(date) == weekday && (day_number(date) - 1) / 7 == nth - 1; };
      break;
    case 4:
      out.month_day = "?";
      out.weekday = fmt::format("{}L", weekday + 1);
      out.is_its_date = [=](auto date) { return weekday_of(date) == weekday && day_number(date) + 7 > last_of(date); };
      break;
    case 5:
      out.month_day = "?";
      out.weekday = "MON-FRI";
      out.is_its_date = [](auto date) { return weekday_of(date) != 0 && weekday_of(date) != 6; };
      break;
    default: break;
  }
  return out;
}

void make_cron(Dice& dice, PlainEntry& entry, const std::pair<std::string, std::string>& key, bool is_sparse) {
  const bool is_quartz = dice.chance(40);
  std::string minute, hour, second = "0";
  entry.seconds = {0};
  const auto changing = dice.changing_hour(entry.zone->name);
  const bool is_at_change = changing && dice.chance(50);
  const std::int64_t kind = is_at_change ? 5 : is_sparse ? dice.pick(2, 5) : dice.pick(0, 4);
  if (kind == 0) {
    const int step = static_cast<int>(dice.pick(1, 20));
    minute = step == 1 ? "*" : fmt::format("*/{}", step);
    entry.minutes = all_of(0, 59, step);
    entry.elapses = true;
  } else if (kind == 4) {
    minute = hashed(dice, false, key, entry.minutes);
  } else if (dice.chance(30)) {  // where the clocks' gaps and overlaps begin and end
    minute = "0";
    entry.minutes = {0};
  } else {
    minute = list(dice, 0, 59, entry.minutes);
  }
  if (is_at_change) {
    hour = std::to_string(*changing);
    entry.hours = {*changing};
  } else if (kind <= 2 && dice.chance(60)) {
    hour = "*";
    entry.hours = all_of(0, 23);
    entry.elapses = true;
  } else if (kind == 4 && dice.chance(50)) {
    hour = hashed(dice, true, key, entry.hours);
  } else {
    hour = list(dice, dice.chance(40) ? 1 : 0, dice.chance(40) ? 3 : 23, entry.hours);
  }
  if (is_quartz && dice.chance(20)) {
    entry.seconds.clear();
    second = list(dice, 0, 59, entry.seconds);
  }
  const DateField dates = is_quartz ? quartz_dates(dice) : unix_dates(dice);
  entry.is_its_date = dates.is_its_date;
  const std::string date = fmt::format("{} * {}", dates.month_day, dates.weekday);
  entry.line = is_quartz ? fmt::format("cron {} {} {} {}", second, minute, hour, date)
                         : fmt::format("cron {} {} {}", minute, hour, date);
  // Where clocks pass over half an hour, Quartz passes over more: when_against_quartz asks Quartz itself.
  const bool is_by_hours = entry.zone->name != "Australia/Lord_Howe";
  entry.is_as_quartz = is_quartz && entry.move == Move::Skip && dice.chance(30) && is_by_hours;
}

std::string clock_text(Ms clock) { return fmt::format("{:02}:{:02}", clock / 3'600'000, clock / kMinute % 60); }

void add_hours(Dice& dice, PlainEntry& entry) {
  const Ms from = dice.pick(0, 1439) * kMinute, to = dice.pick(0, 1439) * kMinute;
  if (from == to) return;
  entry.between = {from, to};
  entry.line += fmt::format("; between {}-{}", clock_text(from), clock_text(to));
}

void add_calendars(Dice& dice, PlainEntry& entry, const std::vector<std::string>& calendars) {
  if (calendars.empty() || !dice.chance(60)) return;
  entry.calendars.push_back(dice.one_of(calendars));
  const std::string other = dice.one_of(calendars);
  if (dice.chance(30) && other != entry.calendars.front()) entry.calendars.push_back(other);
}

void add_zone_rules(Dice& dice, PlainEntry& entry) {
  if (entry.is_as_quartz) entry.line += "; skipped_time quartz";
  const bool takes_rules = (entry.kind == Kind::Cron && !entry.is_as_quartz) || entry.kind == Kind::WorkingDay;
  if (!takes_rules) return;
  entry.skips_gap = dice.chance(30);
  if (entry.skips_gap) entry.line += "; skipped_time skip";
  entry.repeated = dice.one_of(std::vector{Repeated::First, Repeated::Second, Repeated::Both});
  if (entry.repeated == Repeated::Second) entry.line += "; repeated_time second";
  if (entry.repeated == Repeated::Both) entry.line += "; repeated_time both";
}

std::string text_of(Day day) { return model::day_to_text(model::Day{std::chrono::days{day}}); }

}  // namespace

Ms Dice::begin() {
  constexpr Ms kFirst = 1'772'000'000'000, kNewYear = 1'798'761'600'000, kLast = 1'830'000'000'000;
  home_ = one_of(kZones);
  std::vector<Ms> changes;
  const auto zone = timezone::load_zone(home_);
  REQUIRE(zone);
  for (const model::ZoneChange& change : (*zone)->changes) {
    const bool is_meant = change.from_utc_s > kFirst / 1000 && change.from_utc_s < kLast / 1000;
    if (is_meant) changes.push_back(change.from_utc_s * 1000);
  }
  const bool is_new_year = changes.empty() || chance(10);
  const Ms around = is_new_year ? kNewYear : one_of(changes);
  if (!is_new_year) {
    const Ms before = offset_at(**zone, around - 1), after = offset_at(**zone, around);
    changing_hour_ = static_cast<int>((around + std::min(before, after)) % kDay / 3'600'000);
  }
  return around - pick(0, 6 * 86'400) * 1000;
}

std::optional<int> Dice::changing_hour(const std::string& zone) const {
  return zone == home_ ? changing_hour_ : std::nullopt;
}

std::string Dice::zone() { return chance(50) ? home_ : one_of(kZones); }

model::ZonePtr zone_near(const std::string& name, Ms moment) {
  const auto zone = timezone::load_zone(name);
  REQUIRE(zone);
  constexpr std::int64_t kYear = 400 * 86'400;
  model::ZoneRules out{name, {}};
  for (const model::ZoneChange& change : (*zone)->changes) {
    if (change.from_utc_s > moment / 1000 + kYear) break;
    if (change.from_utc_s < moment / 1000 - kYear) out.changes.clear();
    out.changes.push_back(change);
  }
  return std::make_shared<const model::ZoneRules>(std::move(out));
}

bool is_near_a_change(Ms moment) {
  return std::ranges::any_of(kZones, [&](const std::string& name) {
    const auto zone = zone_near(name, moment);
    return offset_at(*zone, moment - 4 * 3'600'000) != offset_at(*zone, moment + 4 * 3'600'000);
  });
}

PlainEntry random_entry(Dice& dice, Ms now, const std::pair<std::string, std::string>& key,
                        const std::vector<std::string>& calendars) {
  PlainEntry entry;
  const std::string zone = dice.zone();
  entry.zone = zone_near(zone, now);
  const std::int64_t kind = dice.pick(0, 19);
  entry.kind = kind < 11 ? Kind::Cron : kind < 16 ? Kind::Every : kind < 18 ? Kind::WorkingDay : Kind::At;
  add_calendars(dice, entry, calendars);
  const bool may_move = entry.kind == Kind::Cron || entry.kind == Kind::At;
  if (!entry.calendars.empty() && may_move) {
    entry.move = dice.one_of(std::vector{Move::Skip, Move::Skip, Move::Next, Move::Previous});
  }
  switch (entry.kind) {
    case Kind::Cron: make_cron(dice, entry, key, entry.move != Move::Skip); break;
    case Kind::Every:
      entry.interval = dice.pick(1, 2) == 1 ? dice.pick(1, 40) * kMinute : dice.pick(20, 4000) * 1000;
      entry.line = fmt::format("every {}ms", entry.interval);
      break;
    case Kind::WorkingDay:
      entry.nth = static_cast<int>(dice.one_of(std::vector<std::int64_t>{1, 2, 3, 5, 10, 15, 20, -1, -2, -5, -15}));
      entry.clock = dice.pick(0, 1439) * kMinute;
      entry.line = fmt::format("working_day {}; time {}", entry.nth, clock_text(entry.clock));
      break;
    default:
      entry.at = now / kMinute * kMinute + dice.pick(-1000, 40'000) * kMinute;
      entry.line = "at " + format_moment(wall_from_ms(entry.at));
      break;
  }
  if (entry.kind == Kind::Cron || entry.kind == Kind::Every) {
    if (dice.chance(25)) add_hours(dice, entry);
  }
  entry.line += "; time_zone " + zone;
  add_zone_rules(dice, entry);
  if (!entry.calendars.empty()) entry.line += fmt::format("; calendars {}", fmt::join(entry.calendars, ","));
  if (entry.move != Move::Skip) entry.line += entry.move == Move::Next ? "; otherwise next" : "; otherwise previous";
  if (!entry.calendars.empty() && entry.kind != Kind::WorkingDay && dice.chance(25)) {
    entry.asked_day = dice.chance(70) ? -1 : 1;
    entry.line += fmt::format("; day {}", entry.asked_day);
  }
  if (dice.chance(15)) {
    const Millis most{dice.pick(1, 300) * 1000};
    entry.line += fmt::format("; jitter {}ms", most.count());
    // How much of it is the job's is the product's to say; that it keeps to it is looked at.
    entry.jitter = master::core::jitter_of(master::core::job_hash(key.first, key.second), most).count();
    CHECK((entry.jitter >= 0 && entry.jitter <= most.count()));
  }
  if (entry.kind != Kind::At && dice.chance(15)) {
    entry.start = now / 1000 * 1000 + dice.pick(-5000, 5000) * kMinute;
    entry.line += "; start " + format_moment(wall_from_ms(*entry.start));
  }
  if (entry.kind != Kind::At && dice.chance(10)) {
    entry.end = std::max(now, entry.start.value_or(now)) / 1000 * 1000 + dice.pick(1, 30'000) * kMinute;
    entry.line += "; end " + format_moment(wall_from_ms(*entry.end));
  }
  return entry;
}

PlainEntry random_after_end(Dice& dice, Ms now, const std::vector<std::string>& calendars) {
  PlainEntry entry;
  const std::string zone = dice.zone();
  entry.kind = Kind::AfterEnd;
  entry.zone = zone_near(zone, now);
  entry.interval = dice.pick(1, 600) * 1000 * dice.pick(1, 60);
  entry.line = fmt::format("after_end {}ms; time_zone {}", entry.interval, zone);
  add_calendars(dice, entry, calendars);
  if (!entry.calendars.empty()) entry.line += fmt::format("; calendars {}", fmt::join(entry.calendars, ","));
  if (dice.chance(50)) add_hours(dice, entry);
  return entry;
}

std::pair<model::Calendar, PlainCalendar> random_calendar(Dice& dice, const std::string& name, Ms now) {
  model::Calendar out;
  PlainCalendar plain;
  const Day today = now / kDay;
  out.name = name;
  out.description = fmt::format("made by dice, {}", dice.pick(0, 1'000'000));  // no two versions are alike
  out.time_zone = dice.zone();
  plain.zone = zone_near(out.time_zone, now);
  std::vector<std::string> days;
  for (int weekday = 0; weekday < 7; ++weekday) {
    if (!dice.chance(75) && weekday != 3) continue;
    plain.weekdays.insert(weekday);
    days.emplace_back(kDays[weekday]);
  }
  out.days = fmt::format("{}", fmt::join(days, ","));
  for (std::int64_t left = dice.pick(0, 6); left > 0; --left) {
    const Day first = today + dice.pick(-10, 60), last = first + (dice.chance(30) ? dice.pick(1, 9) : 0);
    out.exclude.push_back(first == last ? text_of(first) : text_of(first) + ".." + text_of(last));
    for (Day day = first; day <= last; ++day) plain.exclude.insert(day);
  }
  for (std::int64_t left = dice.pick(0, 4); left > 0; --left) {
    const Day day = today + dice.pick(-10, 60);
    out.include.push_back(text_of(day));
    plain.include.insert(day);
  }
  for (std::int64_t left = dice.pick(0, 4); left > 0; --left) {
    const Day day = today + dice.pick(-5, 40);
    const Ms from = dice.pick(0, 1200) * kMinute, to = from + dice.pick(1, 239) * kMinute;
    if (!plain.hours.insert({day, {from, to}}).second) continue;
    out.hours[text_of(day)] = clock_text(from) + "-" + clock_text(to);
  }
  if (dice.chance(30)) {
    plain.covers = {today - dice.pick(0, 20), today + dice.pick(5, 60)};
    out.covers = text_of(plain.covers->first) + ".." + text_of(plain.covers->second);
    plain.holds = dice.chance(50);
    if (plain.holds) out.beyond = model::BeyondCover::Hold;
  }
  return {std::move(out), std::move(plain)};
}

}  // namespace rota::when_model
