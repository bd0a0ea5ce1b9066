#include "master/api/moment_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "common/base/duration_text.h"
#include "common/model/entry_text.h"
#include "common/time/zones.h"
#include "master/api/calendar_intake.h"
#include "master/api/closing.h"
#include "master/core/time/entry.h"
#include "master/core/time/local_times.h"
#include "master/core/time/over_entries.h"

namespace rota::master::api {
namespace {

using model::Day;
using model::EntryKind;
using model::ScheduleEntry;

constexpr Millis kInstant{1};

/// A schedule of any kind as entries.
std::vector<ScheduleEntry> entries_of(const model::Schedule& schedule) {
  std::vector<ScheduleEntry> out;
  for (const std::string& line : schedule.entries) {
    if (auto entry = model::entry_from_text(line)) out.push_back(std::move(*entry));
  }
  if (schedule.kind == model::ScheduleKind::Entries || schedule.kind == model::ScheduleKind::None) return out;
  ScheduleEntry only;
  only.kind = schedule.kind == model::ScheduleKind::Cron   ? EntryKind::Cron
              : schedule.kind == model::ScheduleKind::Once ? EntryKind::At
                                                           : EntryKind::Every;
  only.cron = schedule.cron;
  only.dialect = schedule.dialect;
  only.time_zone = schedule.time_zone;
  only.skipped_time = schedule.skipped_time;
  only.repeated_time = schedule.repeated_time;
  only.interval = schedule.interval;
  only.start = schedule.start;
  only.end = schedule.end;
  return {only};
}

/// One entry, and one moment that is asked about.
class Asked {
 public:
  Asked(ScheduleEntry entry, std::string name, WallTime anchor, std::uint64_t job_hash, WallTime at)
      : entry_(std::move(entry)), name_(std::move(name)), anchor_(anchor), job_hash_(job_hash), at_(at) {}

  /// False: something of it cannot be read.
  bool look_up(const CalendarVersions& calendars) {
    auto zone = timezone::load_zone(entry_.time_zone);
    if (!zone) return false;
    zone_ = std::move(*zone);
    for (const std::string& name : entry_.calendars) {
      auto rows = calendars ? calendars(name) : std::vector<model::CalendarRow>();
      core::CalendarHistory history;
      for (const model::CalendarRow& row : rows) {
        auto compiled = compile(row.space, *row.calendar);
        if (!compiled) return false;
        history.push_back({row.from, std::move(*compiled)});
      }
      if (history.empty()) return false;
      histories_.push_back(std::move(history));
      rows_.push_back(std::move(rows));
    }
    if (!entry_.calendars.empty()) closing_.emplace(entry_, zone_, histories_);
    return true;
  }

  bool is_due() const { return fires(entry_, histories_); }
  const std::string& name() const { return name_; }

  MomentWords why_not() const {
    MomentWords out = why_no_tick_of_it();
    if (!out.reason.empty()) out.entry = name_;
    return out;
  }

  /// "moved here from 2026-12-26, which calendar de version 2 closes (exclude:
  /// 2026-12-26)", with that calendar; without a sentence: it was not.
  MomentWords moved_from() const {
    if (!closing_ || entry_.otherwise == model::Otherwise::Skip) return {};
    const int step = entry_.otherwise == model::Otherwise::Next ? -1 : 1;
    for (int far = 1; far <= core::kLongestShift; ++far) {
      const WallTime source = core::moment_of_local(*zone_, local() + far * step * model::kMillisOfDay);
      const auto closed =
          fires_at(core::without_calendars(entry_), {}, source) ? closing_->closed_at(source) : std::nullopt;
      if (closed && closed->moved_to == local()) {
        const std::string day = model::day_to_text(day_of(local_of(source)));
        return by(row_of(*closed),
                  {"", fmt::format("moved here from {}, which {} closes", day, calendar_text(*closed))});
      }
    }
    return {};
  }

 private:
  MomentWords why_no_tick_of_it() const {
    if (entry_.kind == EntryKind::WorkingDay) return other_working_day();
    if (entry_.kind == EntryKind::AfterEnd || entry_.kind == EntryKind::WorkerStart) return {};
    if (is_edited_away()) return edited();
    if (!fires(every_moment(), {})) return {};
    if (auto bounds = out_of_bounds(); !bounds.reason.empty()) return bounds;
    if (auto clocks = by_the_clocks(); !clocks.reason.empty()) return clocks;
    ScheduleEntry all_day = core::without_calendars(entry_);
    if (!entry_.between.empty() && !fires(all_day, {})) {
      return {"outside_between", fmt::format("{} names it, but it is {} in {}, outside of between: {}.",
                                             subject(), clock(local()), entry_.time_zone, entry_.between)};
    }
    return closed();
  }

