// P1, and P7 along the ticks: one saved job at a time, planned ticks against its rows, in order of
// time. Memory: the job's gap rows and one page of runs.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "master/verify/end_check.h"
#include "master/verify/planned_ticks.h"
#include "master/verify/tick_rows.h"
#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class TickCheck {
 public:
  TickCheck(const Sources& sources, const Request& request, const core::Watermark& watermark,
            std::vector<store::PastRewind> rewinds, std::optional<WallTime> edits_told_from, Check& ticks,
            Check& epochs, Millis& max_lateness)
      : sources_(sources),
        request_(request),
        watermark_(watermark),
        rewinds_(std::move(rewinds)),
        edits_told_from_(edits_told_from),
        ticks_(ticks),
        epochs_(epochs),
        max_lateness_(max_lateness),
        ends_(sources.reader, ticks) {}

  /// Looks at one job. TimedOut, or the reader's errors: then what was counted of this job means nothing.
  Result<void> look_at(const model::Job& job, TickRows rows, MonoTime deadline);

 private:
  struct GapSeen {
    model::Gap row;
    std::int64_t covered = 0;  ///< planned ticks of its version in it
  };

  Result<void> begin(const model::Job& job, TickRows& rows);
  void begin_runs(TickRows& rows);
  Result<void> begin_gaps(TickRows& rows);
  Result<WallTime> recorded_now();
  Result<void> look_at(const model::JobVersionRow& version, PlannedTicks& planned, MonoTime deadline);
  Result<void> match(const model::JobVersionRow& version, WallTime tick);
  Result<void> match_edited_away(const model::JobVersionRow& version, WallTime moment);
  Result<void> count_runs_before(WallTime tick);
  Result<const model::Run*> next_run();
  void count_run(const model::Run& run);
  bool is_after_end(const model::Run& run) const;
  bool was_rewound(const model::Run& run) const;
  void count_epoch(Epoch epoch, const std::string& what);
  std::int64_t cover(JobVersion version, WallTime tick, bool is_edited_away);
  Result<void> judge(WallTime tick, std::int64_t runs, std::int64_t gaps);
  Result<void> judge_gaps();
  Result<void> judge_frozen(const model::Gap& gap);
  Result<void> look_at_gone();
  Result<void> look_beyond(bool at_hand);
  WallTime first_moment() const { return first_moment_; }
  Result<bool> is_gone(WallTime tick);
  std::string place(WallTime tick) const;

  const Sources& sources_;
  const Request& request_;
  const core::Watermark watermark_;
  const std::vector<store::PastRewind> rewinds_;
  const std::optional<WallTime> edits_told_from_;
  Check& ticks_;
  Check& epochs_;
  Millis& max_lateness_;
  EndCheck ends_;

  std::optional<std::vector<model::Freeze>> freezes_;  ///< read when the first frozen tick is seen

  std::int64_t looked_at_ = 0;       ///< ticks

  // of the job that is looked at
  JobId job_;
  std::string name_;
  WallTime gone_through_{};          ///< retention may have deleted rows of ticks up to here
  WallTime first_moment_{};
  std::map<JobVersion, PlannedTicks> after_end_;  ///< versions with such an entry
  std::optional<WallTime> last_tick_;  ///< of the runs that were counted
  std::vector<GapSeen> gaps_;        ///< by from
  std::size_t first_open_gap_ = 0;
  std::deque<model::Run> page_;
  WallTime read_through_{};
  bool all_read_ = false;
  std::optional<WallTime> beyond_;   ///< the first tick that is recorded beyond the watermark
  Epoch highest_;
  WallTime recorded_{};              ///< its ticks are recorded so far
};

}  // namespace rota::master::verify
