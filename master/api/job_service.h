// What users, programs and the `rota` command ask (services.h). Changes go through the leader's
// loop; queries read the store and the leader's last snapshot.
#pragma once

#include <string>
#include <vector>

#include "common/rpc/caller_rules.h"
#include "master/api/api_server.h"
#include "master/api/attention_rules.h"
#include "master/api/key_floors.h"
#include "master/api/leader_desk.h"
#include "master/api/log_tail.h"
#include "master/api/services.h"
#include "master/api/tick_words.h"
#include "master/api/why_rules.h"

namespace rota::master::api {

class StoredCalendars;
/// For the wire.
std::vector<thrift::FreezeInfo> to_wire(const std::vector<model::Freeze>& freezes, WallTime now);

/// Thread: any (the server's pool). Methods throw RotaError and nothing else.
class JobServiceHandler final : public JobService {
 public:
  /// All outlive it.
  JobServiceHandler(ApiParts parts, const ApiOptions& options, LeaderDesk& desk, LogTail& tail)
      : parts_(std::move(parts)), options_(options), desk_(desk), floors_(parts_.reader), tail_(tail) {}

  // Changes (job_changes.cpp)
  void submit(const Caller& caller, thrift::SubmitResult& out, const Head& head,
              const thrift::SubmitItem& item) override;
  void submit_many(const Caller& caller, std::vector<thrift::SubmitResult>& out, const Head& head,
                   const std::vector<thrift::SubmitItem>& items) override;
  void apply_jobs(const Caller& caller, std::vector<thrift::JobEdited>& out, const Head& head,
                  const std::vector<thrift::JobEdit>& edits, bool dry_run) override;
  void set_paused(const Caller& caller, thrift::JobEdited& out, const Head& head,
                  const std::string& space, const std::string& name, bool paused,
                  const std::string& why) override;
  void delete_job(const Caller& caller, thrift::JobEdited& out, const Head& head,
                  const std::string& space, const std::string& name,
                  const std::string& why) override;
  void run_now(const Caller& caller, thrift::SubmitResult& out, const Head& head,
               const std::string& space, const std::string& name,
               const std::map<std::string, std::string>& parameters,
               const std::string& request_key) override;
  void cancel_run(const Caller& caller, std::string& out, const Head& head, std::int64_t run,
                  const std::string& why) override;
  void drain_worker(const Caller& caller, thrift::DrainAnswer& out, const Head& head,
                    const std::string& worker, std::int64_t deadline_ms,
                    const std::string& why) override;
  void resume_worker(const Caller& caller, thrift::DrainAnswer& out, const Head& head,
                     const std::string& worker, const std::string& why) override;
  void confirm_dead(const Caller& caller, thrift::DeathAnswer& out, const Head& head,
                    const std::string& worker, const std::string& why, bool dry_run) override;
  void begin_freeze(const Caller& caller, thrift::FreezeInfo& out, const Head& head,
                    const std::string& space, std::int64_t until_ms, const std::string& why) override;
  void end_freeze(const Caller& caller, thrift::FreezeInfo& out, const Head& head,
                  const std::string& space) override;
  void undelete_job(const Caller& caller, thrift::JobEdited& out, const Head& head,
                    const std::string& space, const std::string& name) override;

  // Queries (job_queries.cpp)
  void list_jobs(const Caller& caller, std::vector<thrift::JobInfo>& out, const Head& head,
                 const std::string& space, const std::string& prefix, std::int32_t limit,
                 const std::string& after) override;
  void get_job(const Caller& caller, thrift::JobInfo& out, const Head& head,
               const std::string& space, const std::string& name) override;
  void list_gaps(const Caller& caller, std::vector<thrift::GapInfo>& out, const Head& head,
                 const std::string& space, const std::string& name, std::int32_t limit) override;
  // Calendars (calendar_methods.cpp)
  void apply_calendars(const Caller& caller, std::vector<thrift::CalendarEdited>& out, const Head& head,
                       const std::vector<thrift::CalendarEdit>& edits, bool dry_run) override;
  void delete_calendar(const Caller& caller, thrift::CalendarEdited& out, const Head& head,
                       const std::string& space, const std::string& name, const std::string& why) override;
  void list_calendars(const Caller& caller, std::vector<thrift::CalendarInfo>& out, const Head& head,
                      const std::string& space, const std::string& prefix, std::int32_t limit) override;
  void get_calendar(const Caller& caller, thrift::CalendarInfo& out, const Head& head,
                    const std::string& space, const std::string& name) override;
  void preview_calendar(const Caller& caller, std::vector<thrift::CalendarDay>& out, const Head& head,
                        const thrift::PreviewRequest& request) override;

  // Limits of pools and namespaces (job_limits.cpp)
  void set_limits(const Caller& caller, thrift::LimitsEdited& out, const Head& head,
                  const thrift::LimitsEdit& edit) override;
  void list_limits(const Caller& caller, std::vector<thrift::LimitsInfo>& out, const Head& head,
                   const std::string& side, const std::string& prefix) override;

