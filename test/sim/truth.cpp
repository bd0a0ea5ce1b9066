#include "truth.h"

namespace rota::sim {
namespace {

std::string named(model::AttemptKey key) {
  return "run " + std::to_string(key.run.value) + " attempt " + std::to_string(key.attempt);
}

}  // namespace

std::string Truth::begin(model::AttemptKey key, JobId job, model::Overlap overlap) {
  if (!store_.was_dispatched(key)) return "P6: " + named(key) + " starts without its row";
  if (!ever_.insert(key).second) return "P6: " + named(key) + " starts a second time";
  for (const auto& [other, other_job] : live_) {
    if (other.run == key.run) return "P4: " + named(key) + " starts beside " + named(other);
    if (other_job == job && overlap != model::Overlap::Allow) {
      return "P4: " + named(key) + " overlaps " + named(other) + " of the same job";
    }
  }
  live_[key] = job;
  return "";
}

std::string Truth::judge_outcomes() const {
  for (const auto& [key, state] : outcomes_) {
    if (store_.attempts().contains({key.run, key.attempt})) continue;
    const auto run = store_.runs().find(key.run);
    if (run == store_.runs().end()) return "P12: the run of a result is gone, " + named(key);
    const model::RunProgress& progress = run->second.progress;
    if (progress.attempt != key.attempt) return "P12: a result is not stored, " + named(key);
    const bool same = progress.state == state || state == model::RunState::Lost;
    if (!same) return "P12: another result is stored than " + named(key) + " had";
  }
  return "";
}

}  // namespace rota::sim
