// The database of a simulated world: tables, the fence, and lost answers. It judges every write: P1 and P3 at
// each batch, P9 at each takeover, P11, and that a final state never changes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "child_judge.h"
#include "clockwork.h"
#include "marks.h"
#include "master/store/memory/memory_store.h"
#include "master/store/store.h"
#include "master/office/takeover.h"
#include "limit_judge.h"
#include "hold_judge.h"
#include "overlap_judge.h"
#include "quota_judge.h"
#include "scale_judge.h"
#include "setting_judge.h"
#include "semaphore_judge.h"
#include "random.h"
#include "expect_judge.h"
#include "notify_judge.h"
#include "retry_judge.h"
#include "sim_tables.h"
#include "tick_judge.h"

namespace rota::sim {

/// Faults of the database; the world sets these.
struct StoreFaults {
  bool down = false;
  int failed_per_mille = 0;
  int unknown_per_mille = 0;    ///< half of them were applied
  int slow_per_mille = 0;
  bool dies_at_commit = false;  ///< the next batch gets no answer, then the database is down
  Millis freezes_caller{0};     ///< the next batch's leader freezes inside its transaction
};

/// What the product does where the database has several nodes.
struct SeveralNodes {
  bool fence_is_certified = true;  ///< otherwise a lock, which holds on one node alone
  bool reads_wait = true;          ///< until their node has what was committed before
};

/// Thread: one.
class SimStore final : public master::store::Store {
 public:
  SimStore(Random& random, Marks& marks, const Clockwork& clockwork)
      : random_(random), marks_(marks), clockwork_(clockwork) {}

  master::store::ApplyResult apply(Epoch epoch, const master::core::Changes& changes) override;

  /// One that is higher.
  void enter_office(const master::store::Claim& claim);
  /// Gives back ticks ahead of the clock; they are judged again.
  Result<void> rewind(const master::store::Rewind& rewind);
  /// A leader that froze inside its transaction keeps the share lock on the epoch row until the database ends
  /// that transaction.
  bool is_epoch_locked() const { return clockwork_.now() < locked_until_; }
  /// A copy of the rows in production's memory store, for verification and for reading all of them.
  std::unique_ptr<master::store::MemoryStore> as_memory_store() const;
  Result<master::core::Recovered> recover();