  // Wanted numbers of workers (job_scaling.cpp)
  void list_scaling(const Caller& caller, std::vector<thrift::PoolScaleInfo>& out, const Head& head,
                    const std::string& prefix) override;
  void list_scale_changes(const Caller& caller, std::vector<thrift::ScaleChangeInfo>& out, const Head& head,
                          const thrift::ScaleQuery& query) override;

  // Notifications (job_notifications.cpp)
  void list_late(const Caller& caller, std::vector<thrift::LateInfo>& out, const Head& head,
                 const thrift::LateQuery& query) override;
  void list_notifications(const Caller& caller, std::vector<thrift::NotificationInfo>& out, const Head& head,
                          const thrift::NotificationQuery& query) override;
  void test_receiver(const Caller& caller, std::string& out, const Head& head,
                     const std::string& receiver) override;
  // Settings (job_settings.cpp)
  void set_setting(const Caller& caller, thrift::SettingEdited& out, const Head& head,
                   const thrift::SettingEdit& edit) override;
  void list_settings(const Caller& caller, std::vector<thrift::SettingInfo>& out, const Head& head,
                     const std::string& name, bool here) override;
  void setting_history(const Caller& caller, std::vector<thrift::SettingVersion>& out, const Head& head,
                       const std::string& name) override;
  // Semaphores (job_semaphores.cpp)
  void set_semaphore(const Caller& caller, thrift::SemaphoreEdited& out, const Head& head,
                     const thrift::SemaphoreEdit& edit) override;
  void delete_semaphore(const Caller& caller, thrift::SemaphoreEdited& out, const Head& head,
                        const std::string& space, const std::string& name) override;
  void list_semaphores(const Caller& caller, std::vector<thrift::SemaphoreInfo>& out, const Head& head,
                       const std::string& space, const std::string& prefix, std::int32_t limit) override;
  void get_semaphore(const Caller& caller, thrift::SemaphoreInfo& out, const Head& head,
                     const std::string& space, const std::string& name) override;

  void list_runs(const Caller& caller, std::vector<thrift::RunInfo>& out, const Head& head,
                 const thrift::RunFilter& filter) override;
  void get_run(const Caller& caller, thrift::RunDetail& out, const Head& head,
               std::int64_t run) override;
  void read_log(const Caller& caller, thrift::LogSlice& out, const Head& head,
                const thrift::LogRequest& request) override;
  void next_fires(const Caller& caller, thrift::NextFires& out, const Head& head,
                  const thrift::Schedule& schedule, std::int64_t after_ms, std::int32_t count,
                  const std::string& space, const std::string& name) override;
  void list_freezes(const Caller& caller, std::vector<thrift::FreezeInfo>& out, const Head& head) override;
  void explain_tick(const Caller& caller, thrift::TickAnswer& out, const Head& head,
                    const std::string& space, const std::string& name, std::int64_t at_ms) override;
  void verify(const Caller& caller, thrift::VerifyReport& out, const Head& head,
              const thrift::VerifyRequest& request) override;

  // What the leader knows (job_status.cpp)
  void explain(const Caller& caller, thrift::Explanation& out, const Head& head,
               std::int64_t run) override;
  void list_workers(const Caller& caller, std::vector<thrift::WorkerInfo>& out,
                    const Head& head) override;
  void forget_worker(const Caller& caller, const Head& head, const std::string& worker) override;
  void list_lives(const Caller& caller, std::vector<thrift::WorkerLife>& out, const Head& head,
                  const std::string& worker, std::int32_t limit) override;
  void cluster_status(const Caller& caller, thrift::ClusterStatus& out, const Head& head) override;
  // Nodes and capacity (job_nodes.cpp)
  void list_masters(const Caller& caller, std::vector<thrift::MasterNode>& out, const Head& head) override;
  void worker_history(const Caller& caller, thrift::NodeHistory& out, const Head& head,
                      const thrift::HistoryQuery& query) override;
  void worker_usage(const Caller& caller, std::vector<thrift::RunUsage>& out, const Head& head,
                    const std::string& worker) override;
  void capacity(const Caller& caller, thrift::CapacityReport& out, const Head& head) override;
  void attention(const Caller& caller, thrift::AttentionReport& out, const Head& head,
                 const thrift::AttentionRequest& request) override;  // job_attention.cpp

 private:
  using Submitted = std::vector<thrift::SubmitResult>;

  MonoTime deadline_of(const Head& head) const;
  /// For one hop to another master.
  Head head_onward(const Caller& caller, const Head& head, MonoTime deadline) const;
  void ask_master(const Caller& caller, const Head& head, const MasterView& master, thrift::MasterNode& node);
  /// NotLeader, unless the request asks to be passed on: then what the leader answers.
  template <typename Use>
  auto pass_on(const Caller& caller, const Head& head, MonoTime deadline, Use use);
  /// Asks the leader, one hop. Not for a request that was forwarded to this master.
  template <typename Use>
  auto ask_leader(const Caller& caller, const Head& head, MonoTime deadline, Use use);

