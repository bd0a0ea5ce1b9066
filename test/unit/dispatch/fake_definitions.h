// A reader that knows definitions and nothing else.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "master/store/reader.h"

namespace rota::master::dispatch::test {

class FakeDefinitions : public store::Reader {
 public:
  Result<std::shared_ptr<const model::JobDefinition>> definition_of(JobId job,
                                                                    JobVersion) override {
    ++asked;
    if (failures > 0) {
      --failures;
      return fail(ErrorCode::Unavailable, "the database is away");
    }
    model::JobDefinition out;
    out.name = "job" + std::to_string(job.value);
    out.work.argv = {"/bin/true"};
    out.work.parameters = {{"a", "job"}, {"b", "job"}};
    out.work.script = std::string(static_cast<std::size_t>(script_bytes), 's');
    return std::make_shared<const model::JobDefinition>(std::move(out));
  }

  Result<std::map<RunId, std::string>> checkpoints_of(const std::vector<RunId>& ids) override {
    ++asked_checkpoints;
    if (checkpoint_failures > 0) {
      --checkpoint_failures;
      return fail(ErrorCode::Unavailable, "the database is away");
    }
    std::map<RunId, std::string> out;
    for (const RunId id : ids) out[id] = "saved " + std::to_string(id.value);
    return out;
  }

  Result<std::vector<store::RunRow>> list_runs(const store::RunQuery&) override { return none(); }
  Result<store::RunRow> get_run(RunId) override { return none(); }
  Result<std::vector<model::AttemptRow>> attempts_of(RunId) override { return none(); }
  Result<std::optional<RunId>> run_of_key(const std::string&, const std::string&,
                                          std::string*) override {
    return none();
  }
  Result<std::vector<store::JobRow>> list_jobs(const std::string&, const std::string&, std::int32_t,
                                               const std::string&) override {
    return none();
  }
  Result<store::JobRow> get_job(const std::string&, const std::string&) override { return none(); }
  Result<std::vector<core::WorkerLife>> lives_of(const std::string&, std::int32_t) override {
    return none();
  }
  Result<std::vector<RunId>> runs_among(const std::vector<RunId>&) override { return std::vector<RunId>{}; }
  Result<RunId> runs_gone_through() override { return RunId{}; }
  Result<std::vector<model::JobVersionRow>> versions_of_jobs(const std::vector<JobId>&) override { return none(); }
  Result<std::vector<model::Run>> tick_runs_of_jobs(const std::vector<JobId>&, WallTime, WallTime,
                                                    std::int32_t) override { return none(); }
  Result<std::vector<model::Gap>> gaps_of_jobs(const std::vector<JobId>&, std::int32_t) override { return none(); }
  Result<std::map<JobId, WallTime>> gone_through_of_jobs(const std::vector<JobId>&) override { return none(); }
  Result<std::int64_t> count_saved_jobs() override { return none(); }
  Result<std::vector<model::Run>> runs_of_job_after(JobId, RunId, std::int32_t) override { return none(); }
  Result<std::vector<model::Run>> runs_of_job_up_to(JobId, RunId, std::int32_t) override { return none(); }
  Result<std::optional<core::Watermark>> watermark() override { return none(); }
  Result<std::vector<model::JobVersionRow>> versions_of(JobId) override { return none(); }
  Result<std::vector<model::Job>> saved_jobs(JobId, std::int32_t) override { return none(); }
  Result<std::vector<model::Run>> tick_runs_of(JobId, WallTime, WallTime, std::int32_t) override {
    return none();
  }
  Result<std::vector<model::Gap>> gaps_of(JobId) override { return none(); }
  Result<std::vector<model::Gap>> newest_gaps_of(JobId, std::int32_t) override { return none(); }
  Result<std::vector<model::Run>> runs_after(RunId, std::int32_t) override { return none(); }
  Result<std::vector<model::AttemptRow>> attempts_after(RunId, AttemptNo, std::int32_t) override {
    return none();
  }
  Result<std::optional<WallTime>> gone_through(JobId) override { return none(); }
  Result<std::map<RunId, WallTime>> pruned_among(const std::vector<RunId>&) override { return none(); }

  std::atomic<int> asked{0};
  std::atomic<int> failures{0};
  std::atomic<int> asked_checkpoints{0};
  std::atomic<int> checkpoint_failures{0};
  std::atomic<int> script_bytes{0};

 private:
  static tl::unexpected<Error> none() { return fail(ErrorCode::Unsupported, "not in this test"); }
};

}  // namespace rota::master::dispatch::test
