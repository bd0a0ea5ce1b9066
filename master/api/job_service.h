// What users, programs and the `rota` command ask (thrift/job.thrift). Changes go through the leader's
// loop; queries read the store and the leader's last snapshot.
#pragma once

#include <string>
#include <vector>

#include "JobService.h"
#include "master/api/api_server.h"
#include "master/api/leader_desk.h"
#include "master/api/log_tail.h"

namespace rota::master::api {

/// Thread: any (the server's pool). Methods throw RotaError and nothing else.
class JobServiceHandler final : public thrift::JobServiceIf {
 public:
  using Head = thrift::RequestHead;

  /// All outlive it.
  JobServiceHandler(ApiParts parts, const ApiOptions& options, LeaderDesk& desk, LogTail& tail)
      : parts_(std::move(parts)), options_(options), desk_(desk), tail_(tail) {}

  // Changes (job_changes.cpp)
  void submit(thrift::SubmitResult& out, const Head& head, const thrift::SubmitItem& item) override;
  void submit_many(std::vector<thrift::SubmitResult>& out, const Head& head,
                   const std::vector<thrift::SubmitItem>& items) override;
  void apply_jobs(std::vector<thrift::JobEdited>& out, const Head& head,
                  const std::vector<thrift::JobEdit>& edits, bool dry_run) override;
  void set_paused(thrift::JobEdited& out, const Head& head, const std::string& space,
                  const std::string& name, bool paused, const std::string& why) override;
  void delete_job(thrift::JobEdited& out, const Head& head, const std::string& space,
                  const std::string& name, const std::string& why) override;
  void run_now(thrift::SubmitResult& out, const Head& head, const std::string& space,
               const std::string& name, const std::map<std::string, std::string>& parameters,
               const std::string& request_key) override;
  void cancel_run(std::string& out, const Head& head, std::int64_t run,
                  const std::string& why) override;

  void drain_worker(thrift::DrainAnswer& out, const Head& head, const std::string& worker,
                    std::int64_t deadline_ms, const std::string& why) override;
  void resume_worker(thrift::DrainAnswer& out, const Head& head, const std::string& worker,
                     const std::string& why) override;
  void confirm_dead(thrift::DeathAnswer& out, const Head& head, const std::string& worker,
                    const std::string& why, bool dry_run) override;
  void undelete_job(thrift::JobEdited& out, const Head& head, const std::string& space,
                    const std::string& name) override;

  // Queries (job_queries.cpp)
  void list_jobs(std::vector<thrift::JobInfo>& out, const Head& head, const std::string& space,
                 const std::string& prefix, std::int32_t limit) override;
  void get_job(thrift::JobInfo& out, const Head& head, const std::string& space,
               const std::string& name) override;
  void list_gaps(std::vector<thrift::GapInfo>& out, const Head& head, const std::string& space,
                 const std::string& name, std::int32_t limit) override;
  void list_runs(std::vector<thrift::RunInfo>& out, const Head& head,
                 const thrift::RunFilter& filter) override;
  void get_run(thrift::RunDetail& out, const Head& head, std::int64_t run) override;
  void read_log(thrift::LogSlice& out, const Head& head, const thrift::LogRequest& request) override;
  void next_fires(thrift::NextFires& out, const Head& head, const thrift::Schedule& schedule,
                  std::int64_t after_ms, std::int32_t count) override;
  void verify(thrift::VerifyReport& out, const Head& head,
              const thrift::VerifyRequest& request) override;

  // What the leader knows (job_status.cpp)
  void explain(thrift::Explanation& out, const Head& head, std::int64_t run) override;
  void list_workers(std::vector<thrift::WorkerInfo>& out, const Head& head) override;
  void forget_worker(const Head& head, const std::string& worker) override;
  void list_lives(std::vector<thrift::WorkerLife>& out, const Head& head, const std::string& worker,
                  std::int32_t limit) override;
  void cluster_status(thrift::ClusterStatus& out, const Head& head) override;

 private:
  using Submitted = std::vector<thrift::SubmitResult>;

  MonoTime deadline_of(const Head& head) const;
  /// NotLeader, unless the request asks to be passed on: then what the leader answers.
  template <typename Use>
  auto pass_on(const Head& head, MonoTime deadline, Use use);
  /// Asks the leader a question of any master's, one hop; `head` of a forwarded one is not passed on.
  template <typename Use>
  auto ask_leader(const Head& head, MonoTime deadline, Use use);

  rpc::CallResult<Submitted> submit_here(const std::vector<thrift::SubmitItem>& items,
                                         MonoTime deadline);
  void answer_repeats(std::vector<core::SubmitItem>& items, std::vector<std::size_t>& places,
                      Submitted& out);
  /// The answer of an earlier request with this key; empty: the key is new.
  Result<std::optional<thrift::SubmitResult>> used_before(const std::string& key,
                                                          const std::string& hash);
  Result<thrift::JobEdited> plan_edit(const core::ApplyJob& event);
  std::vector<thrift::JobEdited> apply_here(const std::vector<thrift::JobEdit>& edits, bool dry_run,
                                            MonoTime deadline);
  template <typename Event>
  thrift::JobEdited change_job(Event event, const char* done, MonoTime deadline);
  thrift::DrainAnswer drain_here(core::DrainWorker event, MonoTime deadline);
  thrift::DeathAnswer confirm_here(core::ConfirmDead event, MonoTime deadline);
  thrift::JobEdited undelete_here(const std::string& space, const std::string& name, MonoTime deadline);
  Error why_not_cancelled(std::int64_t run, const Error& answer);
  thrift::JobInfo info_of(const store::JobRow& row) const;
  WallTime recorded_through() const;
  void explain_row(thrift::Explanation& out, const Head& head, const store::RunRow& row);
  std::string word_of_job(const store::RunRow& row) const;
  thrift::Explanation explain_stored(const store::RunRow& row, const std::string& pool) const;
  thrift::ClusterStatus status_here() const;

  const ApiParts parts_;
  const ApiOptions& options_;
  LeaderDesk& desk_;
  LogTail& tail_;
};

template <typename Use>
auto JobServiceHandler::ask_leader(const Head& head, MonoTime deadline, Use use) {
  Head onward = head;
  onward.__set_forward(false);
  onward.__set_forwarded(true);
  const auto left = floor_ms(deadline - BootClock::now());
  onward.__set_deadline_ms(static_cast<std::int32_t>(std::max<std::int64_t>(left.count(), 1)));
  return desk_.call_leader(
      [&](thrift::JobServiceClient& client) { return use(client, onward); }, deadline);
}

template <typename Use>
auto JobServiceHandler::pass_on(const Head& head, MonoTime deadline, Use use) {
  using Answer = decltype(ask_leader(head, deadline, use));
  if (!head.forward || head.forwarded) {
    return Answer(tl::unexpected<rpc::CallError>(desk_.not_leader()));
  }
  return ask_leader(head, deadline, use);
}

}  // namespace rota::master::api
