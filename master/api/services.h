// What a master serves, as its own code sees it: the methods of thrift/job.thrift and
// thrift/report.thrift, each with the Caller first. Whatever speaks to the outside calls these
// (service_adapters.h for Thrift), so no way in can forget who asks. A test walks the IDL and fails
// for a method that is missing here or has no Caller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/caller.h"
#include "job_types.h"
#include "report_types.h"

namespace rota::master::api {

/// What users, programs and the `rota` command ask. Thread: any. Methods throw RotaError and
/// nothing else that a client should see.
class JobService {
 public:
  using Head = thrift::RequestHead;

  virtual ~JobService() = default;

  // Changes
  virtual void submit(const Caller& caller, thrift::SubmitResult& out, const Head& head,
                      const thrift::SubmitItem& item) = 0;
  virtual void submit_many(const Caller& caller, std::vector<thrift::SubmitResult>& out,
                           const Head& head, const std::vector<thrift::SubmitItem>& items) = 0;
  virtual void apply_jobs(const Caller& caller, std::vector<thrift::JobEdited>& out,
                          const Head& head, const std::vector<thrift::JobEdit>& edits,
                          bool dry_run) = 0;
  virtual void set_paused(const Caller& caller, thrift::JobEdited& out, const Head& head,
                          const std::string& space, const std::string& name, bool paused,
                          const std::string& why) = 0;
  virtual void delete_job(const Caller& caller, thrift::JobEdited& out, const Head& head,
                          const std::string& space, const std::string& name,
                          const std::string& why) = 0;
  virtual void run_now(const Caller& caller, thrift::SubmitResult& out, const Head& head,
                       const std::string& space, const std::string& name,
                       const std::map<std::string, std::string>& parameters,
                       const std::string& request_key) = 0;
  virtual void cancel_run(const Caller& caller, std::string& out, const Head& head,
                          std::int64_t run, const std::string& why) = 0;
  virtual void drain_worker(const Caller& caller, thrift::DrainAnswer& out, const Head& head,
                            const std::string& worker, std::int64_t deadline_ms,
                            const std::string& why) = 0;
  virtual void resume_worker(const Caller& caller, thrift::DrainAnswer& out, const Head& head,
                             const std::string& worker, const std::string& why) = 0;
  virtual void confirm_dead(const Caller& caller, thrift::DeathAnswer& out, const Head& head,
                            const std::string& worker, const std::string& why, bool dry_run) = 0;
  virtual void begin_freeze(const Caller& caller, thrift::FreezeInfo& out, const Head& head,
                            const std::string& space, std::int64_t until_ms, const std::string& why) = 0;
  virtual void end_freeze(const Caller& caller, thrift::FreezeInfo& out, const Head& head,
                          const std::string& space) = 0;
  virtual void undelete_job(const Caller& caller, thrift::JobEdited& out, const Head& head,
                            const std::string& space, const std::string& name) = 0;
  virtual void apply_calendars(const Caller& caller, std::vector<thrift::CalendarEdited>& out,
                               const Head& head, const std::vector<thrift::CalendarEdit>& edits,
                               bool dry_run) = 0;
  virtual void delete_calendar(const Caller& caller, thrift::CalendarEdited& out, const Head& head,
                               const std::string& space, const std::string& name,
                               const std::string& why) = 0;
  virtual void set_limits(const Caller& caller, thrift::LimitsEdited& out, const Head& head,
                          const thrift::LimitsEdit& edit) = 0;
  virtual void list_limits(const Caller& caller, std::vector<thrift::LimitsInfo>& out, const Head& head,
                           const std::string& side, const std::string& prefix) = 0;
  virtual void list_late(const Caller& caller, std::vector<thrift::LateInfo>& out, const Head& head,
                         const thrift::LateQuery& query) = 0;
  virtual void list_scaling(const Caller& caller, std::vector<thrift::PoolScaleInfo>& out, const Head& head,
                            const std::string& prefix) = 0;
  virtual void list_scale_changes(const Caller& caller, std::vector<thrift::ScaleChangeInfo>& out,
                                  const Head& head, const thrift::ScaleQuery& query) = 0;
  virtual void list_notifications(const Caller& caller, std::vector<thrift::NotificationInfo>& out,
                                  const Head& head, const thrift::NotificationQuery& query) = 0;
  virtual void test_receiver(const Caller& caller, std::string& out, const Head& head,
                             const std::string& receiver) = 0;
  virtual void set_setting(const Caller& caller, thrift::SettingEdited& out, const Head& head,
                           const thrift::SettingEdit& edit) = 0;
  virtual void list_settings(const Caller& caller, std::vector<thrift::SettingInfo>& out, const Head& head,
                             const std::string& name, bool here) = 0;
  virtual void setting_history(const Caller& caller, std::vector<thrift::SettingVersion>& out,
                               const Head& head, const std::string& name) = 0;
  virtual void set_semaphore(const Caller& caller, thrift::SemaphoreEdited& out, const Head& head,
                             const thrift::SemaphoreEdit& edit) = 0;
  virtual void delete_semaphore(const Caller& caller, thrift::SemaphoreEdited& out, const Head& head,
                                const std::string& space, const std::string& name) = 0;

