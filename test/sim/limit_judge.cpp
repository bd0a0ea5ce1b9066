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

std::vector<model::Quota> defaults_since(const SimTables& tables, const std::string& space, std::int32_t version) {
  std::vector<model::Quota> out;
  if (version == 0) out.emplace_back();
  for (const auto& [key, row] : tables.quotas) {
    if (row.of == model::QuotaOf::Space && row.name == space && row.version >= version) out.push_back(row.quota);
  }
  return out;
}

std::string judge_begin(const SimTables& tables, const master::core::Changes& changes, const model::Run& run, Marks& marks) {
  const model::JobRules* said = rules_of(tables, run);
  if (said == nullptr || !run.progress.dispatched) return "";
  // In the batch of a change nobody knows which of them was first.
  const bool changes_now = std::ranges::any_of(changes.quotas, [&](const auto& row) { return row.name == run.space; });
  const auto defaults = defaults_since(tables, run.space, 0);
  const model::Quota in_force = changes_now ? model::Quota{} : defaults.back();
  model::JobRules both = *said;
  if (both.run_timeout <= Millis{0}) both.run_timeout = in_force.run_timeout;
  if (both.queue_timeout <= Millis{0}) both.queue_timeout = in_force.queue_timeout;
  if (both.run_timeout != said->run_timeout || both.queue_timeout != said->queue_timeout) marks.hit("default_time_judged");
  const model::JobRules* rules = &both;
  const WallTime at = *run.progress.dispatched;
  if (const auto first = first_of(tables, changes.attempts, run.id)) {
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
  const auto defaults = defaults_since(tables, run.space, 0);
  const auto any_says = [&](Millis model::Quota::*member) {
    return std::ranges::any_of(defaults, [&](const model::Quota& quota) { return quota.*member > Millis{0}; });
  };
  if (at.reason == Reason::RunTimeout) {
    marks.hit(at.state == RunState::Lost ? "run_timeout_after_a_loss" : "run_timeout_reached");
    if (rules->run_timeout > Millis{0}) return "";
    if (!any_says(&model::Quota::run_timeout)) return "P39: a run without a timeout is out of time" + of_run(run);
    marks.hit("default_time_reached");
    return "";
  }
  marks.hit("queue_timeout_reached");
  const bool is_limited = rules->queue_timeout > Millis{0} || any_says(&model::Quota::queue_timeout);
  return is_limited && !at.started ? "" : "P39: a run without a limit for its wait is out of time" + of_run(run);
}

std::string judge_limit(const model::JobRules& rules, const std::vector<model::Quota>& defaults, Millis most) {
  const auto is_bound_by = [most](Millis limit) { return limit <= Millis{0} || (most > Millis{0} && most <= limit); };
  if (!is_bound_by(rules.run_timeout)) return "P39: an attempt may run longer than its run";
  const auto says = [&](const model::Quota& quota) {
    const Millis own = rules.timeout > Millis{0} ? rules.timeout : quota.timeout;
    const Millis whole = rules.run_timeout > Millis{0} ? rules.run_timeout : quota.run_timeout;
    return is_bound_by(own) && is_bound_by(whole);
  };
  return std::ranges::any_of(defaults, says) ? "" : "P39: an attempt may run longer than its namespace allows";
}

}  // namespace rota::sim
