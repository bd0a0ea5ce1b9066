// Drives a Scheduler by hand and records what it asks for, as rows and messages. After every event the
// invariants are checked, and that no batch names a run twice.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "builders.h"
#include "master/core/scheduler.h"

namespace rota::test {

class Harness {
 public:
  explicit Harness(master::core::Recovered recovered = {}, master::core::CoreOptions options = {},
                   Epoch epoch = Epoch{7}, std::optional<Now> at = {});

  // --- driving
  void handle(const master::core::Event& event);
  /// Moves both clocks, in steps no longer than the core asked for, with a TimePassed at each.
  void advance(Millis by);
  void tick() { handle(master::core::TimePassed{}); }
  void jump_wall(Millis by) { now.wall += by; }

  /// Node, listing and an empty inventory: ready for work.
  model::WorkerKey join(const model::WorkerInfo& info);
  void listed() { handle(master::core::WorkersListed{}); }
  /// The whole state is checked after each such number of events. More than 1 is for tests that build thousands.
  int check_each = 1;
  bool listing_works = true;                     ///< whether a listing that is asked for is answered
  /// Its session has expired: no beat came for longer than a lease, and that was seen.
  void leave(const model::WorkerKey& key);
  /// Somebody ended its session, or it expired unseen: the last beat may have come just now.
  void end_session(const model::WorkerKey& key) { handle(master::core::WorkerGone{key}); }
  void inventory(const model::WorkerKey& key, std::vector<model::HeldAttempt> held = {},
                 std::optional<model::DrainAck> drain = {});

  JobId apply(const JobBuilder& job, std::optional<JobVersion> expected = {});
  /// In the namespace "default". An error is the answer.
  Result<master::core::CalendarApplied> apply_calendar(const model::Calendar& calendar,
                                                       std::optional<std::int32_t> expected = {});
  Result<master::core::CalendarApplied> delete_calendar(const std::string& name);
  /// In the namespace "default". An error is the answer.
  Result<master::core::SemaphoreApplied> set_semaphore(const std::string& name, std::int32_t count,
                                                       std::optional<std::int32_t> expected = {});
  Result<master::core::SemaphoreApplied> delete_semaphore(const std::string& name);
  /// An error is the answer.
  Result<master::core::QuotaApplied> set_quota(master::core::SetQuota event);
  Result<master::core::SettingApplied> set_setting(const std::string& name, std::optional<std::int64_t> value,
                                                   std::optional<std::int32_t> expected = {});
  RunId run_now(const std::string& name, const std::string& key = {}, const std::string& hash = {});
  RunId submit(const std::string& key = {}, const std::string& hash = {}, JobId job = JobId{kOneOffBit + 5});
  /// The same, and its key was not looked up; an error is the answer.
  Result<RunId> submit_unused(const std::string& key, const master::core::UnusedKeys& unused);
  void cancel(RunId run);
  void pause(const std::string& name, bool paused = true);
  void remove(const std::string& name);
  bool renew(const model::WorkerKey& key);

  void accept(RunId run);
  void refuse(RunId run, model::Refusal refusal);
  void lose_answer(RunId run);
  void report(RunId run, model::RunState state);
  void report(model::AttemptKey key, const model::WorkerKey& worker, model::RunState state);
  void report_started(RunId run);

  // --- looking
  const model::Run& run(RunId id) const { return runs.at(id); }
  model::RunState state(RunId id) const { return runs.at(id).progress.state; }
  model::Reason reason(RunId id) const { return runs.at(id).progress.reason; }
  model::AttemptKey attempt(RunId id) const { return {id, runs.at(id).progress.attempt}; }
  std::vector<RunId> runs_of(JobId job) const;
  std::vector<model::Gap> gaps_of(JobId job) const;
  /// Sent since the last call, of one kind.
  std::vector<master::core::DispatchItem> pop_dispatches();
  std::vector<master::core::SendDispatch> pop_dispatch_calls();
  std::vector<master::core::SendCancel> pop_cancels();
  std::vector<master::core::SendHello> pop_hellos();
  std::vector<master::core::SendDrain> pop_drains();
  master::core::RunView view(RunId id) const;
  std::int64_t counter(const std::string& name) const;
  /// What a new Term would read of all that was recorded.
  master::core::Recovered recovered() const;

  Now now{wall_from_ms(1'700'000'000'000), MonoTime{1000s}};
  Epoch epoch;
  master::core::CoreOptions options;
  std::unique_ptr<master::core::Scheduler> scheduler;

  master::core::Effects last;                    ///< of the last event
  std::map<RunId, model::Run> runs;
  std::map<JobId, model::Job> jobs;
  std::map<std::pair<JobId, JobVersion>, model::JobVersionRow> versions;
  std::vector<model::Gap> gaps;
  std::map<std::int64_t, model::Freeze> freezes;
  std::map<model::StartKey, model::WorkerStart> starts;
  std::map<std::pair<RunId, std::string>, model::ChildRow> children;  ///< by parent and name
  std::map<RunId, model::OwedChildren> owed;
  std::vector<model::AttemptRow> attempts;
  std::vector<master::core::WorkerLife> lives;
  std::map<std::string, model::WorkerDrain> drains;
  std::vector<master::core::Notice> notices;
  std::map<model::WorkerKey, model::WorkerDeath> deaths;
  std::map<std::int64_t, model::WorkerHold> holds;
  std::vector<model::CalendarRow> calendars;
  std::vector<model::SemaphoreRow> semaphores;
  std::vector<model::QuotaRow> quotas;
  std::vector<model::SettingRow> settings;
  std::map<std::int64_t, model::Notification> notifications;
  std::map<std::int64_t, model::ScaleChange> scaling;
  std::vector<model::ScaleChange> hook_calls;    ///< asked to be made, in order
  std::vector<model::LateRow> late;
  std::map<JobId, model::JobPace> paces;
  std::vector<model::LateRow> late_before;       ///< of the Terms before, as far as this one read them
  std::vector<model::Notification> told;         ///< asked to be sent, in order
  std::vector<model::WorkerKey> watched;         ///< lives whose beats were to be looked at
  std::optional<master::core::Watermark> watermark;
  std::int64_t row_writes = 0;                   ///< new and updated run rows
  std::int64_t watermark_writes = 0;

 private:
  std::int64_t handled_ = 0;
  void record(const master::core::Effects& effects);
  template <typename Message>
  std::vector<Message> take();
  template <typename Body>
  Body reply_of(const master::core::Event& event);

  std::vector<master::core::Send> sends_;
  std::int64_t next_token_ = 1;
};

}  // namespace rota::test
