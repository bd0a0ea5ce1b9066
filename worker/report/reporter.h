// Brings outcomes home, whatever happens in between: syncs them to the outbox (many at once), sends them
// to the leader in batches, and sends them again until it has acknowledged them, which it does after
// its commit. Also tells, without keeping it, what has been running for a while.
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
  Millis rpc_deadline{2000};
  Millis started_after{150};       ///< a shorter run is told only when it has ended
  Millis notes_every{1000};        ///< of one attempt
  Millis backoff_first{50};
  Millis backoff_most{2000};
};

/// Owner: the worker. Two threads of its own: one writes, one sends.
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
  /// has, on the sending thread.
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
    MonoTime not_before{};
  };
  struct Start {
    model::AttemptReport report;
    MonoTime due{};
  };
  /// What an attempt said of itself, merged, until the leader has stored it.
  struct Noted {
    model::AttemptReport report;
    bool is_pending = true;
    std::int64_t version = 1;        ///< grows with each note
    std::int64_t sent_version = 0;
    MonoTime not_before{};
  };
  void write_loop(std::stop_token stop);
  void write_batch(const std::vector<model::AttemptReport>& batch, std::stop_token stop);
  void forget_acknowledged();
  void send_loop(std::stop_token stop);
  std::vector<model::AttemptReport> next_batch();
  void add_notes(std::vector<model::AttemptReport>& batch, MonoTime now);
  void apply_note_answer(const model::AttemptReport& report);
  std::optional<MonoTime> next_due() const;
  bool send(const std::vector<model::AttemptReport>& batch);
  void apply_answer(const std::vector<model::AttemptReport>& batch,
                   const std::vector<model::AttemptKey>& stored);

  const ReporterOptions options_;
  LeaderChannel channel_;            // sending thread only
  const std::function<model::WorkerKey()> life_;
  desk::StoredObserver stored_;
  std::function<void(const std::vector<model::AttemptKey>&)> acknowledged_;
  std::unique_ptr<Outbox> outbox_;   // writing thread only, once started

  mutable std::mutex mutex_;
  std::condition_variable_any to_write_changed_;
  std::condition_variable_any to_send_changed_;
  std::condition_variable_any home_;
  std::vector<model::AttemptReport> to_write_;
  bool is_writing_ = false;
  std::vector<model::AttemptKey> to_forget_;
  std::map<model::AttemptKey, Waiting> to_send_;
  std::deque<Start> starts_;
  std::map<model::AttemptKey, Noted> notes_;  ///< of attempts that run or wait in to_send_
  std::set<model::AttemptKey> running_;  ///< in starts_, and not finished
  std::int64_t live_bytes_ = 0;
  std::jthread writer_;
  std::jthread sender_;
};

}  // namespace rota::worker::report
