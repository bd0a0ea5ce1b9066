#include "master/api/service_adapters.h"

#include <utility>


namespace rota::master::api {
namespace {

class JobAdapter final : public thrift::JobServiceIf {
 public:
  using Head = thrift::RequestHead;

  JobAdapter(std::shared_ptr<JobService> jobs, rpc::Edge edge)
      : jobs_(std::move(jobs)), edge_(std::move(edge)) {}

  void submit(thrift::SubmitResult& out, const Head& head,
              const thrift::SubmitItem& item) override {
    edge_.serve("submit", head,
                [&](const Caller& caller) { jobs_->submit(caller, out, head, item); });
  }
  void submit_many(std::vector<thrift::SubmitResult>& out, const Head& head,
                   const std::vector<thrift::SubmitItem>& items) override {
    edge_.serve("submit_many", head,
                [&](const Caller& caller) { jobs_->submit_many(caller, out, head, items); });
  }
  void apply_jobs(std::vector<thrift::JobEdited>& out, const Head& head,
                  const std::vector<thrift::JobEdit>& edits, bool dry_run) override {
    edge_.serve("apply_jobs", head, [&](const Caller& caller) {
      jobs_->apply_jobs(caller, out, head, edits, dry_run);
    });
  }
  void set_paused(thrift::JobEdited& out, const Head& head, const std::string& space,
                  const std::string& name, bool paused, const std::string& why) override {
    edge_.serve("set_paused", head, [&](const Caller& caller) {
      jobs_->set_paused(caller, out, head, space, name, paused, why);
    });
  }
  void delete_job(thrift::JobEdited& out, const Head& head, const std::string& space,
                  const std::string& name, const std::string& why) override {
    edge_.serve("delete_job", head, [&](const Caller& caller) {
      jobs_->delete_job(caller, out, head, space, name, why);
    });
  }
  void run_now(thrift::SubmitResult& out, const Head& head, const std::string& space,
               const std::string& name, const std::map<std::string, std::string>& parameters,
               const std::string& request_key) override {
    edge_.serve("run_now", head, [&](const Caller& caller) {
      jobs_->run_now(caller, out, head, space, name, parameters, request_key);
    });
  }
  void cancel_run(std::string& out, const Head& head, std::int64_t run,
                  const std::string& why) override {
    edge_.serve("cancel_run", head,
                [&](const Caller& caller) { jobs_->cancel_run(caller, out, head, run, why); });
  }
  void drain_worker(thrift::DrainAnswer& out, const Head& head, const std::string& worker,
                    std::int64_t deadline_ms, const std::string& why) override {
    edge_.serve("drain_worker", head, [&](const Caller& caller) {
      jobs_->drain_worker(caller, out, head, worker, deadline_ms, why);
    });
  }
  void resume_worker(thrift::DrainAnswer& out, const Head& head, const std::string& worker,
                     const std::string& why) override {
    edge_.serve("resume_worker", head, [&](const Caller& caller) {
      jobs_->resume_worker(caller, out, head, worker, why);
    });
  }
  void confirm_dead(thrift::DeathAnswer& out, const Head& head, const std::string& worker,
                    const std::string& why, bool dry_run) override {
    edge_.serve("confirm_dead", head, [&](const Caller& caller) {
      jobs_->confirm_dead(caller, out, head, worker, why, dry_run);
    });
  }
  void begin_freeze(thrift::FreezeInfo& out, const Head& head, const std::string& space,
                    std::int64_t until_ms, const std::string& why) override {
    edge_.serve("begin_freeze", head, [&](const Caller& caller) {
      jobs_->begin_freeze(caller, out, head, space, until_ms, why);
    });
  }
  void end_freeze(thrift::FreezeInfo& out, const Head& head, const std::string& space) override {
    edge_.serve("end_freeze", head,
                [&](const Caller& caller) { jobs_->end_freeze(caller, out, head, space); });
  }
  void list_freezes(std::vector<thrift::FreezeInfo>& out, const Head& head) override {
    edge_.serve("list_freezes", head, [&](const Caller& caller) { jobs_->list_freezes(caller, out, head); });
  }
  void explain_tick(thrift::TickAnswer& out, const Head& head, const std::string& space,
                    const std::string& name, std::int64_t at_ms) override {
    edge_.serve("explain_tick", head, [&](const Caller& caller) {
      jobs_->explain_tick(caller, out, head, space, name, at_ms);
    });
  }
  void undelete_job(thrift::JobEdited& out, const Head& head, const std::string& space,
                    const std::string& name) override {
    edge_.serve("undelete_job", head,
                [&](const Caller& caller) { jobs_->undelete_job(caller, out, head, space, name); });
  }
  void set_limits(thrift::LimitsEdited& out, const Head& head, const thrift::LimitsEdit& edit) override {
    edge_.serve("set_limits", head,
                [&](const Caller& caller) { jobs_->set_limits(caller, out, head, edit); });
  }
  void list_limits(std::vector<thrift::LimitsInfo>& out, const Head& head, const std::string& side,
                   const std::string& prefix) override {
    edge_.serve("list_limits", head,
                [&](const Caller& caller) { jobs_->list_limits(caller, out, head, side, prefix); });
  }
  void list_late(std::vector<thrift::LateInfo>& out, const Head& head,
                 const thrift::LateQuery& query) override {
    edge_.serve("list_late", head, [&](const Caller& caller) { jobs_->list_late(caller, out, head, query); });
  }
  void list_scaling(std::vector<thrift::PoolScaleInfo>& out, const Head& head,
                    const std::string& prefix) override {
    edge_.serve("list_scaling", head,
                [&](const Caller& caller) { jobs_->list_scaling(caller, out, head, prefix); });
  }
  void list_scale_changes(std::vector<thrift::ScaleChangeInfo>& out, const Head& head,
                          const thrift::ScaleQuery& query) override {
    edge_.serve("list_scale_changes", head,
                [&](const Caller& caller) { jobs_->list_scale_changes(caller, out, head, query); });
  }
  void list_notifications(std::vector<thrift::NotificationInfo>& out, const Head& head,
                          const thrift::NotificationQuery& query) override {
    edge_.serve("list_notifications", head,
                [&](const Caller& caller) { jobs_->list_notifications(caller, out, head, query); });
  }
  void test_receiver(std::string& out, const Head& head, const std::string& receiver) override {
    edge_.serve("test_receiver", head,
                [&](const Caller& caller) { jobs_->test_receiver(caller, out, head, receiver); });
  }
  void set_setting(thrift::SettingEdited& out, const Head& head, const thrift::SettingEdit& edit) override {
    edge_.serve("set_setting", head,
                [&](const Caller& caller) { jobs_->set_setting(caller, out, head, edit); });
  }
  void list_settings(std::vector<thrift::SettingInfo>& out, const Head& head, const std::string& name,
                     const bool here) override {
    edge_.serve("list_settings", head,
                [&](const Caller& caller) { jobs_->list_settings(caller, out, head, name, here); });
  }
  void setting_history(std::vector<thrift::SettingVersion>& out, const Head& head,
                       const std::string& name) override {
    edge_.serve("setting_history", head,
                [&](const Caller& caller) { jobs_->setting_history(caller, out, head, name); });
  }
  void set_semaphore(thrift::SemaphoreEdited& out, const Head& head,
                     const thrift::SemaphoreEdit& edit) override {
    edge_.serve("set_semaphore", head,
                [&](const Caller& caller) { jobs_->set_semaphore(caller, out, head, edit); });
  }
  void delete_semaphore(thrift::SemaphoreEdited& out, const Head& head, const std::string& space,
                        const std::string& name) override {
    edge_.serve("delete_semaphore", head,
                [&](const Caller& caller) { jobs_->delete_semaphore(caller, out, head, space, name); });
  }
  void list_semaphores(std::vector<thrift::SemaphoreInfo>& out, const Head& head, const std::string& space,
                       const std::string& prefix, std::int32_t limit) override {
    edge_.serve("list_semaphores", head, [&](const Caller& caller) {
      jobs_->list_semaphores(caller, out, head, space, prefix, limit);
    });
  }
  void get_semaphore(thrift::SemaphoreInfo& out, const Head& head, const std::string& space,
                     const std::string& name) override {
    edge_.serve("get_semaphore", head,
                [&](const Caller& caller) { jobs_->get_semaphore(caller, out, head, space, name); });
  }
  void apply_calendars(std::vector<thrift::CalendarEdited>& out, const Head& head,
                       const std::vector<thrift::CalendarEdit>& edits, bool dry_run) override {
    edge_.serve("apply_calendars", head, [&](const Caller& caller) {
      jobs_->apply_calendars(caller, out, head, edits, dry_run);
    });
  }
  void delete_calendar(thrift::CalendarEdited& out, const Head& head, const std::string& space,
                       const std::string& name, const std::string& why) override {
    edge_.serve("delete_calendar", head, [&](const Caller& caller) {
      jobs_->delete_calendar(caller, out, head, space, name, why);
    });
  }
  void list_calendars(std::vector<thrift::CalendarInfo>& out, const Head& head,
                      const std::string& space, const std::string& prefix,
                      std::int32_t limit) override {
    edge_.serve("list_calendars", head, [&](const Caller& caller) {
      jobs_->list_calendars(caller, out, head, space, prefix, limit);
    });
  }
  void get_calendar(thrift::CalendarInfo& out, const Head& head, const std::string& space,
                    const std::string& name) override {
    edge_.serve("get_calendar", head,
                [&](const Caller& caller) { jobs_->get_calendar(caller, out, head, space, name); });
  }
  void preview_calendar(std::vector<thrift::CalendarDay>& out, const Head& head,
                        const thrift::PreviewRequest& request) override {
    edge_.serve("preview_calendar", head,
                [&](const Caller& caller) { jobs_->preview_calendar(caller, out, head, request); });
  }
  void list_jobs(std::vector<thrift::JobInfo>& out, const Head& head, const std::string& space,
                 const std::string& prefix, std::int32_t limit, const std::string& after) override {
    edge_.serve("list_jobs", head, [&](const Caller& caller) {
      jobs_->list_jobs(caller, out, head, space, prefix, limit, after);
    });
  }
  void get_job(thrift::JobInfo& out, const Head& head, const std::string& space,
               const std::string& name) override {
    edge_.serve("get_job", head,
                [&](const Caller& caller) { jobs_->get_job(caller, out, head, space, name); });
  }
  void list_gaps(std::vector<thrift::GapInfo>& out, const Head& head, const std::string& space,
                 const std::string& name, std::int32_t limit) override {
    edge_.serve("list_gaps", head, [&](const Caller& caller) {
      jobs_->list_gaps(caller, out, head, space, name, limit);
    });
  }
  void list_runs(std::vector<thrift::RunInfo>& out, const Head& head,
                 const thrift::RunFilter& filter) override {
    edge_.serve("list_runs", head,
                [&](const Caller& caller) { jobs_->list_runs(caller, out, head, filter); });
  }
  void get_run(thrift::RunDetail& out, const Head& head, std::int64_t run) override {
    edge_.serve("get_run", head,
                [&](const Caller& caller) { jobs_->get_run(caller, out, head, run); });
  }
  void read_log(thrift::LogSlice& out, const Head& head,
                const thrift::LogRequest& request) override {
    edge_.serve("read_log", head,
                [&](const Caller& caller) { jobs_->read_log(caller, out, head, request); });
  }
  void next_fires(thrift::NextFires& out, const Head& head, const thrift::Schedule& schedule,
                  std::int64_t after_ms, std::int32_t count, const std::string& space,
                  const std::string& name) override {
    edge_.serve("next_fires", head, [&](const Caller& caller) {
      jobs_->next_fires(caller, out, head, schedule, after_ms, count, space, name);
    });
  }
  void verify(thrift::VerifyReport& out, const Head& head,
              const thrift::VerifyRequest& request) override {
    edge_.serve("verify", head,
                [&](const Caller& caller) { jobs_->verify(caller, out, head, request); });
  }
  void explain(thrift::Explanation& out, const Head& head, std::int64_t run) override {
    edge_.serve("explain", head,
                [&](const Caller& caller) { jobs_->explain(caller, out, head, run); });
  }
  void list_workers(std::vector<thrift::WorkerInfo>& out, const Head& head) override {
    edge_.serve("list_workers", head,
                [&](const Caller& caller) { jobs_->list_workers(caller, out, head); });
  }
  void forget_worker(const Head& head, const std::string& worker) override {
    edge_.serve("forget_worker", head,
                [&](const Caller& caller) { jobs_->forget_worker(caller, head, worker); });
  }
  void list_lives(std::vector<thrift::WorkerLife>& out, const Head& head, const std::string& worker,
                  std::int32_t limit) override {
    edge_.serve("list_lives", head,
                [&](const Caller& caller) { jobs_->list_lives(caller, out, head, worker, limit); });
  }
  void cluster_status(thrift::ClusterStatus& out, const Head& head) override {
    edge_.serve("cluster_status", head,
                [&](const Caller& caller) { jobs_->cluster_status(caller, out, head); });
  }
  void list_masters(std::vector<thrift::MasterNode>& out, const Head& head) override {
    edge_.serve("list_masters", head,
                [&](const Caller& caller) { jobs_->list_masters(caller, out, head); });
  }
  void worker_history(thrift::NodeHistory& out, const Head& head,
                      const thrift::HistoryQuery& query) override {
    edge_.serve("worker_history", head,
                [&](const Caller& caller) { jobs_->worker_history(caller, out, head, query); });
  }
  void worker_usage(std::vector<thrift::RunUsage>& out, const Head& head,
                    const std::string& worker) override {
    edge_.serve("worker_usage", head,
                [&](const Caller& caller) { jobs_->worker_usage(caller, out, head, worker); });
  }
  void capacity(thrift::CapacityReport& out, const Head& head) override {
    edge_.serve("capacity", head, [&](const Caller& caller) { jobs_->capacity(caller, out, head); });
  }
  void attention(thrift::AttentionReport& out, const Head& head,
                 const thrift::AttentionRequest& request) override {
    edge_.serve("attention", head,
                [&](const Caller& caller) { jobs_->attention(caller, out, head, request); });
  }