  // Queries
  virtual void list_semaphores(const Caller& caller, std::vector<thrift::SemaphoreInfo>& out,
                               const Head& head, const std::string& space, const std::string& prefix,
                               std::int32_t limit) = 0;
  virtual void get_semaphore(const Caller& caller, thrift::SemaphoreInfo& out, const Head& head,
                             const std::string& space, const std::string& name) = 0;
  virtual void list_calendars(const Caller& caller, std::vector<thrift::CalendarInfo>& out,
                              const Head& head, const std::string& space, const std::string& prefix,
                              std::int32_t limit) = 0;
  virtual void get_calendar(const Caller& caller, thrift::CalendarInfo& out, const Head& head,
                            const std::string& space, const std::string& name) = 0;
  virtual void preview_calendar(const Caller& caller, std::vector<thrift::CalendarDay>& out,
                                const Head& head, const thrift::PreviewRequest& request) = 0;
  virtual void list_jobs(const Caller& caller, std::vector<thrift::JobInfo>& out, const Head& head,
                         const std::string& space, const std::string& prefix, std::int32_t limit,
                         const std::string& after) = 0;
  virtual void get_job(const Caller& caller, thrift::JobInfo& out, const Head& head,
                       const std::string& space, const std::string& name) = 0;
  virtual void list_gaps(const Caller& caller, std::vector<thrift::GapInfo>& out, const Head& head,
                         const std::string& space, const std::string& name, std::int32_t limit) = 0;
  virtual void list_runs(const Caller& caller, std::vector<thrift::RunInfo>& out, const Head& head,
                         const thrift::RunFilter& filter) = 0;
  virtual void get_run(const Caller& caller, thrift::RunDetail& out, const Head& head,
                       std::int64_t run) = 0;
  virtual void read_log(const Caller& caller, thrift::LogSlice& out, const Head& head,
                        const thrift::LogRequest& request) = 0;
  virtual void next_fires(const Caller& caller, thrift::NextFires& out, const Head& head,
                          const thrift::Schedule& schedule, std::int64_t after_ms, std::int32_t count,
                          const std::string& space, const std::string& name) = 0;
  virtual void list_freezes(const Caller& caller, std::vector<thrift::FreezeInfo>& out,
                            const Head& head) = 0;
  virtual void explain_tick(const Caller& caller, thrift::TickAnswer& out, const Head& head,
                            const std::string& space, const std::string& name, std::int64_t at_ms) = 0;
  virtual void verify(const Caller& caller, thrift::VerifyReport& out, const Head& head,
                      const thrift::VerifyRequest& request) = 0;

  // What the leader knows
  virtual void explain(const Caller& caller, thrift::Explanation& out, const Head& head,
                       std::int64_t run) = 0;
  virtual void list_workers(const Caller& caller, std::vector<thrift::WorkerInfo>& out,
                            const Head& head) = 0;
  virtual void forget_worker(const Caller& caller, const Head& head, const std::string& worker) = 0;
  virtual void list_lives(const Caller& caller, std::vector<thrift::WorkerLife>& out,
                          const Head& head, const std::string& worker, std::int32_t limit) = 0;
  virtual void cluster_status(const Caller& caller, thrift::ClusterStatus& out,
                              const Head& head) = 0;
  virtual void list_masters(const Caller& caller, std::vector<thrift::MasterNode>& out,
                            const Head& head) = 0;
  virtual void worker_history(const Caller& caller, thrift::NodeHistory& out, const Head& head,
                              const thrift::HistoryQuery& query) = 0;
  virtual void worker_usage(const Caller& caller, std::vector<thrift::RunUsage>& out, const Head& head,
                            const std::string& worker) = 0;
  virtual void capacity(const Caller& caller, thrift::CapacityReport& out, const Head& head) = 0;
  virtual void attention(const Caller& caller, thrift::AttentionReport& out, const Head& head,
                         const thrift::AttentionRequest& request) = 0;
};

/// What workers tell. Thread: any. Throws as JobService does.
class ReportService {
 public:
  virtual ~ReportService() = default;

  virtual void report(const Caller& caller, std::vector<thrift::AttemptKey>& out,
                      const thrift::ReportRequest& request) = 0;
  virtual void append_log(const Caller& caller, std::vector<std::int64_t>& out,
                          const std::vector<thrift::LogChunk>& chunks) = 0;
  virtual void renew(const Caller& caller, const thrift::RenewRequest& request) = 0;
};

}  // namespace rota::master::api
