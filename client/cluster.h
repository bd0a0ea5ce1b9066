// How a program talks to a Rota cluster. It finds the leader through ZooKeeper or a list of masters,
// follows it when it moves, repeats requests that were certainly not done, and repeats a submit safely
// (each has a request key). The `rota` command is built on this; your program can be too:
//
//   rota::client::Cluster cluster({.masters = {"127.0.0.1:7400"}});
//   auto run = cluster.submit(rota::client::command_definition({"/bin/date"}));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <JobService.h>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::client {

struct ClusterOptions {
  std::vector<std::string> masters;   ///< host:port, any of the masters
  std::string zookeeper;              ///< host:port,...; used when `masters` is empty
  std::string cluster = "rota";       ///< its name in ZooKeeper
  Millis deadline{10'000};            ///< for one call with all its repeats
  std::string token;                  ///< empty until authentication is configured
};

/// Thread: one at a time. Errors of every call: the server's error; Unavailable or NotLeader when no
/// master, or no leader, was found before the deadline; UnknownOutcome when an answer was lost and a
/// repeat could do harm.
class Cluster {
 public:
  explicit Cluster(ClusterOptions options);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Starts one run. An empty request key is replaced by a random one, so that a repeat after a lost
  /// answer cannot start the run twice.
  Result<thrift::SubmitResult> submit(thrift::SubmitItem item);
  /// Up to 1,000 at once; keys as above. When an item was refused, or may not have been stored, because the
  /// leader changed or was busy, it is repeated until the deadline. Its error says when that did not help.
  Result<std::vector<thrift::SubmitResult>> submit_many(std::vector<thrift::SubmitItem> items);
  /// Idempotent: the same definition again is "unchanged". Refused items are repeated as above. Items that
  /// may have been stored are repeated only when no edit names an expected version: a repeat would miss it.
  Result<std::vector<thrift::JobEdited>> apply_jobs(const std::vector<thrift::JobEdit>& edits,
                                                    bool dry_run);
  Result<thrift::SubmitResult> run_now(const std::string& space, const std::string& name,
                                       const std::map<std::string, std::string>& parameters,
                                       std::string request_key);
  Result<thrift::JobEdited> set_paused(const std::string& space, const std::string& name,
                                       bool paused, const std::string& why);
  /// After a lost answer the job may already be gone: then id and version are 0.
  Result<thrift::JobEdited> delete_job(const std::string& space, const std::string& name,
                                       const std::string& why);
  /// Brings back the latest deleted job of that name. Conflict when another job has that name.
  Result<thrift::JobEdited> undelete_job(const std::string& space, const std::string& name);
  /// As apply_jobs.
  Result<std::vector<thrift::CalendarEdited>> apply_calendars(const std::vector<thrift::CalendarEdit>& edits,
                                                              bool dry_run);
  /// Conflict while a job uses it. After a lost answer it may already be gone: then its version is 0.
  Result<thrift::CalendarEdited> delete_calendar(const std::string& space, const std::string& name,
                                                 const std::string& why);
  Result<std::string> cancel_run(std::int64_t run, const std::string& why);

  /// Zero deadline: running attempts may finish.
  Result<thrift::DrainAnswer> drain_worker(const std::string& worker, Millis deadline,
                                           const std::string& why);
  Result<bool> forget_worker(const std::string& worker);
  Result<thrift::DrainAnswer> resume_worker(const std::string& worker, const std::string& why);
  /// Conflict while it is registered; NotFound when it never was. `dry_run` changes nothing.
  Result<thrift::DeathAnswer> confirm_dead(const std::string& worker, const std::string& why, bool dry_run);

  /// Conflict when another freeze meets it; a later end for the same namespace (empty: all) is fine.
  Result<thrift::FreezeInfo> begin_freeze(const std::string& space, WallTime until, const std::string& why);
  Result<thrift::FreezeInfo> end_freeze(const std::string& space);
  Result<std::vector<thrift::FreezeInfo>> list_freezes();
  /// Of a pool or a namespace; what the edit does not set stays as it is.
  Result<thrift::LimitsEdited> set_limits(const thrift::LimitsEdit& edit);
  /// `side`: "pool" or "namespace".
  Result<std::vector<thrift::LimitsInfo>> list_limits(const std::string& side,
                                                      const std::string& prefix = {});
  /// Expectations of jobs that were not met, the newest first; `job` empty: all of the namespace.
  Result<std::vector<thrift::LateInfo>> list_late(const std::string& space, const std::string& job,
                                                  std::int32_t limit);
  /// The newest first.
  Result<std::vector<thrift::PoolScaleInfo>> list_scaling(const std::string& prefix);
  Result<std::vector<thrift::ScaleChangeInfo>> list_scale_changes(const std::string& pool,
                                                                  std::int32_t limit);
  Result<std::vector<thrift::NotificationInfo>> list_notifications(bool only_open, std::int32_t limit);
  /// What the receiver answered; NotFound: there is none of that name.
  Result<std::string> test_receiver(const std::string& receiver);
  /// The one of that name, or all; `here`: as the first master that answers has them, and not the leader.
  Result<std::vector<thrift::SettingInfo>> list_settings(const std::string& name, bool here = false);
  Result<thrift::SettingEdited> set_setting(const thrift::SettingEdit& edit);
  Result<std::vector<thrift::SettingVersion>> setting_history(const std::string& name);
  Result<thrift::SemaphoreEdited> set_semaphore(const thrift::SemaphoreEdit& edit);
  /// Conflict while a job uses it, or a run holds or waits for a token of it.
  Result<thrift::SemaphoreEdited> delete_semaphore(const std::string& space, const std::string& name);
  Result<std::vector<thrift::SemaphoreInfo>> list_semaphores(const std::string& space,
                                                             const std::string& prefix);
  Result<thrift::SemaphoreInfo> get_semaphore(const std::string& space, const std::string& name);
  /// What happened, or will happen, at that moment of a saved job.
  Result<thrift::TickAnswer> explain_tick(const std::string& space, const std::string& name, WallTime at);

