#include "master/verify/token_check.h"

#include "master/verify/findings.h"

namespace rota::master::verify {

void TokenCheck::learn(const model::JobVersionRow& version) {
  const std::pair key{version.job, version.version};
  if (version.definition != nullptr) {
    if (!version.definition->rules.uses.empty()) uses_[key] = version.definition->rules.uses;
    return;
  }
  const auto before = uses_.find({version.job, version.version - 1});
  if (before != uses_.end()) uses_[key] = before->second;
}

Result<void> TokenCheck::look_at(const model::Run& run, const std::vector<Span>& spans) {
  const auto uses = uses_.find({run.job, run.version});
  if (uses == uses_.end()) return {};
  for (const auto& [name, tokens] : uses->second) {
    auto known = semaphore({run.space, name});
    if (!known) return fail(known.error());
    for (const Span& span : spans) {
      ++check_.planned;
      // Its end is a leader's guess, by a clock that may have been set back since.
      if (span.worker.empty()) continue;
      const auto excess = (*known)->look({span, tokens, sent_of(run, span)});
      if (!excess) continue;
      wrong(check_, fmt::format("run {} attempt {}: when run {} began, the runs that lived held {} more "
                                "tokens of semaphore {} than it had",
                                span.run.value, span.attempt, excess->began.value, excess->by, name));
    }
  }
  return {};
}

Result<HeldBeside*> TokenCheck::semaphore(const Name& name) {
  const auto known = semaphores_.find(name);
  if (known != semaphores_.end()) return &known->second;
  const auto versions = sources_.reader.semaphore_versions(name.first, name.second);
  if (!versions) return fail(versions.error());
  std::vector<Amount> amounts;
  for (const model::SemaphoreRow& row : *versions) {
    amounts.push_back({row.deleted ? 0 : row.count, row.changed, row.number});
  }
  return &semaphores_.emplace(name, HeldBeside(std::move(amounts))).first->second;
}

}  // namespace rota::master::verify
