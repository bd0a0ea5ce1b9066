#include "master/verify/token_check.h"

#include <algorithm>

#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

constexpr std::size_t kMostRecent = 4000;      // spans of a semaphore that a new one is compared with

}  // namespace

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
      const bool is_last = span.attempt == run.progress.attempt;
      const auto dispatched = is_last ? run.progress.dispatched : std::nullopt;
      const Sent sent{run.id, run.progress.epoch, run.recorded, dispatched};
      look_beside({run.space, name}, **known, {span, tokens, sent});
    }
  }
  return {};
}

Result<TokenCheck::Semaphore*> TokenCheck::semaphore(const Name& name) {
  const auto [at, is_new] = semaphores_.try_emplace(name);
  if (is_new) {
    auto versions = sources_.reader.semaphore_versions(name.first, name.second);
    if (!versions) return fail(versions.error());
    at->second.versions = std::move(*versions);
  }
  return &at->second;
}

/// At the moment when this one or one beside it began, so many surely lived.
void TokenCheck::look_beside(const Name& name, Semaphore& semaphore, const Held& held) {
  std::vector<const Held*> beside;
  for (const Held& other : semaphore.recent) {
    if (other.span.run != held.span.run && overlap(other.span, held.span)) beside.push_back(&other);
  }
  // One that was sent first may begin last: what there was when any of them was sent may have been in force.
  const auto excess_at = [&](const Held& anchor) {
    std::int64_t sum = anchor.tokens, most = most_tokens(semaphore.versions, anchor.sent);
    const auto add = [&](const Held& other) {
      sum += other.tokens;
      most = std::max(most, most_tokens(semaphore.versions, other.sent));
    };
    for (const Held* other : beside) {
      const bool lived = other->span.from <= anchor.span.from && overlap(other->span, anchor.span);
      if (other != &anchor && other->span.run != anchor.span.run && lived) add(*other);
    }
    const bool is_own = &anchor == &held;
    if (!is_own && held.span.from <= anchor.span.from && overlap(held.span, anchor.span)) add(held);
    return sum - most;
  };
  const Held* worst = &held;
  std::int64_t excess = excess_at(held);
  for (const Held* anchor : beside) {
    if (anchor->span.from < held.span.from) continue;
    const std::int64_t more = excess_at(*anchor);
    if (more > excess) worst = anchor, excess = more;
  }
  if (excess > 0) {
    wrong(check_, fmt::format("run {} attempt {}: when run {} began, the runs that lived held {} more tokens "
                              "of semaphore {} than it had",
                              held.span.run.value, held.span.attempt, worst->span.run.value, excess,
                              name.second));
  }
  semaphore.recent.push_back(held);
  if (semaphore.recent.size() > kMostRecent) {
    const auto end_of = [](const Held& one) { return one.span.to; };
    semaphore.recent.erase(std::ranges::min_element(semaphore.recent, {}, end_of));
  }
}

std::int64_t most_tokens(const std::vector<model::SemaphoreRow>& versions, const Sent& sent) {
  const Epoch first = epoch_of(sent.run);
  const bool is_of_one_term = first == sent.last && sent.dispatched.has_value();
  const WallTime from = is_of_one_term ? *sent.dispatched : sent.recorded;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Epoch made = epoch_of(RunId{versions[i].number});
    if (made > sent.last || (is_of_one_term && made == first && versions[i].changed > from)) continue;
    if (i + 1 < versions.size()) {
      const Epoch ended = epoch_of(RunId{versions[i + 1].number});
      if (ended < first || (ended == first && versions[i + 1].changed < from)) continue;
    }
    if (!versions[i].deleted) most = std::max<std::int64_t>(most, versions[i].count);
  }
  return most;
}

}  // namespace rota::master::verify
