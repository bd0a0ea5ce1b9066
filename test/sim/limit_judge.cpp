#include "limit_judge.h"

#include <algorithm>

#include "master/verify/limit_check.h"

namespace rota::sim {

using model::Reason;
using model::RunState;
using std::chrono_literals::operator""ms;

namespace {

const model::JobRules* rules_of(const SimTables& tables, const model::Run& run) {
  const auto version = tables.versions.find({run.job, run.version});
  const bool is_known = version != tables.versions.end() && version->second.definition != nullptr;
  return is_known ? &version->second.definition->rules : nullptr;
}

std::string of_run(const model::Run& run) { return ", run " + std::to_string(run.id.value); }

/// Of the first attempt that has a row of its own and a moment. A later one has an earlier moment when the clock of its
/// Term had been set back; a leader that knows the first goes by that.
std::optional<WallTime> first_of(const SimTables& tables, const std::vector<model::AttemptRow>& fresh, RunId run) {
  std::optional<WallTime> first;
  AttemptNo number = 0;
  const auto look_at = [&](const model::AttemptRow& row) {
    if (row.run != run || !row.dispatched || (first && number < row.attempt)) return;
    first = row.dispatched;
    number = row.attempt;
  };
  for (const model::AttemptRow& row : fresh) look_at(row);
  for (auto at = tables.attempts.lower_bound({run, 0}); at != tables.attempts.end() && at->first.first == run; ++at) {
    look_at(at->second);
  }
  return first;
}

}  // namespace

void draw_limits(model::JobRules& rules, Random& dice) {
  rules.run_timeout = dice.chance(25) ? rules.timeout + dice.between(1000ms, 9000ms) : 0ms;
  rules.queue_timeout = dice.chance(20) ? dice.between(300ms, 6000ms) : 0ms;
  rules.priority = dice.chance(50) ? static_cast<std::int32_t>(dice.below(101)) : 50;
}

std::string judge_begin(const SimTables& tables, const std::vector<model::AttemptRow>& fresh, const model::Run& run) {
  const model::JobRules* rules = rules_of(tables, run);
  if (rules == nullptr || !run.progress.dispatched) return "";
  const WallTime at = *run.progress.dispatched;
  if (const auto first = first_of(tables, fresh, run.id)) {
    const bool is_over = rules->run_timeout > Millis{0} && at >= *first + rules->run_timeout;
    return is_over ? "P39: an attempt begins after its run's time" + of_run(run) : "";
  }
  const WallTime fired = run.recorded + master::verify::longest_jitter(rules->schedule);
  const bool is_over = rules->queue_timeout > Millis{0} && at >= fired + rules->queue_timeout;
  return is_over ? "P39: a first attempt begins after its wait is over" + of_run(run) : "";
}

std::string judge_time(const SimTables& tables, const model::Run& run, Marks& marks) {
  const model::RunProgress& at = run.progress;
  if (at.reason != Reason::RunTimeout && at.reason != Reason::QueueTimeout) return "";
  const model::JobRules* rules = rules_of(tables, run);
  if (rules == nullptr) return "";
  if (at.reason == Reason::RunTimeout) {
    marks.hit(at.state == RunState::Lost ? "run_timeout_after_a_loss" : "run_timeout_reached");
    return rules->run_timeout > Millis{0} ? "" : "P39: a run without a timeout is out of time" + of_run(run);
  }
  marks.hit("queue_timeout_reached");
  const bool is_limited = rules->queue_timeout > Millis{0} && !at.started;
  return is_limited ? "" : "P39: a run without a limit for its wait is out of time" + of_run(run);
}

std::string judge_limit(const model::JobRules& rules, Millis most) {
  const bool is_bound = rules.run_timeout <= Millis{0} || (most > Millis{0} && most <= rules.run_timeout);
  return is_bound ? "" : "P39: an attempt may run longer than its run";
}

}  // namespace rota::sim