  /// As decided by that version of a calendar.
  static MomentWords by(const model::CalendarRow& row, MomentWords words) {
    words.calendar = row.calendar->name;
    words.calendar_version = row.version;
    return words;
  }

  std::int64_t local_of(WallTime moment) const { return core::local_ms_of(*zone_, moment); }
  std::int64_t local() const { return local_of(at_); }
  std::string subject() const { return "Entry " + name_; }

  static std::string clock(std::int64_t local_ms) {
    const std::int64_t of_day = local_ms - day_of(local_ms).time_since_epoch().count() * model::kMillisOfDay;
    const std::int64_t s = of_day / 1000;
    return fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  }

  bool fires_at(const ScheduleEntry& entry, const std::vector<core::CalendarHistory>& histories,
                WallTime moment) const {
    const auto compiled = core::compile_entry(entry, {zone_, histories}, anchor_, job_hash_);
    return compiled && compiled->next_after(moment - kInstant) == moment;
  }
  bool fires(const ScheduleEntry& entry, const std::vector<core::CalendarHistory>& histories) const {
    return fires_at(entry, histories, at_);
  }

  /// All that it would name without calendars, hours, bounds and summer time.
  ScheduleEntry every_moment() const {
    ScheduleEntry out = core::without_calendars(entry_);
    out.between.clear();
    out.end.reset();
    if (out.kind == EntryKind::Cron) out.start.reset();
    out.is_as_quartz = false;
    out.skipped_time = model::SkippedTime::RunAtEnd;
    out.repeated_time = model::RepeatedTime::Both;
    return out;
  }

  MomentWords out_of_bounds() const {
    if (entry_.kind == EntryKind::At) return {};
    if (entry_.start && at_ < *entry_.start) {
      return {"before_start",
              fmt::format("{} names it, but begins at {}.", subject(), format_moment(*entry_.start))};
    }
    if (!entry_.end || at_ <= *entry_.end) return {};
    return {"after_end", fmt::format("{} names it, but ended at {}.", subject(), format_moment(*entry_.end))};
  }

  MomentWords by_the_clocks() const {
    ScheduleEntry plain = core::without_calendars(entry_);
    plain.between.clear();
    if (entry_.kind != EntryKind::Cron || fires(plain, {})) return {};
    const char* quartz = entry_.is_as_quartz ? "skipped_time: quartz" : nullptr;
    const std::int64_t before = local_of(at_ - kInstant) + kInstant.count();
    if (local() > before) {
      return {"skipped_time", fmt::format("{} names a local time that does not exist on this "
                                          "day: clocks in {} go "
                                          "from {} to {} at this moment, and {} leaves it out.",
                                          subject(), entry_.time_zone, clock(before), clock(local()),
                                          quartz != nullptr ? quartz : "skipped_time: skip")};
    }
    const char* which =
        entry_.repeated_time == model::RepeatedTime::First ? "repeated_time: first" : "repeated_time: second";
    return {"repeated_time",
            fmt::format("{} names it, but {} comes twice on this day in {}, "
                        "and {} takes the other one.",
                        subject(), clock(local()), entry_.time_zone, quartz != nullptr ? quartz : which)};
  }

  const model::CalendarRow& row_of(const Closed& closed) const {
    return rows_[closed.calendar][closed.version];
  }

  static std::string version_text(const model::CalendarRow& row, bool is_first) {
    return fmt::format("version {} ({})", row.version,
                       is_first ? "the first one" : "counts from " + format_moment(row.from));
  }

  /// "calendar de version 2 (counts from ...), exclude: 2026-12-25"
  std::string calendar_text(const Closed& closed) const {
    const model::CalendarRow& row = row_of(closed);
    const auto days = preview({row}, closed.day, closed.day);
    const std::string key = days && !days->empty() ? ", " + days->front().why : "";
    const bool is_by_hours = closed.answer == core::DayAnswer::Open;
    return fmt::format("calendar {} {}{}", row.calendar->name, version_text(row, closed.version == 0),
                       is_by_hours && days && !days->empty() ? ", hours: " + days->front().hours : key);
  }

  MomentWords closed() const {
    const auto closed = closing_ ? closing_->closed_at(at_) : std::nullopt;
    if (!closed) return {};
    const std::string asked = entry_.day == 0 ? "" : fmt::format(" (day: {})", entry_.day);
    return by(row_of(*closed),
              {closed->moved_to ? "moved" : "closed",
               fmt::format("{} names it, but it is closed by {}: {}{}.", subject(), calendar_text(*closed),
                           closing_->words_for(*closed), asked)});
  }

  bool is_edited_away() const {
    const auto compiled = core::compile_entry(entry_, {zone_, histories_}, anchor_, job_hash_);
    return compiled && compiled->next_edited_away(at_ - kInstant) == at_;
  }

