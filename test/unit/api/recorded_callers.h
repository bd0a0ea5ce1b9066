// A leader whose services note who called which method, and do nothing else.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/rpc/server.h"
#include "master/api/processor.h"

namespace rota::master::api::test {

/// method -> its last caller. Thread: any.
class RecordedCallers final : public JobService, public ReportService {
 public:
  using Text = const std::string&;

  Caller of(const std::string& method) {
    const std::scoped_lock lock(mutex_);
    const auto found = callers_.find(method);
    return found == callers_.end() ? Caller{} : found->second;
  }

  void submit(const Caller& by, thrift::SubmitResult&, const Head&, const thrift::SubmitItem&) override {
    note("submit", by);
  }
  void submit_many(const Caller& by, std::vector<thrift::SubmitResult>&, const Head&,
                   const std::vector<thrift::SubmitItem>&) override {
    note("submit_many", by);
  }
  void apply_jobs(const Caller& by, std::vector<thrift::JobEdited>&, const Head&, const std::vector<thrift::JobEdit>&,
                  bool) override {
    note("apply_jobs", by);
  }
  void set_paused(const Caller& by, thrift::JobEdited&, const Head&, Text, Text, bool, Text) override {
    note("set_paused", by);
  }
  void delete_job(const Caller& by, thrift::JobEdited&, const Head&, Text, Text, Text) override {
    note("delete_job", by);
  }
  void undelete_job(const Caller& by, thrift::JobEdited&, const Head&, Text, Text) override {
    note("undelete_job", by);
  }
  void run_now(const Caller& by, thrift::SubmitResult&, const Head&, Text, Text,
               const std::map<std::string, std::string>&, Text) override {
    note("run_now", by);
  }
  void cancel_run(const Caller& by, std::string&, const Head&, std::int64_t, Text) override {
    note("cancel_run", by);
  }
  void drain_worker(const Caller& by, thrift::DrainAnswer&, const Head&, Text, std::int64_t, Text) override {
    note("drain_worker", by);
  }
  void resume_worker(const Caller& by, thrift::DrainAnswer&, const Head&, Text, Text) override {
    note("resume_worker", by);
  }
  void forget_worker(const Caller& by, const Head&, Text) override { note("forget_worker", by); }
  void confirm_dead(const Caller& by, thrift::DeathAnswer&, const Head&, Text, Text, bool) override {
    note("confirm_dead", by);
  }
  void apply_calendars(const Caller& by, std::vector<thrift::CalendarEdited>&, const Head&,
                       const std::vector<thrift::CalendarEdit>&, bool) override {
    note("apply_calendars", by);
  }
  void delete_calendar(const Caller& by, thrift::CalendarEdited&, const Head&, Text, Text, Text) override {
    note("delete_calendar", by);
  }
  void list_calendars(const Caller&, std::vector<thrift::CalendarInfo>&, const Head&, Text, Text,
                      std::int32_t) override {}
  void get_calendar(const Caller&, thrift::CalendarInfo&, const Head&, Text, Text) override {}
  void preview_calendar(const Caller&, std::vector<thrift::CalendarDay>&, const Head&,
                        const thrift::PreviewRequest&) override {}
  void begin_freeze(const Caller& by, thrift::FreezeInfo&, const Head&, Text, std::int64_t, Text) override {
    note("begin_freeze", by);
  }
  void end_freeze(const Caller& by, thrift::FreezeInfo&, const Head&, Text) override { note("end_freeze", by); }
  void list_freezes(const Caller&, std::vector<thrift::FreezeInfo>&, const Head&) override {}
  void set_limits(const Caller& by, thrift::LimitsEdited&, const Head&, const thrift::LimitsEdit&) override {
    note("set_limits", by);
  }
  void list_limits(const Caller&, std::vector<thrift::LimitsInfo>&, const Head&, Text, Text) override {}
  void list_late(const Caller&, std::vector<thrift::LateInfo>&, const Head&, const thrift::LateQuery&) override {}
  void list_scaling(const Caller&, std::vector<thrift::PoolScaleInfo>&, const Head&, Text) override {}
  void list_scale_changes(const Caller&, std::vector<thrift::ScaleChangeInfo>&, const Head&,
                          const thrift::ScaleQuery&) override {}
  void list_notifications(const Caller&, std::vector<thrift::NotificationInfo>&, const Head&,
                          const thrift::NotificationQuery&) override {}
  void test_receiver(const Caller& by, std::string&, const Head&, Text) override { note("test_receiver", by); }
  void set_setting(const Caller& by, thrift::SettingEdited&, const Head&, const thrift::SettingEdit&) override {
    note("set_setting", by);
  }
  void list_settings(const Caller&, std::vector<thrift::SettingInfo>&, const Head&, Text, bool) override {}
  void setting_history(const Caller&, std::vector<thrift::SettingVersion>&, const Head&, Text) override {}
  void set_semaphore(const Caller& by, thrift::SemaphoreEdited&, const Head&, const thrift::SemaphoreEdit&) override {
    note("set_semaphore", by);
  }
  void delete_semaphore(const Caller& by, thrift::SemaphoreEdited&, const Head&, Text, Text) override {
    note("delete_semaphore", by);
  }
  void list_semaphores(const Caller&, std::vector<thrift::SemaphoreInfo>&, const Head&, Text, Text,
                       std::int32_t) override {}
  void get_semaphore(const Caller&, thrift::SemaphoreInfo&, const Head&, Text, Text) override {}
  void explain_tick(const Caller&, thrift::TickAnswer&, const Head&, Text, Text, std::int64_t) override {}
  void list_jobs(const Caller&, std::vector<thrift::JobInfo>&, const Head&, Text, Text, std::int32_t, Text) override {}
  void get_job(const Caller& by, thrift::JobInfo&, const Head&, Text, Text) override { note("get_job", by); }
  void list_gaps(const Caller&, std::vector<thrift::GapInfo>&, const Head&, Text, Text, std::int32_t) override {}
  void list_runs(const Caller&, std::vector<thrift::RunInfo>&, const Head&, const thrift::RunFilter&) override {}
  void get_run(const Caller&, thrift::RunDetail&, const Head&, std::int64_t) override {}
  void read_log(const Caller&, thrift::LogSlice&, const Head&, const thrift::LogRequest&) override {}
  void next_fires(const Caller&, thrift::NextFires&, const Head&, const thrift::Schedule&, std::int64_t,
                  std::int32_t, const std::string&, const std::string&) override {}
  void verify(const Caller&, thrift::VerifyReport&, const Head&, const thrift::VerifyRequest&) override {}
  void explain(const Caller& by, thrift::Explanation&, const Head&, std::int64_t) override { note("explain", by); }
  void list_workers(const Caller& by, std::vector<thrift::WorkerInfo>&, const Head&) override {
    note("list_workers", by);
  }
  void list_masters(const Caller&, std::vector<thrift::MasterNode>&, const Head&) override {}
  void worker_history(const Caller&, thrift::NodeHistory&, const Head&, const thrift::HistoryQuery&) override {}
  void worker_usage(const Caller&, std::vector<thrift::RunUsage>&, const Head&, Text) override {}
  void capacity(const Caller&, thrift::CapacityReport&, const Head&) override {}
  void list_lives(const Caller&, std::vector<thrift::WorkerLife>&, const Head&, Text, std::int32_t) override {}
  void attention(const Caller& by, thrift::AttentionReport&, const Head&,
                 const thrift::AttentionRequest&) override { note("attention", by); }
  void cluster_status(const Caller& by, thrift::ClusterStatus&, const Head&) override { note("cluster_status", by); }

  void report(const Caller& by, std::vector<thrift::AttemptKey>&, const thrift::ReportRequest&) override {
    note("report", by);
  }
  void append_log(const Caller& by, std::vector<std::int64_t>&, const std::vector<thrift::LogChunk>&) override {
    note("append_log", by);
  }
  void renew(const Caller& by, const thrift::RenewRequest&) override { note("renew", by); }

 private:
  void note(const std::string& method, const Caller& by) {
    const std::scoped_lock lock(mutex_);
    callers_[method] = by;
  }

  std::mutex mutex_;
  std::map<std::string, Caller> callers_;
};

}  // namespace rota::master::api::test