  /// By name, at most 1,000; only those after `after`, which masters of before do not know.
  Result<std::vector<thrift::JobInfo>> list_jobs(const std::string& space, const std::string& prefix,
                                                 std::int32_t limit, const std::string& after = {});
  /// All of them by name, a page at a time, until `wants_more` says no. Unsupported: there are more than a
  /// page, and the masters are of a version that lists no more.
  Result<void> each_job(const std::string& space, const std::string& prefix, std::int32_t page,
                        const std::function<bool(const thrift::JobInfo&)>& wants_more);
  Result<thrift::JobInfo> get_job(const std::string& space, const std::string& name);
  Result<std::vector<thrift::CalendarInfo>> list_calendars(const std::string& space,
                                                           const std::string& prefix, std::int32_t limit);
  Result<thrift::CalendarInfo> get_calendar(const std::string& space, const std::string& name);
  Result<std::vector<thrift::CalendarDay>> preview_calendar(const thrift::PreviewRequest& request);
  /// Ticks that did not fire, newest first.
  Result<std::vector<thrift::GapInfo>> list_gaps(const std::string& space, const std::string& name,
                                                 std::int32_t limit);
  Result<std::vector<thrift::RunInfo>> list_runs(const thrift::RunFilter& filter);
  Result<thrift::RunDetail> get_run(std::int64_t run);
  Result<thrift::LogSlice> read_log(const thrift::LogRequest& request);
  Result<thrift::Explanation> explain(std::int64_t run);
  Result<std::vector<thrift::WorkerInfo>> list_workers();
  Result<std::vector<thrift::WorkerLife>> list_lives(const std::string& worker, std::int32_t limit);
  Result<thrift::ClusterStatus> cluster_status();
  /// All that are registered; each was asked for its own figures.
  Result<std::vector<thrift::MasterNode>> list_masters();
  /// The minutes of the last 24 hours, oldest first.
  Result<thrift::NodeHistory> worker_history(const std::string& worker);
  /// What the attempts that run there use.
  Result<std::vector<thrift::RunUsage>> worker_usage(const std::string& worker);
  Result<thrift::CapacityReport> capacity();
  /// What needs somebody now.
  Result<thrift::AttentionReport> attention(const thrift::AttentionRequest& request);
  /// One call; the answer may be partial when the request allows that.
  Result<thrift::VerifyReport> verify(const thrift::VerifyRequest& request, Millis deadline);
  Result<thrift::NextFires> next_fires(const thrift::Schedule& schedule, WallTime after, std::int32_t count,
                                       const std::string& space, const std::string& name);

 private:
  class Connection;

  /// Whether a repeat after a lost answer is harmless. When a repeated deletion finds nothing, the first was
  /// done. Read: the call never changes anything.
  enum class Repeat { Harmless, HarmlessDeletion, Never, Read };
  template <typename Value>
  using Call = std::function<void(thrift::JobServiceClient&, Value&, const thrift::RequestHead&)>;

  template <typename Value>
  Result<Value> ask(bool of_leader, Repeat repeat, const Call<Value>& call, Millis deadline);
  template <typename Value>
  Result<Value> query(const Call<Value>& call);
  template <typename Value>
  Result<Value> change(Repeat repeat, const Call<Value>& call);
  template <typename Item, typename Answer>
  using CallFor = std::function<Call<std::vector<Answer>>(const std::vector<Item>&)>;
  template <typename Item, typename Answer>
  Result<std::vector<Answer>> change_each(Repeat repeat, const std::vector<Item>& items,
                                          const CallFor<Item, Answer>& call_for);

  const ClusterOptions options_;
  std::unique_ptr<Connection> connection_;
};

/// A definition that runs one command with the defaults of a job file.
thrift::JobDefinition command_definition(std::vector<std::string> argv);

/// A request key that no other has. It begins with the time, so that keys are stored at the end of their
/// index, side by side, however many there are.
std::string fresh_request_key();

}  // namespace rota::client
