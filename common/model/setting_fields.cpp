#include "common/model/setting_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>

#include "common/base/duration_text.h"
#include "common/base/size_text.h"
#include "common/base/spelling.h"
#include "common/base/utf8.h"

namespace rota::model {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kHour = 3600 * kSecond;
constexpr std::int64_t kDay = 24 * kHour;

template <auto Member>
std::int64_t get_member(const Settings& settings) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(settings.*Member)>, Millis>) {
    return (settings.*Member).count();
  } else {
    return settings.*Member;
  }
}

template <auto Member>
void set_member(Settings& settings, std::int64_t value) {
  using Value = std::remove_cvref_t<decltype(settings.*Member)>;
  settings.*Member = static_cast<Value>(value);
}

struct Range {
  std::int64_t min, max;
};

template <auto Member>
constexpr SettingField row(std::string_view name, SettingUnit unit, Range range, std::string_view meaning,
                           SettingPlace acts = SettingPlace::Leader) {
  return {name, unit, range.min, range.max, acts, meaning, get_member<Member>, set_member<Member>};
}

using enum SettingUnit;

constexpr std::array kFields{
    row<&Settings::dead_after>(
        "workers.dead_after_ms", Time, {kSecond, 30 * kDay},
        "a worker that has been offline for so long is dead: it is left out of lists"),
    row<&Settings::keep_offline>("workers.keep_dead_ms", Time, {kSecond, 366 * kDay},
                                 "how long a worker that vanished is known at all"),
    row<&Settings::hold_first>(
        "workers.exclude_ms", Time, {100, kDay},
        "how long an excluded or flapping worker gets nothing the first time; doubles, up to "
        "ten times this. A shorter time also ends holds that stand sooner"),
    row<&Settings::jobs_to_exclude>(
        "workers.exclude_jobs", Count, {1, 32},
        "so many jobs that failed on a worker and succeeded elsewhere exclude it"),
    row<&Settings::lives_to_flap>(
        "workers.flap_lives", Count, {2, 100},
        "so many lives within ten minutes make a worker flapping; counts when it comes next"),
    row<&Settings::slow_answer>(
        "workers.warn_answer_ms", Time, {10, kHour},
        "a worker that takes longer to accept an attempt is in warning, until it takes half"),
    row<&Settings::load_most>("workers.warn_load_percent", Percent, {10, 100},
                              "a worker with a higher load is in warning, until it is 5 below"),
    row<&Settings::clock_off_most>(
        "workers.warn_clock_ms", Time, {10, kHour},
        "a worker whose clock is off by more is in warning, until it is off by three quarters"),
    row<&Settings::return_crowd>(
        "workers.return_crowd", Count, {1, 100'000},
        "when more workers of a pool come back within 5 s, they are let in over 5 s"),
    row<&Settings::away_band_1>(
        "workers.away_band_1_ms", Time, {kSecond, 30 * kDay},
        "a worker that is away for longer is shown with this time; below the next band"),
    row<&Settings::away_band_2>("workers.away_band_2_ms", Time, {kSecond, 30 * kDay},
                                "the same; between the first and the third band"),
    row<&Settings::away_band_3>("workers.away_band_3_ms", Time, {kSecond, 30 * kDay},
                                "the same; above the second band"),
    row<&Settings::load_cpu>("load.cpu_weight", Count, {0, 100},
                             "weight of the host's CPU in the load of a worker, against the other two"),
    row<&Settings::load_memory>("load.memory_weight", Count, {0, 100}, "weight of the host's memory"),
    row<&Settings::load_slots>("load.slots_weight", Count, {0, 100}, "weight of running / slots"),
    row<&Settings::catch_up_rate>("catch_up.rate", Count, {1, 100'000},
                                  "how many runs of late ticks start a second, in each pool"),
    row<&Settings::keep_runs>(
        "runs.keep_ms", Time, {0, 3660 * kDay},
        "how long a run is kept after its end, for jobs without keep_runs; 0: forever"),
    row<&Settings::keep_logs>(
        "logs.keep_ms", Time, {0, 3660 * kDay},
        "how long output is kept after its run's end, for jobs without keep_logs; 0: forever"),
    row<&Settings::log_limit_bytes>(
        "logs.limit_bytes", Size, {0, std::int64_t{1} << 50},
        "how much output is kept in all; beyond it the oldest goes first; 0: no limit"),
    row<&Settings::notify_tries>(
        "notify.tries", Count, {1, 10'000},
        "a notification that was refused so often is given up, at its next refusal"),
    row<&Settings::notify_open>(
        "notify.open", Count, {1, 100'000},
        "so many notifications of one receiver may be open; more are counted in one"),
    row<&Settings::keep_notifications>("notify.keep_ms", Time, {60 * kSecond, 3660 * kDay},
                                       "how long settled notifications are kept"),
    row<&Settings::scale_up_percent>(
        "autoscale.up_percent", Percent, {1, 1000},
        "above this average load of a pool more workers are wanted; runs that wait count as load"),
    row<&Settings::scale_down_percent>("autoscale.down_percent", Percent, {0, 99},
                                       "below it fewer are wanted; less than autoscale.up_percent"),
    row<&Settings::scale_cool_down>(
        "autoscale.cool_down_ms", Time, {kSecond, kDay},
        "how long after a change the number does not fall, and after a rise does not rise again"),
    row<&Settings::scale_average>("autoscale.average_ms", Time, {0, kHour},
                                  "over how long the load is averaged; 0: the load of the moment"),
    row<&Settings::scale_tries>(
        "autoscale.tries", Count, {1, 10'000},
        "a call of a hook that failed so often is given up; the next change is told all the same"),
    row<&Settings::keep_scaling>("autoscale.keep_ms", Time, {60 * kSecond, 3660 * kDay},
                                 "how long changes of wanted numbers are kept"),
    row<&Settings::no_leader_after>(
        "notify.no_leader_after_ms", Time, {kSecond, kDay},
        "a master that does not lead tells receivers when nobody has led for so long",
        SettingPlace::EveryMaster),
    row<&Settings::inbox_events>(
        "inbox_events", Count, {100, 1'000'000},
        "requests, and reports, that may wait for the leader's loop; more are refused for now"),
};

std::string plain_text(const SettingField& field, std::int64_t value) {
  if (field.unit == Time) return format_duration(Millis{value});
  return field.unit == Size ? format_size(value) : std::to_string(value);
}

Error out_of_range(const SettingField& field, const std::string& value) {
  return {ErrorCode::InvalidArgument,
          fmt::format("{}: {} is out of range, allowed are {}", field.name, value, allowed_text(field))};
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
}

Result<std::int64_t> read_with_unit(const SettingField& field, const std::string& text) {
  if (is_number(text)) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  if (field.unit == Time) {
    const auto time = parse_duration(text);
    return time ? Result<std::int64_t>(time->count()) : fail(time.error());
  }
  if (field.unit == Size) return parse_size(text);
  return fail(ErrorCode::InvalidArgument, "no whole number");
}

}  // namespace

std::string_view name_of(SettingUnit unit) {
  switch (unit) {
    case Count:
      return "";
    case Percent:
      return "percent";
    case Time:
      return "ms";
    case Size:
      return "bytes";
  }
  return "";
}

std::string_view name_of(SettingPlace place) {
  return place == SettingPlace::Leader ? "leader" : "every master";
}

std::span<const SettingField> setting_fields() { return kFields; }

const SettingField* find_setting(std::string_view name) {
  const auto found = std::ranges::find(kFields, name, &SettingField::name);
  return found == kFields.end() ? nullptr : &*found;
}

Error unknown_setting(const std::string& name) {
  std::vector<std::string> known;
  for (const SettingField& field : kFields) known.emplace_back(field.name);
  return {ErrorCode::NotFound, fmt::format("no setting {}{}; rota setting get names them",
                                           quoted_text(name), did_you_mean(name, known))};
}

std::int64_t default_of(const SettingField& field) { return field.get(Settings{}); }

std::string setting_text(const SettingField& field, std::int64_t value) {
  return plain_text(field, value) + (field.unit == Percent ? " %" : "");
}

std::string allowed_text(const SettingField& field) {
  return fmt::format("{} to {}", plain_text(field, field.min), setting_text(field, field.max));
}

Result<std::int64_t> read_setting(const SettingField& field, const std::string& text) {
  const auto value = read_with_unit(field, text);
  if (value) {
    if (const auto fine = check_setting(field, *value); !fine) return fail(fine.error());
    return *value;
  }
  const std::string_view what = field.unit == Time   ? "a time such as 10m, or a number of milliseconds"
                                : field.unit == Size ? "a size such as 100GiB, or a number of bytes"
                                                     : "a whole number";
  return fail(ErrorCode::InvalidArgument, fmt::format("{}: {} is not {}; allowed are {}", field.name,
                                                      quoted_text(text), what, allowed_text(field)));
}

Result<void> check_setting(const SettingField& field, std::int64_t value) {
  if (value >= field.min && value <= field.max) return {};
  return fail(out_of_range(field, setting_text(field, value)));
}

std::string why_not_together(const Settings& s) {
  if (s.load_cpu + s.load_memory + s.load_slots == 0) {
    return "load.cpu_weight, load.memory_weight and load.slots_weight are all 0, so that nothing would be "
           "a load; "
           "give one of them a weight first";
  }
  if (s.scale_down_percent >= s.scale_up_percent) {
    return fmt::format("autoscale.down_percent {} must be less than autoscale.up_percent {}; change the "
                       "other first",
                       s.scale_down_percent, s.scale_up_percent);
  }
  if (s.away_band_1 < s.away_band_2 && s.away_band_2 < s.away_band_3) return {};
  return fmt::format(
      "workers.away_band_1_ms {}, workers.away_band_2_ms {} and workers.away_band_3_ms {} must rise; "
      "change the others first",
      format_duration(s.away_band_1), format_duration(s.away_band_2), format_duration(s.away_band_3));
}

Settings with_rows(Settings settings, const std::vector<SettingRow>& rows) {
  for (const SettingRow& row : rows) {
    const SettingField* field = find_setting(row.name);
    if (field == nullptr || !row.value) continue;
    field->set(settings, std::clamp(*row.value, field->min, field->max));
  }
  return settings;
}

}  // namespace rota::model