  /// When a run was stored first; empty: it never was.
  std::optional<MonoTime> stored_at(RunId run) const {
    const auto found = first_stored_.find(run);
    return found == first_stored_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Saves a copy.
  void back_up() { backup_ = tables_; }
  /// Restores the copy; later rows are lost. It is a copy of an older Term, or a replica that lagged.
  /// `noted`: what ZooKeeper believes is stored. False when there is no copy, or nothing is lost.
  bool go_back(const master::StoredMark& noted);
  /// A master entered office: it must notice a loss that ZooKeeper knows of (P9). From then on this leader and
  /// every later one hold ticks. An older leader cannot know: if a copy brings its epoch into force again, it
  /// leads on until a worker refuses it, or until a takeover.
  void note_takeover(Epoch epoch, bool noticed);
  /// The operator accepts the loss: ticks may fire again.
  void accept_restore() {
    held_from_.reset();
    is_unnoticed_ = must_notice_ = false;
  }
  /// P34: from now on takeovers are judged: the master with that name belongs to another cluster, with a ZooKeeper
  /// of its own. Neither cluster may take the other's database before it was quiet for `quiet`.
  void judge_offices(const std::string& stranger, Millis quiet) {
    stranger_ = stranger;
    quiet_needed_ = quiet;
  }
  /// The operator gave the database to the first cluster.
  void accept_first_cluster() { accepted_ = true; }
  /// For so long the nodes of older leaders, and of those who take office, show nothing newer than now.
  void lag_nodes(Millis duration) {
    lagging_ = tables_;
    lags_until_ = clockwork_.now() + duration;
  }
  void beat() {
    ++tables_.beats;
    last_commit_ = clockwork_.now();
  }
  bool went_back() const { return went_back_; }
  // --- settings: what is wrong, or nothing (setting_judge.h)
  void note_setting_asked(const std::string& name, std::optional<std::int64_t> value) {
    setting_judge_.note_asked(name, value);
  }
  std::string judge_takeover_settings(Epoch epoch, const model::Settings& file, const model::Settings& now) const {
    return epoch == tables_.epoch ? setting_judge_.judge_takeover(tables_, file, now) : "";
  }
  std::string judge_settings_told(const std::vector<model::SettingRow>& rows, const model::Settings& now,
                                  const model::Settings& file) {
    return setting_judge_.judge_told(tables_, rows, now, file, went_back_);
  }
  /// A receiver gets a notification; it has accepted it.
  std::string judge_sent(const model::Notification& row) const { return notify_judge_.judge_sent(tables_, row); }
  void note_heard(std::int64_t id) { notify_judge_.note_heard(id); }
  /// A hook hears of a change; it stops a worker; it has done what it was told.
  std::string judge_called(const model::ScaleChange& row) const { return scale_judge_.judge_called(tables_, row); }
  std::string judge_stop(const model::WorkerKey& worker) const { return ScaleJudge::judge_stop(tables_, worker); }
  void note_obeyed(std::int64_t id) { scale_judge_.note_obeyed(id); }
  /// Whether a loss of rows may have touched this run or job.
  bool is_tainted(RunId run) const { return went_back_ && tainted_runs_.contains(run); }
  bool is_tainted(JobId job) const { return went_back_ && tainted_jobs_.contains(job); }
  /// Its newest version before the batch that said that the attempt is sent; 0: there was none.
  std::int32_t amount_when_sent(model::AttemptKey key, const AmountName& name) const;
  /// The highest count of its versions from this one on; of all when the database went back.
  std::int64_t most_tokens(const std::pair<std::string, std::string>& name, std::int32_t since) const;
  /// Whether the database went back and has no run with this number.
  bool is_lost(RunId run) const { return went_back_ && !tables_.runs.contains(run); }

  /// The greatest that a run of this principal has; empty: none.
  std::string greatest_key(const std::string& principal) const {
    const auto end = tables_.run_of_key.lower_bound({principal + '\0', ""});
    if (end == tables_.run_of_key.begin() || std::prev(end)->first.first != principal) return "";
    return std::prev(end)->first.second;
  }
  std::optional<RunId> run_of_key(const std::string& principal, const std::string& key) const {
    const auto found = tables_.run_of_key.find({principal, key});
    return found == tables_.run_of_key.end() ? std::nullopt : std::optional(found->second);
  }
  /// Whether this attempt's row was ever stored.
  bool was_dispatched(model::AttemptKey key) const { return dispatched_.contains(key); }

  /// Attempts that were recorded as lost.
  const std::set<model::AttemptKey>& lost_attempts() const { return lost_attempts_; }

  SimTables& tables() { return tables_; }
  const SimTables& tables() const { return tables_; }
  Epoch epoch() const { return tables_.epoch; }
  const std::map<RunId, model::Run>& runs() const { return tables_.runs; }
  bool has_job(JobId job) const { return tables_.jobs.contains(job); }
  /// Its job was missing when the last takeover read the rows (leave_out_runs_without_job).
  bool was_left_out(RunId run) const { return went_back_ && left_out_.contains(run); }
  const std::map<JobId, model::Job>& jobs() const { return tables_.jobs; }
  const std::map<std::pair<RunId, AttemptNo>, model::AttemptRow>& attempts() const { return tables_.attempts; }
  std::optional<master::core::Watermark> watermark() const { return tables_.watermark; }
  std::shared_ptr<const model::JobDefinition> definition(JobId job, JobVersion version) const;

  StoreFaults faults;
  SeveralNodes nodes;
  Millis latency{0};           ///< of the last apply: its effects leave this much later
  Millis caller_freezes{0};    ///< of the last apply
  bool believes_a_wrong_clock = false;  ///< a master started while all clocks were wrong: ticks may be ahead
  std::string violation;       ///< the first violation found while writing

 private:
  void write(const master::core::Changes& changes);
  void judge_first_dispatch(const model::RunProgress& before, const model::RunProgress& after);
  bool is_deposed_unseen(Epoch epoch) const;
  master::store::ApplyResult apply_deposed(const master::core::Changes& changes);
  void judge_definitions(const master::core::Changes& changes);
  void note_amounts(const master::core::Changes& changes);
  void judge_gaps(const master::core::Changes& changes);
  void judge_calendars(const master::core::Changes& changes);
  void note_edits_that_count();
  void judge_new_runs(const master::core::Changes& changes);
  void judge_told(const master::core::Changes& changes);
  void judge_start(const model::Run& run, const master::core::Changes& changes);
  void judge_rest(const master::core::Changes& changes);
  void note_left_out();
  void judge_hold(const model::RunProgress& before, const model::RunProgress& after,
                  const master::core::Changes& changes);
  void note_dispatch(RunId run, const model::RunProgress& progress, const master::core::Changes& changes);
  void judge_office(const master::store::Claim& claim);
  bool is_held_by_restore() const { return held_from_ && tables_.epoch >= *held_from_; }
  void count_ends(RunId run, const model::RunProgress& before, const model::RunProgress& after);
  void complain(std::string what) { if (violation.empty()) violation = std::move(what); }
  void complain_if(std::string what) { if (!what.empty()) complain(std::move(what)); }

  Random& random_;
  Marks& marks_;
  const Clockwork& clockwork_;
  std::map<RunId, MonoTime> first_stored_;
  SimTables tables_;
  std::optional<SimTables> backup_;
  TickJudge judge_{marks_};
  std::multimap<WallTime, Epoch> edits_to_count_;  ///< edits of calendars by when they count, and who stored them
  OverlapJudge overlap_judge_{marks_};
  SemaphoreJudge semaphore_judge_{marks_};
  QuotaJudge quota_judge_;
  SettingJudge setting_judge_{marks_};
  HoldJudge hold_judge_{marks_};
  NotifyJudge notify_judge_{marks_};
  ExpectJudge expect_judge_{marks_};
  ScaleJudge scale_judge_{marks_};
  ChildJudge child_judge_{marks_};
  MonoTime locked_until_{};
  std::optional<SimTables> lagging_;  ///< what a node that lags shows
  MonoTime lags_until_{};
  Epoch highest_ever_;
  std::string stranger_;
  Millis quiet_needed_{0};
  bool accepted_ = false;
  MonoTime last_commit_{};
  std::set<model::AttemptKey> lost_attempts_;
  bool went_back_ = false;
  std::set<RunId> left_out_;
  std::set<RunId> ended_now_;          ///< with the present batch
  std::optional<Epoch> held_from_;   ///< the first leader that knew about the loss; until it is accepted
  bool is_unnoticed_ = false;
  bool must_notice_ = false;
  std::map<Epoch, master::core::Watermark> stored_;   ///< the highest watermark that each leader saw applied
  std::set<RunId> tainted_runs_;
  std::set<JobId> tainted_jobs_;
  std::int64_t batch_ = 0;                              ///< so many were written
  std::map<model::AttemptKey, std::int64_t> dispatched_;  ///< in which batch each was sent first
  std::map<AmountName, std::vector<std::pair<std::int64_t, std::int32_t>>> amounts_changed_;  ///< batch, version
  std::set<std::string> fired_starts_;  ///< request keys of runs of worker starts
};

}  // namespace rota::sim
