#include "retry_judge.h"

namespace rota::sim {

using model::AnotherWorker;
using model::RunState;
using std::chrono_literals::operator""ms;

namespace {

bool may_move(const model::JobDefinition& job) {
  const bool is_open = job.work.handler == "command" && job.rules.select.empty();
  return is_open && job.rules.route != model::RouteKind::Named;
}

}  // namespace

void keep_retry_possible(model::JobDefinition& job) {
  AnotherWorker& rule = job.rules.retry.another_worker;
  if (rule == AnotherWorker::Require && !may_move(job)) rule = AnotherWorker::Prefer;
}

void draw_retry(model::JobDefinition& job, Random& dice, bool has_others) {
  model::RetryRule& rule = job.rules.retry;
  const bool may_require = has_others && may_move(job);
  rule.jitter = dice.chance(30) ? dice.between(1ms, 500ms) : 0ms;
  rule.never.clear();
  rule.only.clear();
  if (dice.chance(15)) rule.never = {"exit 2"};
  if (dice.chance(10)) rule.only = {"exit 1-2", "timed_out"};
  rule.again = dice.chance(20) ? "exit 3; every 1s; at_most 5s" : "";
  rule.another_worker = dice.chance(20) ? AnotherWorker::Prefer : AnotherWorker::Any;
  if (may_require && dice.chance(15)) rule.another_worker = AnotherWorker::Require;
}

std::int32_t exit_status_of(model::AttemptKey key) {
  return static_cast<std::int32_t>(1 + (key.run.value * 7 + key.attempt * 3) % 4);
}

namespace {

const model::AttemptRow* row_of(const SimTables& tables, const std::vector<model::AttemptRow>& fresh,
                                model::AttemptKey key) {
  for (const model::AttemptRow& row : fresh) {
    if (row.run == key.run && row.attempt == key.attempt && !row.late) return &row;
  }
  const auto stored = tables.attempts.find({key.run, key.attempt});
  return stored == tables.attempts.end() || stored->second.late ? nullptr : &stored->second;
}

}  // namespace

std::string judge_retry(const SimTables& tables, const std::vector<model::AttemptRow>& fresh,
                        const model::Run& run, Marks& marks) {
  const auto version = tables.versions.find({run.job, run.version});
  if (version == tables.versions.end() || version->second.definition == nullptr) return "";
  const model::RetryRule& rule = version->second.definition->rules.retry;
  const model::AttemptRow* last = row_of(tables, fresh, {run.id, run.progress.attempt - 1});
  if (last == nullptr) return "";
  const std::string of_run = ", run " + std::to_string(run.id.value);
  const bool is_elsewhere = last->worker.id != run.progress.worker.id;
  if (rule.another_worker != AnotherWorker::Any && is_elsewhere) marks.hit("retried_on_another_worker");
  const bool may_stay = is_elsewhere || run.kind == model::RunKind::WorkerStart;
  if (rule.another_worker == AnotherWorker::Require && !may_stay) {
    return "retry: another attempt goes to the last worker" + of_run;
  }
  const model::Outcome& outcome = last->outcome;
  if (outcome.state != RunState::Failed) return "";
  if (!rule.again.empty() && outcome.exit_status == 3) {
    marks.hit("retried_when_not_ready");
    return "";
  }
  const bool is_forbidden = (!rule.never.empty() && outcome.exit_status == 2) ||
                            (!rule.only.empty() && outcome.exit_status > 2);
  return is_forbidden ? "retry: an end is tried again that its job forbids" + of_run : "";
}

}  // namespace rota::sim
