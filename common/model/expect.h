// What a job expects of its runs (`expect`): when they start, by when they have succeeded, how long they
// take. Only told when it is not met; nothing is changed about a run. Pure.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::model {

/// How long a run may take before that is told: a duration, or a multiple of what is usual.
struct LongerThan {
  Millis most{0};                      ///< 0: by `thousandths`
  std::int32_t thousandths = 0;        ///< of the median of the last successes
  bool operator==(const LongerThan&) const = default;
};

/// "30m", "3x", "1.5x". InvalidArgument says what is wrong: less than 1ms, more than a year, less than 1x,
/// more than 1000x, more than three places behind the point.
Result<LongerThan> longer_than_from_text(std::string_view text);

/// "07:30" as minutes since midnight. InvalidArgument.
Result<std::int32_t> finish_by_from_text(std::string_view text);

/// `longer_than: 3x` goes by so many of the last successes, and by none while fewer are known.
inline constexpr std::size_t kPaceKept = 20;
inline constexpr std::size_t kPaceLeast = 3;

/// The row `job_pace`: how long the last successes of a job took, oldest first. Only of jobs that ask for it.
struct JobPace {
  JobId job;
  std::int64_t successes = 0;          ///< since it began to count
  std::vector<Millis> last;            ///< at most kPaceKept
  bool operator==(const JobPace&) const = default;
};

/// What is told once, by a row in the batch that decides it. Stored by name.
enum class ToldOnce {
  StartWithin,
  FinishBy,
  LongerThan,
  WorkerDead,
  Term  ///< nobody hears of it: from then on that Term tells the others
};
inline constexpr std::array<std::string_view, 5> kToldOnce = {"start_within", "finish_by", "longer_than",
                                                              "worker_dead", "term"};
inline std::string_view name_of(ToldOnce what) { return kToldOnce.at(static_cast<std::size_t>(what)); }
inline std::optional<ToldOnce> told_once_named(std::string_view name) {
  for (std::size_t i = 0; i < kToldOnce.size(); ++i) {
    if (kToldOnce[i] == name) return static_cast<ToldOnce>(i);
  }
  return std::nullopt;
}

/// In LateRow::was, of a tick at which its job was paused.
inline constexpr std::string_view kWasPaused = "paused";

/// The row `late_told`. Job, run, tick, kind and worker name it.
struct LateRow {
  JobId job;                       ///< 0: not of a job
  RunId run;                       ///< 0: no run stands for the tick. Term: its epoch
  std::optional<WallTime> tick;    ///< of several the first. WorkerDead: when it left
  ToldOnce what = ToldOnce::StartWithin;
  std::string worker;              ///< WorkerDead
  std::string space, job_name;
  Epoch epoch;                     ///< of the Term that tells it
  std::optional<WallTime> due;     ///< by then it should have been; LongerThan: none
  WallTime told{};                 ///< core time
  std::string was;                 ///< the run's state then; of a tick the reason of its gap, or kWasPaused
  Millis limit{0};                 ///< LongerThan: so long it may have taken
  bool operator==(const LateRow&) const = default;
};

}  // namespace rota::model
