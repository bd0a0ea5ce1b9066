#include "calendar_reading.h"

#include <algorithm>
#include <chrono>

#include "master/core/time/cron_hash.h"
#include "sim_zones.h"

namespace rota::sim {

using model::EntryKind;
using model::kMillisOfDay;
using model::Otherwise;

namespace {

constexpr Millis kDay{kMillisOfDay};
constexpr int kFarthest = 15;            ///< days by which a tick is moved at most
constexpr WallTime kBegin = WallTime::min();

model::Day day_numbered(std::int64_t number) { return model::Day{std::chrono::days{number}}; }

bool holds(const model::DayRange& range, std::int64_t day) {
  return range.first <= day_numbered(day) && day_numbered(day) <= range.last;
}

bool hold(const std::vector<model::DayRange>& ranges, std::int64_t day) {
  return std::ranges::any_of(ranges, [&](const model::DayRange& range) { return holds(range, day); });
}

Result<Millis> ahead_of_utc(const std::string& zone_name) {
  const auto zone = sim_zone(zone_name);
  if (!zone) return fail(zone.error());
  return Millis{(*zone)->changes.front().offset_s * std::int64_t{1000}};
}

Result<std::vector<model::DayRange>> ranges_in(const std::vector<std::string>& texts) {
  std::vector<model::DayRange> out;
  for (const std::string& text : texts) {
    const auto range = model::day_range_from_text(text);
    if (!range) return fail(range.error());
    out.push_back(*range);
  }
  return out;
}

}  // namespace

Result<CalendarSays> CalendarSays::of(const model::CalendarRow& row) {
  const model::Calendar& calendar = *row.calendar;
  CalendarSays out;
  out.from_ = row.from;
  out.holds_ = calendar.beyond == model::BeyondCover::Hold;
  const auto weekdays = model::weekdays_from_text(calendar.days);
  const auto include = ranges_in(calendar.include), exclude = ranges_in(calendar.exclude);
  const auto ahead = ahead_of_utc(calendar.time_zone);
  if (!weekdays || !include || !exclude || !ahead) return fail(ErrorCode::Corrupt, "a calendar cannot be read");
  out.weekdays_ = *weekdays;
  out.include_ = *include;
  out.exclude_ = *exclude;
  out.ahead_ = *ahead;
  for (const auto& [days, times] : calendar.hours) {
    const auto range = model::day_range_from_text(days);
    const auto open = model::clock_range_from_text(times);
    if (!range || !open) return fail(ErrorCode::Corrupt, "hours of a calendar cannot be read");
    out.hours_.push_back({*range, *open});
  }
  if (calendar.covers.empty()) return out;
  const auto covers = model::day_range_from_text(calendar.covers);
  if (!covers) return fail(covers.error());
  out.covers_ = *covers;
  return out;
}

CalendarSays::Day CalendarSays::on(std::int64_t day) const {
  const bool is_covered = !covers_ || holds(*covers_, day);
  if (!is_covered && holds_) return Day::Nothing;
  if (is_covered && hold(include_, day)) return Day::Open;
  if (is_covered && hold(exclude_, day)) return Day::Closed;
  const unsigned weekday = std::chrono::weekday{day_numbered(day)}.c_encoding();
  return (weekdays_ >> weekday & 1u) != 0 ? Day::Open : Day::Closed;
}

bool CalendarSays::is_in_hours(std::int64_t day, WallTime at) const {
  const Millis clock = at + ahead_ - WallTime{} - day * kDay;
  return std::ranges::all_of(hours_, [&](const Hours& each) { return !holds(each.days, day) || each.open.has(clock.count()); });
}

Result<EntryReading> EntryReading::of(model::ScheduleEntry entry, std::vector<std::vector<CalendarSays>> calendars,
                                      WallTime anchor, std::uint64_t job_hash) {
  EntryReading out;
  out.calendars_ = std::move(calendars);
  out.anchor_ = entry.start.value_or(anchor);
  const auto ahead = ahead_of_utc(entry.time_zone);
  if (!ahead) return fail(ahead.error());
  out.ahead_ = *ahead;
  if (!entry.between.empty()) {
    const auto between = model::clock_range_from_text(entry.between);
    if (!between) return fail(between.error());
    out.between_ = *between;
  }
  if (entry.kind == EntryKind::Cron) {
    auto cron = master::core::parse_cron(entry.cron, entry.dialect, job_hash);
    if (!cron) return fail(cron.error());
    out.cron_ = std::move(*cron);
    std::size_t days = 0;                // where the fields of days begin
    for (int field = 0; field < 3; ++field) days = entry.cron.find(' ', days) + 1;
    auto every_day = master::core::parse_cron(entry.cron.substr(0, days) + "* * *", entry.dialect, job_hash);
    if (!every_day) return fail(every_day.error());
    out.every_day_ = std::move(*every_day);
  }
  out.entry_ = std::move(entry);
  return out;
}

std::int64_t EntryReading::day_of(WallTime at) const {
  return std::chrono::floor<std::chrono::days>(at + ahead_ - WallTime{}).count();
}

bool EntryReading::is_between(WallTime at) const {
  if (entry_.between.empty()) return true;
  const std::int64_t clock = (at + ahead_ - WallTime{} - day_of(at) * kDay).count();
  if (between_.from_ms < between_.to_ms) return between_.has(clock);
  return clock >= between_.from_ms || clock < between_.to_ms;
}

/// The first version of a calendar also holds for all time before it.
EntryReading::InForce EntryReading::in_force(WallTime at) const {
  InForce out;
  for (const Versions& versions : calendars_) {
    const CalendarSays* found = &versions.front();
    for (const CalendarSays& version : versions) {
      if (version.from() <= at) found = &version;
    }
    out.push_back(found);
  }
  return out;
}

bool EntryReading::is_open(WallTime at, const InForce& versions) const {
  const std::int64_t asked = day_of(at) + entry_.day;
  return std::ranges::all_of(versions, [&](const CalendarSays* version) {
    return version->on(asked) == CalendarSays::Day::Open && version->is_in_hours(asked, at);
  });
}

bool EntryReading::is_held(WallTime at, const InForce& versions) const {
  const std::int64_t asked = day_of(at) + entry_.day;
  return std::ranges::any_of(
      versions, [&](const CalendarSays* version) { return version->on(asked) == CalendarSays::Day::Nothing; });
}

bool EntryReading::is_open(WallTime at) const { return is_between(at) && is_open(at, in_force(at)); }

/// What its cron, rate or moment says, without calendars, in (after, through].
std::vector<WallTime> EntryReading::own_times(WallTime after, WallTime through) const {
  std::vector<WallTime> out;
  if (entry_.kind == EntryKind::At && *entry_.start > after && *entry_.start <= through) out.push_back(*entry_.start);
  if (entry_.kind == EntryKind::Every) {
    const WallTime first = entry_.start ? anchor_ : anchor_ + entry_.interval;
    const std::int64_t passed = after < first ? 0 : (after - first) / entry_.interval + 1;
    for (WallTime at = first + passed * entry_.interval; at <= through; at += entry_.interval) out.push_back(at);
  }
  if (entry_.kind == EntryKind::Cron) {
    using std::chrono::seconds;
    const std::int64_t before_s = std::chrono::floor<seconds>(after + ahead_).time_since_epoch().count();
    const std::int64_t last_s = std::chrono::floor<seconds>(through + ahead_).time_since_epoch().count();
    for (auto local = master::core::next_local_match(cron_, before_s + 1); local && *local <= last_s;
         local = master::core::next_local_match(cron_, *local + 1)) {
      out.push_back(wall_from_ms(*local * 1000) - ahead_);
    }
  }
  std::erase_if(out, [this](WallTime at) { return !is_between(at); });
  return out;
}

void EntryReading::plan(WallTime after, WallTime through, const Found& found) const {
  if (entry_.start && entry_.kind != EntryKind::At) after = std::max(after, *entry_.start - Millis{1});
  if (entry_.end) through = std::min(through, *entry_.end);
  if (entry_.kind == EntryKind::AfterEnd) return;
  if (entry_.kind == EntryKind::WorkingDay) return plan_working_days(after, through, found);
  if (entry_.otherwise != Otherwise::Skip) return plan_moved(after, through, found);
  for (const WallTime own : own_times(after, through)) {
    if (is_open(own)) found(own, Planned::OnItsDay);
  }
}

/// Most windows are short, and looked at for one day instead of all.
bool EntryReading::has_none_on_any_day(WallTime after, WallTime through) const {
  if (entry_.kind != EntryKind::Cron) return false;
  using std::chrono::seconds;
  const std::int64_t before_s = std::chrono::floor<seconds>(after + ahead_).time_since_epoch().count();
  const std::int64_t last_s = std::chrono::floor<seconds>(through + ahead_).time_since_epoch().count();
  const auto first = master::core::next_local_match(every_day_, before_s + 1);
  return !first || *first > last_s;
}

/// Whatever falls into these moments comes from the same time of one of the days around.
void EntryReading::plan_moved(WallTime after, WallTime through, const Found& found) const {
  if (has_none_on_any_day(after, through)) return;
  const bool is_next = entry_.otherwise == Otherwise::Next;
  for (int days = 0; days <= kFarthest; ++days) {
    const Millis away = (is_next ? -days : days) * kDay;
    for (const WallTime own : own_times(after + away, through + away)) {
      if (placed(own) != own - away) continue;
      found(own - away, days == 0 ? Planned::OnItsDay : is_next ? Planned::MovedOn : Planned::MovedBack);
    }
  }
}

/// Day by day to the first open one. The versions that are asked are those in force on each day then, or `fixed`.
std::optional<WallTime> EntryReading::walked(WallTime own, const InForce* fixed, WallTime known) const {
  for (int days = 0; days <= kFarthest; ++days) {
    const WallTime there = own + (entry_.otherwise == Otherwise::Next ? days : -days) * kDay;
    const InForce versions = fixed != nullptr ? *fixed : in_force(std::min(there, known));
    if (is_open(there, versions)) return there;
    if (entry_.otherwise == Otherwise::Skip || is_held(there, versions)) return std::nullopt;
  }
  return std::nullopt;
}

/// The moments at which a calendar was edited, behind the beginning.
std::vector<WallTime> EntryReading::switches(WallTime known) const {
  std::vector<WallTime> out = {kBegin};
  for (const Versions& versions : calendars_) {
    for (std::size_t i = 1; i < versions.size(); ++i) out.push_back(versions[i].from());
  }
  std::erase_if(out, [known](WallTime at) { return at > known; });
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// What is moved back falls before its own day, perhaps before an edit. So the first versions decide by which it
/// falls into the time in which they are in force.
std::optional<WallTime> EntryReading::placed(WallTime own, WallTime known) const {
  if (entry_.otherwise != Otherwise::Previous) return walked(own, nullptr, known);
  const auto begins = switches(known);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const InForce versions = in_force(begins[i]);
    const auto there = walked(own, &versions);
    const bool is_over = i + 1 < begins.size() && there && *there >= begins[i + 1];
    if (there && *there >= begins[i] && !is_over) return there;
  }
  return std::nullopt;
}

void EntryReading::plan_working_days(WallTime after, WallTime through, const Found& found) const {
  using namespace std::chrono;
  const year_month_day date{day_numbered(day_of(after))};
  for (year_month month = date.year() / date.month(); sys_days{month / 1} <= day_numbered(day_of(through)); month += months{1}) {
    const auto number = [](sys_days day) { return std::int64_t{day.time_since_epoch().count()}; };
    const auto [known, is_new] = working_days_.try_emplace(number(month / 1));
    if (is_new) known->second = working_day(number(month / 1), number(month / last));
    const auto at = known->second;
    if (at && *at > after && *at <= through) found(*at, Planned::WorkingDay);
  }
}

/// The day of the month by these versions, at the time of day.
std::optional<WallTime> EntryReading::nth_open(std::int64_t first, std::int64_t last, const InForce& versions) const {
  const Millis clock{entry_.time.empty() ? 0 : model::clock_from_text(entry_.time).value_or(0)};
  std::vector<std::int64_t> open;
  for (std::int64_t day = first; day <= last; ++day) {
    const bool is_one = std::ranges::all_of(
        versions, [&](const CalendarSays* version) { return version->on(day) == CalendarSays::Day::Open; });
    if (is_one) open.push_back(day);
  }
  const auto count = static_cast<std::int64_t>(open.size());
  const std::int64_t index = entry_.working_day > 0 ? entry_.working_day - 1 : count + entry_.working_day;
  if (index < 0 || index >= count) return std::nullopt;
  return WallTime{} + open[static_cast<std::size_t>(index)] * kDay + clock - ahead_;
}

/// Once in a month, like what is moved back.
std::optional<WallTime> EntryReading::working_day(std::int64_t first, std::int64_t last, WallTime known) const {
  const auto begins = switches(known);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const auto at = nth_open(first, last, in_force(begins[i]));
    if (at && *at >= begins[i] && (i + 1 == begins.size() || *at < begins[i + 1])) return at;
  }
  return std::nullopt;
}

