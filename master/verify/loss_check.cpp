#include "master/verify/loss_check.h"

#include <algorithm>

#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

using model::RunState;

constexpr std::size_t kMostKnown = 10'000;

/// It ended with its worker. What a drain's deadline ended was handed over, and what came late was lost
/// before, which its row does not say any more.
bool is_loss(const model::AttemptRow& row) {
  if (row.late || row.outcome.reason == model::Reason::HandedOver) return false;
  return row.outcome.state == RunState::Lost || row.outcome.state == RunState::Killed;
}

/// By the leaders' Terms, since two leaders' clocks may differ; within one the time never goes back.
bool was_before(const model::WorkerDeath& death, const model::AttemptRow& given_up) {
  if (death.epoch != given_up.epoch) return death.epoch < given_up.epoch;
  return death.confirmed <= given_up.outcome.ended;
}

bool is_to_run(RunState state) { return !model::is_final(state); }

/// Lost attempts after which another one began, or is to begin.
std::vector<model::AttemptRow> followed_losses(const model::Run& run,
                                               const std::vector<model::AttemptRow>& earlier) {
  std::vector<model::AttemptRow> out;
  for (const model::AttemptRow& row : earlier) {
    const bool is_newest = row.attempt >= run.progress.attempt;
    if (is_loss(row) && (!is_newest || is_to_run(run.progress.state))) out.push_back(row);
  }
  return out;
}

}  // namespace

Result<void> LossCheck::look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  const std::vector<model::AttemptRow> followed = followed_losses(run, earlier);
  if (followed.empty() && run.progress.losses == 0) return {};
  const auto definition = definition_of(run);
  if (!definition) return fail(definition.error());
  if (*definition == nullptr) return {};
  ++check_.planned;
  const model::JobRules& rules = (*definition)->rules;
  check_limit(run, rules);
  if (rules.loss == model::LossPolicy::Never) check_never(run, followed);
  return rules.loss == model::LossPolicy::Confirm ? check_confirmed(run, followed) : Result<void>();
}

void LossCheck::check_limit(const model::Run& run, const model::JobRules& rules) {
  const std::int32_t losses = run.progress.losses;
  const bool is_over = losses > rules.loss_most;
  if (!is_over && (losses < rules.loss_most || !is_to_run(run.progress.state))) return;
  wrong(check_, fmt::format("run {} was lost {} times and {}, its job allows {} losses", run.id.value, losses,
                            is_over ? "begun again" : "is to run again", rules.loss_most));
}

void LossCheck::check_never(const model::Run& run, const std::vector<model::AttemptRow>& followed) {
  if (followed.empty()) return;
  wrong(check_, fmt::format("run {} attempt {} was lost, and another followed, which its job forbids",
                            run.id.value, followed.front().attempt));
}

/// That a worker told of the end itself, or was proven to hold nothing any more, stands in its outcome.
Result<void> LossCheck::check_confirmed(const model::Run& run,
                                        const std::vector<model::AttemptRow>& followed) {
  for (const model::AttemptRow& row : followed) {
    if (row.outcome.reason != model::Reason::WorkerLost || row.outcome.started != WallTime{}) continue;
    if (!deaths_) {
      auto told = reader_.deaths_of("");
      if (!told) return fail(told.error());
      deaths_.emplace();
      for (const model::WorkerDeath& death : *told) deaths_->emplace(death.life, death);
    }
    const auto death = deaths_->find(row.worker);
    if (death != deaths_->end() && was_before(death->second, row)) continue;
    wrong(check_, fmt::format("run {} attempt {} was lost with worker {}, and another followed before "
                              "anybody had confirmed that", run.id.value, row.attempt, row.worker.id));
  }
  return {};
}

Result<LossCheck::Definition> LossCheck::definition_of(const model::Run& run) {
  const std::pair key{run.job, run.version};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  auto definition = reader_.definition_of(run.job, run.version);
  if (!definition && definition.error().code != ErrorCode::NotFound) return fail(definition.error());
  if (known_.size() >= kMostKnown) known_.clear();
  return known_[key] = definition ? *definition : nullptr;
}

}  // namespace rota::master::verify
