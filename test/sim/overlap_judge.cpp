#include "overlap_judge.h"

#include <cstdlib>
#include <utility>

namespace rota::sim {

using model::Overlap;
using model::Reason;
using model::RunState;

namespace {

const model::JobRules* rules_of(const SimTables& tables, JobId id) {
  const auto job = tables.jobs.find(id);
  if (job == tables.jobs.end() || job->second.one_off) return nullptr;
  const auto version = tables.versions.find({id, job->second.version});
  const bool is_known = version != tables.versions.end() && version->second.definition != nullptr;
  return is_known ? &version->second.definition->rules : nullptr;
}

bool is_one_to_wait(Overlap overlap) {
  return overlap == Overlap::QueueOne || overlap == Overlap::Replace || overlap == Overlap::Terminate;
}

std::string of_job(JobId id) { return ", job " + std::to_string(id.value); }

}  // namespace

std::int32_t at_once(const model::JobRules& rules) {
  return rules.overlap == Overlap::Allow ? 0 : rules.concurrency;
}

void OverlapJudge::note(SimTables& tables, RunId id) {
  const model::Run& run = tables.runs.at(id);
  touched_.insert(run.job);
  if (model::is_final(run.progress.state)) {
    tables.unfinished[run.job].erase(id);
  } else {
    tables.unfinished[run.job].insert(id);
  }
}

std::string OverlapJudge::judge_end(const SimTables& tables, const model::Run& run) {
  if (run.progress.reason != Reason::ReplacedBy) return "";
  marks_.hit(run.progress.attempt == 0 ? "run_replaced_before_it_began" : "run_replaced_under_way");
  const model::JobRules* rules = rules_of(tables, run.job);
  const bool may_be = rules == nullptr || is_one_to_wait(rules->overlap);
  if (!may_be) return "P4: replaced against the policy" + of_job(run.job);
  const std::int64_t newer = std::atoll(run.progress.detail.c_str());
  const auto by = tables.runs.find(RunId{newer});
  const bool is_later = by != tables.runs.end() && by->second.job == run.job && newer > run.id.value;
  return is_later ? "" : "P4: replaced by no later run of its job, run " + std::to_string(run.id.value);
}

std::string OverlapJudge::judge_batch(const SimTables& tables, const std::set<RunId>& unknown) {
  for (const JobId id : std::exchange(touched_, {})) {
    const model::JobRules* rules = rules_of(tables, id);
    if (rules == nullptr) continue;
    std::int32_t waiting = 0, under_way = 0;
    for (const RunId run : tables.unfinished.at(id)) {
      if (unknown.contains(run)) continue;
      const model::Run& row = tables.runs.at(run);
      const bool is_waiting = row.progress.state == RunState::Waiting;
      if (is_waiting && row.progress.reason == Reason::CaughtUp) continue;
      ++(is_waiting && row.progress.reason == Reason::WaitsForRun ? waiting : under_way);
    }
    const std::int32_t most = at_once(*rules);
    const bool is_crowded = most > 0 && under_way > most;
    if (is_crowded) return "P4: more runs are under way than concurrency allows" + of_job(id);
    if (most > 1 && under_way == most && waiting > 0) marks_.hit("concurrency_was_reached");
    if (is_one_to_wait(rules->overlap) && waiting > 1) return "P4: more than one run waits" + of_job(id);
    const bool has_place = most == 0 || under_way < most;
    if (waiting > 0 && has_place) return "P4: a run waits beside a free place" + of_job(id);
  }
  return "";
}

}  // namespace rota::sim