  /// By the newest versions that count then.
  MomentWords edited() const {
    const model::CalendarRow* newest = nullptr;
    for (const auto& rows : rows_) {
      for (std::size_t i = 1; i < rows.size(); ++i) {
        if (rows[i].from <= at_ && (newest == nullptr || rows[i].from > newest->from)) newest = &rows[i];
      }
    }
    const std::string which = newest == nullptr
                                  ? "its calendars"
                                  : "calendar " + newest->calendar->name + " " + version_text(*newest, false);
    MomentWords words{"edited", fmt::format("{} had its tick here until an edit, {}, "
                                            "moved it to a time that was over by then.",
                                            subject(), which)};
    return newest == nullptr ? words : by(*newest, std::move(words));
  }

  /// Where its time of day is asked about.
  MomentWords other_working_day() const {
    const std::int64_t time = entry_.time.empty() ? 0 : model::clock_from_text(entry_.time).value_or(-1);
    const Day day = day_of(local());
    if (local() - day.time_since_epoch().count() * model::kMillisOfDay != time) return {};
    if (is_edited_away()) return edited();
    using namespace std::chrono;
    const year_month_day date{day};
    const WallTime before = core::moment_of_local(
        *zone_, sys_days{date.year() / date.month() / 1}.time_since_epoch().count() * model::kMillisOfDay);
    const auto compiled = core::compile_entry(entry_, {zone_, histories_}, anchor_, job_hash_);
    const auto next = compiled ? compiled->next_after(before - kInstant) : std::nullopt;
    const bool is_in_month = next && year_month_day{day_of(local_of(*next))}.month() == date.month();
    std::string whose = entry_.calendars.empty() ? "days from Monday to Friday" : "calendar";
    const model::CalendarRow* first = nullptr;  // of several none decides alone
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      std::size_t version = 0;
      while (version + 1 < rows_[i].size() && rows_[i][version + 1].from <= at_) ++version;
      whose += (i == 0 ? " " : " and ") + rows_[i][version].calendar->name + " " +
               version_text(rows_[i][version], version == 0);
      first = i == 0 ? &rows_[i][version] : nullptr;
    }
    MomentWords words{
        "other_working_day",
        fmt::format(
            "{} is due on working day {} of the month by {}: {}.", subject(), entry_.working_day, whose,
            is_in_month ? "that is " + model::day_to_text(day_of(local_of(*next))) : "this month has none")};
    return first == nullptr ? words : by(*first, std::move(words));
  }

  ScheduleEntry entry_;
  std::string name_;
  WallTime anchor_;
  std::uint64_t job_hash_;
  WallTime at_;
  model::ZonePtr zone_;
  std::vector<core::CalendarHistory> histories_;
  std::vector<std::vector<model::CalendarRow>> rows_;
  std::optional<Closing> closing_;
};

std::vector<Asked> ask(const model::Schedule& schedule, WallTime anchor, std::uint64_t job_hash,
                       const CalendarVersions& calendars, WallTime at) {
  std::vector<Asked> out;
  int place = 0;
  for (ScheduleEntry& entry : entries_of(schedule)) {
    std::string name = entry.name.empty() ? std::to_string(++place) : (++place, entry.name);
    Asked asked(std::move(entry), std::move(name), anchor, job_hash, at);
    if (asked.look_up(calendars)) out.push_back(std::move(asked));
  }
  return out;
}

}  // namespace

MomentWords why_no_tick(const model::Schedule& schedule, WallTime anchor, std::uint64_t job_hash,
                        const CalendarVersions& calendars, WallTime at) {
  MomentWords out;
  for (const Asked& asked : ask(schedule, anchor, job_hash, calendars, at)) {
    MomentWords words = asked.why_not();
    if (words.reason.empty()) continue;
    const std::string before = out.sentence.empty() ? "" : out.sentence + " ";
    if (out.reason.empty()) out = words;
    out.sentence = before + words.sentence;
  }
  return out;
}

MomentWords whose_tick(const model::Schedule& schedule, WallTime anchor, std::uint64_t job_hash,
                       const CalendarVersions& calendars, WallTime at) {
  const auto all = ask(schedule, anchor, job_hash, calendars, at);
  std::vector<std::string> names;
  MomentWords out;
  for (const Asked& asked : all) {
    if (!asked.is_due()) continue;
    names.push_back(asked.name());
    if (MomentWords moved = asked.moved_from(); !moved.sentence.empty()) out = std::move(moved);
  }
  out.entry = fmt::format("{}", fmt::join(names, ","));
  const bool is_clear = all.size() < 2 && out.sentence.empty();
  const std::string moved = out.sentence.empty() ? "" : ", " + out.sentence;
  out.sentence = names.empty() || is_clear
                     ? ""
                     : fmt::format("It is the tick of entry {}{}.", fmt::join(names, ", "), moved);
  return out;
}

}  // namespace rota::master::api