  rpc::CallResult<Submitted> submit_here(const Caller& caller,
                                         const std::vector<thrift::SubmitItem>& items,
                                         MonoTime deadline);
  void answer_repeats(core::SubmitRuns& event, std::vector<std::size_t>& places, Submitted& out);
  /// The answer of an earlier request with this key; empty: the key is new.
  Result<std::optional<thrift::SubmitResult>> used_before(const Caller& caller, const std::string& key,
                                                          const std::string& hash);
  Result<thrift::JobEdited> plan_edit(const core::ApplyJob& event);
  std::vector<thrift::JobEdited> apply_here(const Caller& caller, const std::vector<thrift::JobEdit>& edits,
                                            bool dry_run, MonoTime deadline);
  template <typename Event>
  thrift::JobEdited change_job(const Caller& caller, Event event, const char* done, MonoTime deadline);
  thrift::DrainAnswer drain_here(const Caller& caller, core::DrainWorker event, MonoTime deadline);
  thrift::DeathAnswer confirm_here(const Caller& caller, core::ConfirmDead event, MonoTime deadline);
  template <typename Event>
  thrift::FreezeInfo freeze_here(Event event, MonoTime deadline);
  TickFacts tick_facts(const store::JobRow& row, WallTime at);
  thrift::JobEdited undelete_here(const Caller& caller, const std::string& space, const std::string& name,
                                  MonoTime deadline);
  Result<std::vector<model::CalendarRow>> calendar_now(const std::string& space, const std::string& name);
  Result<thrift::CalendarEdited> plan_calendar(const core::ApplyCalendar& event);
  std::vector<thrift::CalendarEdited> apply_calendars_here(const Caller& caller,
                                                           const std::vector<thrift::CalendarEdit>& edits,
                                                           bool dry_run, MonoTime deadline);
  template <typename Ask>
  std::vector<thrift::CalendarEdited> plan_calendars(const Caller& caller, const Head& head,
                                                     const std::vector<thrift::CalendarEdit>& edits,
                                                     MonoTime deadline, const Ask& ask);
  Error why_not_cancelled(std::int64_t run, const Error& answer);
  /// What its namespace says where it does not.
  void add_default_times(thrift::JobInfo& job) const;
  thrift::JobInfo info_of(const store::JobRow& row, StoredCalendars& calendars) const;
  WallTime recorded_through() const;
  void explain_row(const Caller& caller, thrift::Explanation& out, const Head& head,
                   const store::RunRow& row);
  std::string job_remark(const store::RunRow& row) const;
  std::string child_remark(const store::RunRow& row) const;
  void put_family(thrift::RunDetail& out, const store::RunRow& row, const model::JobDefinition* definition);
  std::string late_remark(const store::RunRow& row) const;
  // The checks behind `why` (job_why.cpp)
  void put_run_checks(thrift::Explanation& out, const store::RunRow& row,
                      const model::JobDefinition* definition, const core::RunView* view);
  void put_moment_checks(thrift::Explanation& out, const store::RunRow& row);
  MomentFacts moment_facts(const store::JobRow& row, const TickFacts& tick);
  bool tell_by_leader(const Caller& caller, thrift::TickAnswer& out, const Head& head,
                      const std::string& space, const std::string& name, std::int64_t at_ms);
  void put_tick_checks(const Caller& caller, thrift::TickAnswer& out, const Head& head,
                       const store::JobRow& row, const TickFacts& tick);
  thrift::Explanation explain_stored(const store::RunRow& row, const std::string& pool) const;
  thrift::ClusterStatus status_here() const;
  AttentionFacts attention_facts(const thrift::AttentionRequest& request,
                                 std::shared_ptr<const core::Snapshot> snapshot);

  const ApiParts parts_;
  const ApiOptions& options_;
  LeaderDesk& desk_;
  KeyFloors floors_;
  LogTail& tail_;
};

inline JobServiceHandler::Head JobServiceHandler::head_onward(const Caller& caller, const Head& head,
                                                              MonoTime deadline) const {
  Head onward = head;
  onward.__set_caller(rpc::to_wire(caller));
  onward.__set_forward(false);
  onward.__set_forwarded(true);
  const auto left = floor_ms(deadline - BootClock::now());
  onward.__set_deadline_ms(static_cast<std::int32_t>(std::max<std::int64_t>(left.count(), 1)));
  return onward;
}

template <typename Use>
auto JobServiceHandler::ask_leader(const Caller& caller, const Head& head, MonoTime deadline, Use use) {
  const Head onward = head_onward(caller, head, deadline);
  return desk_.call_leader(
      [&](thrift::JobServiceClient& client) { return use(client, onward); }, deadline);
}

template <typename Use>
auto JobServiceHandler::pass_on(const Caller& caller, const Head& head, MonoTime deadline, Use use) {
  using Answer = decltype(ask_leader(caller, head, deadline, use));
  if (!head.forward || head.forwarded) {
    return Answer(tl::unexpected<rpc::CallError>(desk_.not_leader()));
  }
  return ask_leader(caller, head, deadline, use);
}

}  // namespace rota::master::api
