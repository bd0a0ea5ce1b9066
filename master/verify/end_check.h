// P1: a job that its rules end (`firings`, `until`, `pause_after_failures`) fires no more, and is not ended
// before; as far as the rows tell that retention has left. One saved job at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "master/verify/verify.h"

namespace rota::master::verify {

/// What is known of the job that is looked at.
struct EndFacts {
  const model::Job& job;
  const std::vector<model::JobVersionRow>& versions;  ///< oldest first
  WallTime recorded{};                                ///< its ticks are recorded so far
  WallTime first_moment{};                            ///< rows of ticks before may be gone
  bool was_rewound = false;                           ///< some tick of some job was
};

/// Thread: one. All references outlive it.
class EndCheck {
 public:
  EndCheck(store::Reader& reader, Check& check) : reader_(reader), check_(check) {}

  /// Reads all runs of a job that has such rules. TimedOut, or the reader's errors.
  Result<void> look_at(const EndFacts& facts, MonoTime deadline);

 private:
  /// Versions one after the other in which the same is counted on.
  struct Stretch {
    std::shared_ptr<const model::JobDefinition> definition;
    JobVersion last = 0;
    WallTime from{};
    std::optional<WallTime> to;
    bool ended_by_rules = false;
    std::int32_t fired = 0;
    // Of the runs before the one that is looked at, which had all ended when a tick found nothing in its way.
    int part = 0;
    std::int32_t failures = 0;
    std::optional<WallTime> first_failure;   ///< when that run was recorded
    std::optional<WallTime> late_success;    ///< the last end of one that had waited to be caught up
    bool has_succeeded = false;
    bool is_told = false;
  };
  struct Part {
    std::size_t stretch = 0;
    int number = 0;                          ///< another one after the job was deleted
    bool is_serial = true;                   ///< a run begins only when all before it have ended
  };

  void learn(const EndFacts& facts);
  void look_at_run(const EndFacts& facts, const model::Run& run);
  void look_at_tick(const EndFacts& facts, const model::Run& run, Stretch& stretch);
  static void note_end(const model::Run& run, bool is_serial, Stretch& stretch);
  Result<void> judge(const EndFacts& facts);
  Result<void> judge_early_end(const EndFacts& facts, const Stretch& stretch);

  store::Reader& reader_;
  Check& check_;
  std::vector<Stretch> stretches_;
  std::map<JobVersion, Part> parts_;
};

}  // namespace rota::master::verify
