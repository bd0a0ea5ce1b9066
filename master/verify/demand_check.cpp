#include "master/verify/demand_check.h"

#include <algorithm>

#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

constexpr std::int32_t kLivesRead = 1000;      // of one worker, the newest
constexpr std::size_t kRecentOfSlot = 4, kRecentLeast = 64;

/// Of the attempt of that number; empty: not known.
std::string incarnation_of(const model::Run& run, const std::vector<model::AttemptRow>& earlier,
                           AttemptNo attempt) {
  if (run.progress.attempt == attempt) return run.progress.worker.incarnation;
  const auto row = std::ranges::find(earlier, attempt, &model::AttemptRow::attempt);
  return row == earlier.end() ? std::string() : row->worker.incarnation;
}

}  // namespace

void DemandCheck::learn(const model::JobVersionRow& version) {
  JobVersion& newest = newest_[version.job];
  newest = std::max(newest, version.version);
  if (version.definition == nullptr) return;
  const model::JobRules& rules = version.definition->rules;
  const model::Demand demand{rules.slots, rules.needs};
  if (demand.is_plain() && !demands_.contains(version.job)) return;
  demands_[version.job][version.version] = demand;
}

Result<void> DemandCheck::look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier,
                                  const std::vector<Span>& spans) {
  if (demands_.empty()) return {};
  model::Demand demand;
  const auto job = demands_.find(run.job);
  if (job != demands_.end() && run.version <= newest_.at(run.job)) {
    const auto later = job->second.upper_bound(run.version);
    if (later != job->second.begin()) demand = std::prev(later)->second;
  }
  for (const Span& span : spans) {
    if (span.worker.empty() || span.is_late) continue;  // its end is a leader's guess, or it was given up
    auto known = worker(span.worker);
    if (!known) return fail(known.error());
    if (!(*known)->lives.contains(incarnation_of(run, earlier, span.attempt))) continue;
    ++check_.planned;
    look_at_amount(**known, "", demand.slots, span, run);
    for (const auto& [name, amount] : demand.needs) look_at_amount(**known, name, amount, span, run);
  }
  return {};
}

/// A life may go on with what an earlier one began, so the most that any of them had counts.
void DemandCheck::look_at_amount(Worker& of, const std::string& name, std::int64_t amount, const Span& span,
                                 const model::Run& run) {
  auto held = of.held.find(name);
  if (held == of.held.end()) {
    std::int64_t most = 0, slots = 0;
    for (const auto& [incarnation, had] : of.lives) {
      slots = std::max<std::int64_t>(slots, had.slots);
      most = std::max(most, name.empty() ? had.slots : model::amount_of(had.needs, name));
    }
    const std::size_t recent = kRecentLeast + kRecentOfSlot * static_cast<std::size_t>(slots);
    held = of.held.emplace(name, HeldBeside({{most, WallTime{}, 0}}, recent)).first;
  }
  const auto excess = held->second.look({span, amount, sent_of(run, span)});
  if (!excess) return;
  wrong(check_, fmt::format("run {} attempt {}: when run {} began, the attempts that lived on worker {} took "
                            "{} more {} than it had",
                            span.run.value, span.attempt, excess->began.value, span.worker, excess->by,
                            name.empty() ? "slots" : "of " + name));
}

Result<DemandCheck::Worker*> DemandCheck::worker(const std::string& id) {
  const auto known = workers_.find(id);
  if (known != workers_.end()) return &known->second;
  const auto lives = sources_.reader.lives_of(id, kLivesRead);
  if (!lives) return fail(lives.error());
  Worker& made = workers_[id];
  for (const core::WorkerLife& life : *lives) {
    if (life.slots && life.offers) made.lives[life.key.incarnation] = {*life.slots, *life.offers};
  }
  return &made;
}

}  // namespace rota::master::verify
