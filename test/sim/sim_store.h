// The database of a simulated world: tables, the fence, and answers that get lost. It judges what is
// written to it: P1 (every tick exactly once) at each move of the watermark.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clockwork.h"
#include "marks.h"
#include "master/core/recovered.h"
#include "master/store/store.h"
#include "random.h"

namespace rota::sim {

/// Faults of the database; the world turns these.
struct StoreFaults {
  bool down = false;
  int failed_per_mille = 0;
  int unknown_per_mille = 0;   ///< half of them were applied
  int slow_per_mille = 0;
  bool dies_at_commit = false;  ///< the next batch gets no answer, and then it is down
};

/// Thread: one.
class SimStore final : public master::store::Store {
 public:
  SimStore(Random& random, Marks& marks) : random_(random), marks_(marks) {}

  master::store::ApplyResult apply(Epoch epoch, const master::core::Changes& changes) override;

  /// False when the epoch is not higher.
  bool take_office(Epoch epoch);
  Epoch epoch() const { return epoch_; }
  master::core::Recovered recover() const;

  /// Every planned tick up to the watermark is one run or in one gap, and nothing else is. Empty, or
  /// what is wrong.
  std::string judge_ticks() const;
  std::optional<RunId> run_of_key(const std::string& principal, const std::string& key) const {
    const auto found = keys_.find({principal, key});
    return found == keys_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Whether this attempt's row was ever stored.
  bool was_dispatched(model::AttemptKey key) const { return dispatched_.contains(key); }

  const std::map<RunId, model::Run>& runs() const { return runs_; }
  const std::map<JobId, model::Job>& jobs() const { return jobs_; }
  const std::map<std::pair<RunId, AttemptNo>, model::AttemptRow>& attempts() const { return attempts_; }
  const std::map<std::string, model::WorkerDrain>& drains() const { return drains_; }
  const std::vector<model::Gap>& gaps() const { return gaps_; }
  std::shared_ptr<const model::JobDefinition> definition(JobId job, JobVersion version) const;

  StoreFaults faults;
  Millis latency{0};           ///< of the last apply: its effects leave so much later
  std::string violation;       ///< the first thing found wrong while writing

 private:
  void write(const master::core::Changes& changes);
  void write_versions(const master::core::Changes& changes);
  void write_runs(const master::core::Changes& changes);
  void note_dispatch(const model::Run& run);
  void count_ends(const model::RunProgress& before, const model::RunProgress& after);
  void complain(std::string what) { if (violation.empty()) violation = std::move(what); }

  Random& random_;
  Marks& marks_;
  Epoch epoch_;
  std::map<JobId, model::Job> jobs_;
  std::map<std::pair<JobId, JobVersion>, model::JobVersionRow> versions_;
  std::map<RunId, model::Run> runs_;
  std::map<std::pair<JobId, WallTime>, RunId> ticks_;
  std::map<std::pair<std::string, std::string>, RunId> keys_;
  std::map<std::pair<RunId, AttemptNo>, model::AttemptRow> attempts_;
  std::vector<model::Gap> gaps_;
  std::map<RunId, AttemptNo> notes_;
  std::set<std::tuple<JobId, WallTime, WallTime>> gap_rows_;
  std::set<model::AttemptKey> dispatched_;
  std::map<std::string, model::WorkerDrain> drains_;
  std::optional<WallTime> watermark_;
};

}  // namespace rota::sim
