// Deletes runs and gap rows that were kept long enough, while this master leads: round by round through all
// of them. Each round is a few short statements, so that its cost does not depend on how many there are and
// no lock is held long. It never delays the loop, and leaves the database to it for a part of the time: while
// runs are due it pauses for a share of the time that they cost, so that it keeps up with full load.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "common/base/time.h"
#include "master/upkeep/leader_rounds.h"
#include "master/store/history_store.h"
#include "master/store/log_store.h"
#include "master/store/retention_store.h"

namespace rota::master {

struct RunRetentionOptions {
  Millis keep_runs{0};               ///< for jobs that say nothing; 0: forever
  std::int32_t rows_per_round = 1000; ///< of runs, and of gap rows
  std::int32_t runs_per_delete = 500; ///< in one transaction, so that no lock is held long (P26)
  std::int32_t chunks_per_delete = 100;
  int deletes_per_round = 10;
  Millis pause_while_deleting{2};    ///< at least; else a quarter of the time that the round took
  Millis pause_in_pass{500};         ///< between two rounds that found nothing
  Millis pause_after_pass{600'000};
  Millis pause_after_deleting{60'000}; ///< after a pass that found something due
};

/// How long to pause behind a round that took so long and deleted something: the longer the database takes,
/// the longer it is left to others. Pure.
Millis pause_behind(Millis took, Millis at_least);

/// Owner: Services. One thread of its own. All references outlive it.
class RunRetention {
 public:
  struct Stores {
    store::HistoryStore& history;
    store::RetentionStore& notes;    ///< where deleted output is noted, as long as the run is there
    store::LogStore& logs;
  };
  /// `holds` says that the clock can not be trusted now.
  RunRetention(Stores stores, const Clock& clock, std::function<bool()> holds, RunRetentionOptions options);

  void start() { rounds_.start(); }
  void stop() { rounds_.stop(); }
  /// Any thread; never waits.
  void set_leading(bool leads) { rounds_.set_leading(leads); }
  /// From the next round on, which begins anew and soon. Any thread; never waits.
  void set_options(const RunRetentionOptions& options);

  struct Round {
    std::size_t runs = 0;            ///< found due
    std::size_t gaps = 0;            ///< deleted
    bool is_deleting = false;        ///< output of those runs is left to be deleted, then they go
    bool pass_over = false;          ///< all were looked at; the next round begins anew
  };
  /// One round. The thread's, or a test's. After an error the next round takes up where this one was.
  Result<Round> round();

 private:
  Millis round_and_tell();
  Millis pause_after(const Result<Round>& round, Millis took) const;
  void tell(const Round& round);
  Result<void> begin_pass();
  Result<void> look_at_runs(Round& done);
  Result<void> look_at_gaps(Round& done);
  Result<void> note_pruned(const std::vector<RunId>& runs, WallTime now);
  Result<void> delete_some(Round& done);
  Result<void> erase_runs();
  void begin_anew();
  void take_options();

  const Stores stores_;
  const Clock& clock_;
  const std::function<bool()> holds_;
  std::mutex options_mutex_;             ///< guards what is wanted
  RunRetentionOptions wanted_;
  RunRetentionOptions options_;          ///< of the thread
  RunId after_;                          ///< passed up to here
  store::GapKey gaps_after_;
  std::optional<Millis> shortest_keep_;  ///< of this pass; nothing: it has not begun
  bool all_runs_seen_ = false;           ///< of this pass
  bool all_gaps_seen_ = false;
  std::vector<store::PastRun> deleting_; ///< their ticks are not expected any more; not all deleted
  std::size_t runs_deleted_ = 0;         ///< since it was last told
  std::size_t gaps_deleted_ = 0;
  MonoTime told_;
  bool pass_deleted_ = false;
  LeaderRounds rounds_;                  ///< the last: it uses all others
};

}  // namespace rota::master
