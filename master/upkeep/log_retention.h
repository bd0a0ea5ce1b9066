// Deletes output that was kept long enough, and the oldest when there is too much, while this master leads:
// round by round through all runs that have output. Each round is a few short statements, so that its cost
// does not depend on how much is stored and no lock is held long. It never delays the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "common/base/time.h"
#include "master/upkeep/leader_rounds.h"
#include "master/store/log_store.h"
#include "master/store/retention_store.h"

namespace rota::master {

struct RetentionOptions {
  Millis keep_logs{0};               ///< for jobs that say nothing; 0: forever
  std::int64_t limit_bytes = 0;      ///< of all output; 0: none. Counted in one pass, obeyed in the next
  std::int32_t runs_per_round = 200;
  std::int32_t rows_per_delete = 100;
  int deletes_per_round = 10;
  Millis pause_while_deleting{100};
  Millis pause_in_pass{1000};        ///< between two rounds that found nothing
  Millis pause_after_pass{60'000};
};

/// Whether a run's output is to be deleted now. Pure.
bool is_output_due(const store::LoggedRun& run, Millis keep_by_default, WallTime now);

/// Owner: Services. One thread of its own. All references outlive it.
class LogRetention {
 public:
  /// `holds` says that the clock can not be trusted now.
  LogRetention(store::LogStore& logs, store::RetentionStore& history, const Clock& clock,
               std::function<bool()> holds, RetentionOptions options);

  void start() { rounds_.start(); }
  void stop() { rounds_.stop(); }
  /// Any thread; never waits.
  void set_leading(bool leads) { rounds_.set_leading(leads); }
  /// From the next round on, which begins anew and soon. Any thread; never waits.
  void set_options(const RetentionOptions& options);

  struct Round {
    std::size_t seen = 0;            ///< runs that were looked at
    std::size_t due = 0;
    std::size_t for_room = 0;        ///< of these, before their time
    bool is_deleting = false;        ///< more of them is to be deleted
    bool pass_over = false;          ///< the last run was passed; the next round begins anew
  };
  /// One round. The thread's, or a test's. After an error the next round takes up where this one was.
  Result<Round> round();

 private:
  Millis round_and_tell();
  Millis pause_after(const Result<Round>& round) const;
  Result<bool> delete_some();
  Result<std::vector<RunId>> find_due(Round& done);
  Result<std::vector<RunId>> too_much(const std::vector<store::LoggedRun>& kept, Round& done);
  void end_pass();
  void begin_anew();
  void take_options();

  store::LogStore& logs_;
  store::RetentionStore& history_;
  const Clock& clock_;
  const std::function<bool()> holds_;
  std::mutex options_mutex_;         ///< guards what is wanted
  RetentionOptions wanted_;
  RetentionOptions options_;         ///< of the thread
  RunId after_;                      ///< passed up to here
  std::vector<RunId> deleting_;      ///< noted as pruned, not all deleted
  std::int64_t counted_bytes_ = 0;   ///< in this pass, of what stays
  std::int64_t too_much_bytes_ = 0;  ///< by the last whole pass of this time in office, less what has gone
  LeaderRounds rounds_;              ///< the last: it uses all others
};

}  // namespace rota::master
