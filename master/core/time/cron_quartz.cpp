#include "master/core/time/cron_quartz.h"

#include <bit>
#include <chrono>

#include "master/core/time/cron_days.h"
#include "master/core/time/local_times.h"

namespace rota::master::core {
namespace {

int first_bit_from(std::uint64_t bits, int from) {
  if (from > 63) return -1;
  const std::uint64_t rest = bits & (~std::uint64_t{0} << from);
  return rest == 0 ? -1 : std::countr_zero(rest);
}

/// As much of Java's GregorianCalendar as Quartz needs: fields that may be set
/// beyond their range, and that are put right when they are read.
class LenientClock {
 public:
  LenientClock(const model::ZoneRules& zone, std::int64_t utc_s) : zone_(zone) {
    show(utc_s);
    settle();
  }

  std::int64_t day = 0;  ///< since 1970
  std::int64_t hour = 0;
  std::int64_t minute = 0;
  std::int64_t second = 0;

  /// From what was set to a moment, and from that to what a clock shows.
  void settle() { show(utc_s()); }

  std::int64_t utc_s() const {
    const std::int64_t local = day * kDaySeconds + (hour * 60 + minute) * 60 + second;
    std::size_t i = stretch_at(zone_, local + kLongestOverlap);
    // Java's rule: a change is over once the clock shows what it shows right
    // after it.
    while (i > 0 && zone_.changes[i].from_utc_s + zone_.changes[i].offset_s > local) --i;
    return local - zone_.changes[i].offset_s;
  }

 private:
  void show(std::int64_t utc_s) {
    const std::int64_t local = utc_s + zone_.changes[stretch_at(zone_, utc_s)].offset_s;
    day = std::chrono::floor<std::chrono::days>(std::chrono::seconds{local}).count();
    const std::int64_t of_day = local - day * kDaySeconds;
    hour = of_day / 3600;
    minute = of_day / 60 % 60;
    second = of_day % 60;
  }

  const model::ZoneRules& zone_;
};

class QuartzWalk {
 public:
  QuartzWalk(const CronExpression& cron, const model::ZoneRules& zone, std::int64_t utc_s)
      : cron_(cron), clock_(zone, utc_s) {}

  std::optional<std::int64_t> next();

 private:
  void reach_second();
  bool reach_minute();
  bool reach_hour();
  /// Empty: no day is left.
  std::optional<bool> reach_day();
  void set_hour(std::int64_t hour);

  const CronExpression& cron_;
  LenientClock clock_;
};

void QuartzWalk::reach_second() {
  const int found = first_bit_from(cron_.seconds, static_cast<int>(clock_.second));
  if (found < 0) ++clock_.minute;
  clock_.second = found < 0 ? std::countr_zero(cron_.seconds) : found;
  clock_.settle();
}

/// CronExpression.setCalendarHour: an hour that does not exist becomes the next
/// one.
void QuartzWalk::set_hour(std::int64_t hour) {
  clock_.hour = hour;
  clock_.settle();
  if (clock_.hour != hour && hour != 24) clock_.hour = hour + 1;
}

bool QuartzWalk::reach_minute() {
  const int found = first_bit_from(cron_.minutes, static_cast<int>(clock_.minute));
  if (found == clock_.minute) return true;
  const std::int64_t hour = clock_.hour + (found < 0 ? 1 : 0);
  clock_.second = 0;
  clock_.minute = found < 0 ? std::countr_zero(cron_.minutes) : found;
  set_hour(hour);
  return false;
}

bool QuartzWalk::reach_hour() {
  const int found = first_bit_from(cron_.hours, static_cast<int>(clock_.hour));
  if (found == clock_.hour) return true;
  clock_.second = 0;
  clock_.minute = 0;
  if (found < 0) ++clock_.day;
  set_hour(found < 0 ? std::countr_zero(cron_.hours) : found);
  return false;
}

std::optional<bool> QuartzWalk::reach_day() {
  const auto found = next_cron_day(cron_, clock_.day);
  if (!found) return std::nullopt;
  if (*found == clock_.day) return true;
  clock_.day = *found;
  clock_.hour = clock_.minute = clock_.second = 0;
  return false;
}

std::optional<std::int64_t> QuartzWalk::next() {
  while (true) {
    clock_.settle();
    reach_second();
    if (!reach_minute()) continue;
    if (!reach_hour()) continue;
    const auto is_there = reach_day();
    if (!is_there) return std::nullopt;
    if (*is_there) return clock_.utc_s();
  }
}

/// When this second passes for the first of two times: the last one before the
/// second time begins.
std::int64_t past_first_passage(const model::ZoneRules& zone, std::int64_t utc_s) {
  const std::size_t i = stretch_at(zone, utc_s);
  if (i + 1 >= zone.changes.size()) return utc_s;
  const std::int64_t change = zone.changes[i + 1].from_utc_s;
  const bool comes_again = utc_s + zone.changes[i].offset_s >= change + zone.changes[i + 1].offset_s;
  return comes_again ? change : utc_s;
}

}  // namespace

std::optional<WallTime> next_as_quartz(const CronExpression& cron, const model::ZoneRules& zone,
                                       WallTime after) {
  const std::int64_t second =
      std::chrono::floor<std::chrono::seconds>(after.time_since_epoch()).count() + 1;
  const auto found =
      QuartzWalk(cron, zone, past_first_passage(zone, std::max<std::int64_t>(second, 0))).next();
  if (!found) return std::nullopt;
  return wall_from_ms(*found * 1000);
}

}  // namespace rota::master::core