/// Of one logical time. When several edits until a moment take it away, the last of them does; and what falls
/// anywhere by all that is known then is not taken away.
std::vector<WallTime> EntryReading::edited_away(const Place& place) const {
  std::vector<WallTime> out;
  const auto begins = switches();
  const auto taken_by = [&](std::size_t i) -> std::optional<WallTime> {
    const InForce older = in_force(begins[i - 1]), newer = in_force(begins[i]);
    const auto before = place(&older, begins[i]), after = place(&newer, begins[i]);
    return before && after && *before >= begins[i] && *after < begins[i] ? before : std::nullopt;
  };
  for (std::size_t i = 1; i < begins.size(); ++i) {
    const auto moment = taken_by(i);
    bool is_last = moment.has_value();
    for (std::size_t later = i + 1; is_last && later < begins.size() && begins[later] <= *moment; ++later) {
      is_last = !taken_by(later);
    }
    if (is_last && !place(nullptr, *moment)) out.push_back(*moment);
  }
  return out;
}

void EntryReading::plan_edited_away(WallTime after, WallTime through,
                                    const std::function<void(WallTime)>& found) const {
  if (switches().size() < 2) return;
  if (entry_.start && entry_.kind != EntryKind::At) after = std::max(after, *entry_.start - Millis{1});
  if (entry_.end) through = std::min(through, *entry_.end);
  const auto tell = [&](const std::vector<WallTime>& moments) {
    for (const WallTime at : moments) {
      if (at > after && at <= through) found(at);
    }
  };
  if (entry_.kind == EntryKind::WorkingDay) {
    using namespace std::chrono;
    const year_month_day date{day_numbered(day_of(through))};
    const std::int64_t first = sys_days{date.year() / date.month() / 1}.time_since_epoch().count();
    const std::int64_t end = sys_days{date.year() / date.month() / last}.time_since_epoch().count();
    const auto [known, is_new] = working_days_edited_away_.try_emplace(first);
    if (!is_new) return tell(known->second);
    known->second = edited_away([&](const InForce* alone, WallTime until) {
      return alone != nullptr ? nth_open(first, end, *alone) : working_day(first, end, until);
    });
    return tell(known->second);
  }
  if (entry_.otherwise == Otherwise::Skip || has_none_on_any_day(after, through)) return;
  const bool is_next = entry_.otherwise == Otherwise::Next;
  for (int days = 0; days <= kFarthest; ++days) {
    const Millis away = (is_next ? -days : days) * kDay;
    for (const WallTime own : own_times(after + away, through + away)) {
      tell(edited_away([&](const InForce* alone, WallTime known) {
        return alone != nullptr ? walked(own, alone) : placed(own, known);
      }));
    }
  }
}

std::int64_t EntryReading::left_out(WallTime after, WallTime through) const {
  const bool may_be = (entry_.kind == EntryKind::Cron || entry_.kind == EntryKind::Every) && entry_.otherwise == Otherwise::Skip;
  if (!may_be) return 0;
  return std::ranges::count_if(own_times(after, through), [this](WallTime at) { return !is_open(at); });
}

std::int64_t EntryReading::decided_at_edit(WallTime after, WallTime through) const {
  const auto begins = switches();
  return std::ranges::count_if(begins, [&](WallTime begin) {
    if (begin <= after || begin > through || own_times(begin - Millis{1}, begin).empty()) return false;
    return is_open(begin, in_force(begin)) != is_open(begin, in_force(begin - Millis{1}));
  });
}

}  // namespace rota::sim
