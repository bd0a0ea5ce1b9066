// Brings outcomes home, whatever happens in between: syncs them to the outbox (many at once), sends them
// to the leader in batches, and sends them again until it has acknowledged them, which it does after
// its commit. Also tells, without keeping it, what has been running for a while.
//
// An outcome on its way: to_write_ -> synced: ready_ -> in a call -> acknowledged: gone
//                                                         |-> no answer, or not named: ready_, or later_
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "worker/report/leader_channel.h"
#include "worker/report/outbox.h"
#include "worker/desk/outcome_sink.h"

namespace rota::worker::report {

struct ReporterOptions {
  std::string outbox_file;
  std::int64_t outbox_limit_bytes = 256ll << 20;
  std::size_t calls_at_once = 2;
  std::size_t worth_a_call = 32;   ///< so many outcomes are sent while another call is under way
  Millis rpc_deadline{2000};
  Millis started_after{150};       ///< a shorter run is told only when it has ended
  Millis notes_every{1000};        ///< of one attempt
  Millis backoff_first{50};
  Millis backoff_most{2000};
};

/// Owner: the worker. Threads of its own: one writes, and one sends for each call at once.
class Reporter final : public desk::OutcomeSink {
 public:
  /// `life` names the present life, for the head of each request.
  Reporter(ReporterOptions options, const desk::LeaderAddress& leader,
           std::function<model::WorkerKey()> life);
  ~Reporter() override;

  /// Opens the outbox. What it still has to tell is in unreported().
  Result<void> open();
  std::vector<model::AttemptReport> unreported() const;

  /// `stored` hears of synced outcomes on the writing thread, `acknowledged` of keys that the leader
  /// has, on a sending thread.
  void start(desk::StoredObserver stored,
             std::function<void(const std::vector<model::AttemptKey>&)> acknowledged);
  /// Ends the threads; what was not sent stays in the outbox, what was not synced is lost to this life
  /// and still held by the warden. Twice is fine.
  void stop();

  void started(model::AttemptReport report) override;
  void noted(model::AttemptReport report) override;
  void finished(model::AttemptReport report) override;

  /// Waits until everything is synced and acknowledged; false after the deadline.
  bool wait_home(Millis at_most);
  /// More than the limit is waiting for the leader: nothing new should be accepted.
  bool is_full() const override;
  std::size_t waiting() const;
  std::int64_t outbox_bytes() const;

 private:
  struct Waiting {
    model::AttemptReport report;
    bool is_queued = false;          ///< in ready_ or later_, once
    bool is_in_call = false;
  };
  struct Start {
    model::AttemptReport report;
    MonoTime due{};
  };
  /// What an attempt said of itself, merged, until the leader has stored it.
  struct Noted {
    model::AttemptReport report;
    bool is_pending = true;
    bool is_in_call = false;
    std::int64_t version = 1;        ///< grows with each note
    std::int64_t sent_version = 0;
    MonoTime not_before{};
  };
  using Batch = std::vector<model::AttemptReport>;

  // the writing thread
  void write_loop(std::stop_token stop);
  void write_batch(const Batch& batch, std::stop_token stop);
  void forget_acknowledged();

  // a sending thread; those with "locked" under the lock
  void send_loop(std::stop_token stop);
  Batch next_batch_locked();
  void queue_locked(const model::AttemptReport& report);
  void add_outcomes_locked(Batch& batch, std::size_t& bytes, MonoTime now);
  void add_starts_locked(Batch& batch, MonoTime now);
  void add_notes_locked(Batch& batch, std::size_t& bytes, MonoTime now);
  std::optional<MonoTime> next_due_locked() const;
  bool may_add_a_call_locked() const;
  std::optional<std::vector<model::AttemptKey>> ask(LeaderChannel& channel, const Batch& batch) const;
  void apply_answer(const Batch& batch, const std::vector<model::AttemptKey>& stored);
  void put_back(const Batch& batch);
  void end_note_locked(const model::AttemptReport& report, bool is_stored);

  const ReporterOptions options_;
  const desk::LeaderAddress& leader_;
  const std::function<model::WorkerKey()> life_;
  desk::StoredObserver stored_;
  std::function<void(const std::vector<model::AttemptKey>&)> acknowledged_;
  std::unique_ptr<Outbox> outbox_;   // writing thread only, once started

  mutable std::mutex mutex_;
  std::condition_variable_any to_write_changed_;
  std::condition_variable_any to_send_changed_;
  std::condition_variable_any home_;
  Batch to_write_;
  bool is_writing_ = false;
  std::vector<model::AttemptKey> to_forget_;
  std::map<model::AttemptKey, Waiting> to_send_;  ///< written, not acknowledged
  std::deque<model::AttemptKey> ready_;  ///< of to_send_, in the outbox's order
  std::multimap<MonoTime, model::AttemptKey> later_;  ///< the same, not before then
  std::size_t calls_ = 0;            ///< under way, and pauses after those that failed
  bool is_troubled_ = false;         ///< the last call failed: one at a time
  std::deque<Start> starts_;
  std::map<model::AttemptKey, Noted> notes_;  ///< of attempts that run or wait in to_send_
  std::set<model::AttemptKey> running_;  ///< in starts_, and not finished
  std::int64_t live_bytes_ = 0;
  std::jthread writer_;
  std::vector<std::jthread> senders_;
};

}  // namespace rota::worker::report
