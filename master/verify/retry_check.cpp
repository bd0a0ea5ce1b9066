#include "master/verify/retry_check.h"

#include "common/model/retry_text.h"
#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

bool is_forbidden(const model::RetryRule& rule, const model::Outcome& outcome) {
  if (outcome.state != model::RunState::Failed && outcome.state != model::RunState::TimedOut) return false;
  const auto again = model::again_from_text(rule.again);
  if (again && model::is_not_ready(*again, outcome.state, outcome.exit_status)) return false;
  return model::is_meant(rule.never, outcome) || (!rule.only.empty() && !model::is_meant(rule.only, outcome));
}

}  // namespace

void RetryCheck::learn(const model::JobVersionRow& version) {
  if (!version.definition) return;
  const model::RetryRule& rule = version.definition->rules.retry;
  if (!rule.only.empty() || !rule.never.empty()) known_[{version.job, version.version}] = rule;
}

void RetryCheck::look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  const auto found = known_.find({run.job, run.version});
  if (found == known_.end()) return;
  ++check_.planned;
  for (const model::AttemptRow& row : earlier) {
    const bool is_followed = row.attempt < run.progress.attempt || !model::is_final(run.progress.state);
    if (row.late || !is_followed || !is_forbidden(found->second, row.outcome)) continue;
    wrong(check_, fmt::format("run {} attempt {} ended as {} (exit status {}), and another followed, which "
                              "its job forbids (retry: only, never)", run.id.value, row.attempt,
                              model::name_of(row.outcome.state), row.outcome.exit_status));
  }
}

}  // namespace rota::master::verify
