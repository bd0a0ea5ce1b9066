#include "calendar_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/duration_text.h"
#include "common/model/day_text.h"
#include "sim_zones.h"

namespace rota::sim {

using std::chrono_literals::operator""s;

namespace {

constexpr std::int64_t kDaySeconds = 86'400;
constexpr Millis kLife = 130s;           ///< so long, about, there are ticks
constexpr int kDaysAround = 2;

std::string day_text(std::int64_t day) { return model::day_to_text(model::Day{std::chrono::days{day}}); }

std::string clock_text(std::int64_t second) {
  return fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
}

}  // namespace

CalendarDraw::CalendarDraw(Random& dice, const Clockwork& clockwork)
    : dice_(dice), clockwork_(clockwork), start_(clockwork.true_wall()) {
  const std::int64_t start_s = std::chrono::floor<std::chrono::seconds>(start_).time_since_epoch().count();
  const std::int64_t midnight_in = 10 + dice_.below(80);
  zones_.push_back(sim_zone_name(kDaySeconds - start_s % kDaySeconds - midnight_in));
  if (dice_.chance(50)) names_.emplace_back("trade");
  if (dice_.chance(30)) names_.emplace_back("spare");
  const std::int64_t today = clock("UTC", start_).day;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    covers_.push_back(dice_.chance(15) ? day_text(today - 40) + ".." + day_text(today + dice_.below(3)) : "");
  }
}

/// A moment that comes while an edit of now already counts, or a little sooner.
WallTime CalendarDraw::soon() { return clockwork_.true_wall() + dice_.between(2s, 30s); }

CalendarDraw::Clock CalendarDraw::clock(const std::string& zone, WallTime at) const {
  using std::chrono::seconds;
  const std::int64_t ahead_s = (*sim_zone(zone))->changes.front().offset_s;
  const std::int64_t local = std::chrono::floor<seconds>(at).time_since_epoch().count() + ahead_s;
  return {local / kDaySeconds, local % kDaySeconds};
}

/// Some of those around the start.
std::vector<std::string> CalendarDraw::days(int percent) {
  std::vector<std::string> out;
  const std::int64_t today = clock("UTC", start_).day;
  for (std::int64_t day = today - kDaysAround; day <= today + kDaysAround + 1; ++day) {
    if (dice_.chance(percent)) out.push_back(day_text(day));
  }
  return out;
}

/// A part of a day, some tens of seconds that begin soon; when midnight comes in between, the part before.
std::string CalendarDraw::stretch(const std::string& zone, std::int64_t* day) {
  const Clock from = clock(zone, soon());
  const std::int64_t to = std::min(from.second + 10 + dice_.below(60), kDaySeconds - 1);
  if (day != nullptr) *day = from.day;
  return clock_text(from.second) + "-" + clock_text(std::max(to, from.second + 1));
}

model::Calendar CalendarDraw::calendar(const std::string& name) {
  model::Calendar out;
  out.name = name;
  out.description = "edit " + std::to_string(++edits_);
  out.time_zone = one_of(zones_);
  // Wednesday in all: the search for a day that two calendars open would go on to the year 2200.
  if (dice_.chance(20)) out.days = one_of<std::string>({"mon-fri", "wed-sun", "mon-wed", "wed"});
  if (dice_.chance(70)) out.exclude = days(35);
  if (dice_.chance(40)) out.include = days(25);
  if (dice_.chance(35)) {
    std::int64_t day = 0;
    const std::string open = stretch(out.time_zone, &day);
    out.hours[day_text(day)] = open;
  }
  out.covers = covers_[static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin())];
  if (!out.covers.empty() && name == "trade") out.beyond = model::BeyondCover::Hold;
  return out;
}

/// In the minutes of the world's life, each day, or on one of the days around.
std::string CalendarDraw::cron(const std::string& zone) {
  std::set<std::int64_t> minutes, hours;
  for (Millis at = -60s; at <= kLife + 60s; at += 60s) {
    const Clock then = clock(zone, start_ + at);
    minutes.insert(then.second / 60 % 60);
    hours.insert(then.second / 3600);
  }
  const std::string step = one_of<std::string>({"*/5", "*/10", "*/15", "*/20", "*/7", "5,35"});
  const std::int64_t day = clock(zone, start_).day + dice_.below(5) - 2;
  const bool is_one_day = dice_.chance(40);
  return fmt::format("cron {} {} {} {} * *", step, fmt::join(minutes, ","), fmt::join(hours, ","),
                     is_one_day ? day_text(day).substr(8) : "*");
}

std::string CalendarDraw::kind(const std::string& zone) {
  switch (dice_.below(10)) {
    case 0: return fmt::format("every {}s; between {}", 2 + dice_.below(9), stretch(zone, nullptr));
    case 1: return fmt::format("every {}ms", 1500 + dice_.below(8000));
    case 2: return fmt::format("after_end {}s", 1 + dice_.below(5));
    case 3: {
      const Clock then = clock(zone, soon());
      const std::int64_t of_month = std::stoll(day_text(then.day).substr(8)) + one_of<std::int64_t>({-1, 0, 0, 0, 1});
      return fmt::format("working_day {}; time {}", dice_.chance(50) ? of_month : of_month - 31, clock_text(then.second));
    }
    case 4: return "at " + format_moment(soon() + (dice_.below(5) - 2) * kDaySeconds * 1s);
    default: return cron(zone);
  }
}

std::string CalendarDraw::entry() {
  const std::string zone = one_of(zones_);
  std::string out = kind(zone);
  const bool is_working_day = out.starts_with("working_day");
  const bool may_move = out.starts_with("cron") || out.starts_with("at ");
  if (zone != "UTC") out += "; time_zone " + zone;
  const std::string& first = one_of(names_);
  const std::string& second = one_of(names_);
  out += "; calendars " + first + (dice_.chance(40) && second != first ? "," + second : "");
  if (may_move && dice_.chance(65)) out += dice_.chance(50) ? "; otherwise next" : "; otherwise previous";
  if (!is_working_day && dice_.chance(20)) out += dice_.chance(70) ? "; day -1" : "; day 1";
  return out;
}

std::vector<std::string> CalendarDraw::entries() {
  std::vector<std::string> out = {entry()};
  const bool has_after_end = out.front().starts_with("after_end");
  if (dice_.chance(35)) {
    std::string second = entry();
    if (!has_after_end || !second.starts_with("after_end")) out.push_back(std::move(second));
  }
  if (dice_.chance(20)) out.emplace_back("every 6s");
  return out;
}

}  // namespace rota::sim