 private:
  const std::shared_ptr<JobService> jobs_;
  const rpc::Edge edge_;
};

class ReportAdapter final : public thrift::ReportServiceIf {
 public:
  ReportAdapter(std::shared_ptr<ReportService> reports, rpc::Edge edge)
      : reports_(std::move(reports)), edge_(std::move(edge)) {}

  void report(std::vector<thrift::AttemptKey>& out, const thrift::ReportRequest& request) override {
    edge_.serve("report", request,
                [&](const Caller& caller) { reports_->report(caller, out, request); });
  }
  void append_log(std::vector<std::int64_t>& out,
                  const std::vector<thrift::LogChunk>& chunks) override {
    edge_.serve("append_log",
                [&](const Caller& caller) { reports_->append_log(caller, out, chunks); });
  }
  void renew(const thrift::RenewRequest& request) override {
    edge_.serve("renew", request, [&](const Caller& caller) { reports_->renew(caller, request); });
  }

 private:
  const std::shared_ptr<ReportService> reports_;
  const rpc::Edge edge_;
};

}  // namespace

std::shared_ptr<thrift::JobServiceIf> adapt(std::shared_ptr<JobService> jobs, rpc::Edge edge) {
  return std::make_shared<JobAdapter>(std::move(jobs), std::move(edge));
}

std::shared_ptr<thrift::ReportServiceIf> adapt(std::shared_ptr<ReportService> reports,
                                               rpc::Edge edge) {
  return std::make_shared<ReportAdapter>(std::move(reports), std::move(edge));
}

}  // namespace rota::master::api
