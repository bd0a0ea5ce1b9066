#include "master/verify/held_beside.h"

#include <algorithm>

namespace rota::master::verify {

Sent sent_of(const model::Run& run, const Span& span) {
  const bool is_last = span.attempt == run.progress.attempt;
  return {run.id, run.progress.epoch, run.recorded, is_last ? run.progress.dispatched : std::nullopt};
}

std::optional<Excess> HeldBeside::look(const HeldSpan& held) {
  std::vector<const HeldSpan*> beside;
  for (const HeldSpan& other : recent_) {
    if (other.span.run != held.span.run && overlap(other.span, held.span)) beside.push_back(&other);
  }
  // One that was sent first may begin last: what was there when any of them was sent may have been in force.
  const auto excess_at = [&](const HeldSpan& anchor) {
    std::int64_t sum = anchor.amount, most = most_in_force(amounts_, anchor.sent);
    const auto add = [&](const HeldSpan& other) {
      sum += other.amount;
      most = std::max(most, most_in_force(amounts_, other.sent));
    };
    for (const HeldSpan* other : beside) {
      const bool lived = other->span.from <= anchor.span.from && overlap(other->span, anchor.span);
      if (other != &anchor && other->span.run != anchor.span.run && lived) add(*other);
    }
    const bool is_own = &anchor == &held;
    if (!is_own && held.span.from <= anchor.span.from && overlap(held.span, anchor.span)) add(held);
    return sum - most;
  };
  Excess worst{held.span.run, excess_at(held)};
  for (const HeldSpan* anchor : beside) {
    if (anchor->span.from < held.span.from) continue;
    const std::int64_t more = excess_at(*anchor);
    if (more > worst.by) worst = {anchor->span.run, more};
  }
  recent_.push_back(held);
  if (recent_.size() > most_recent_) {
    const auto end_of = [](const HeldSpan& one) { return one.span.to; };
    recent_.erase(std::ranges::min_element(recent_, {}, end_of));
  }
  return worst.by > 0 ? std::optional(worst) : std::nullopt;
}

std::int64_t most_in_force(const std::vector<Amount>& amounts, const Sent& sent) {
  const Epoch first = epoch_of(sent.run);
  const bool is_of_one_term = first == sent.last && sent.dispatched.has_value();
  const WallTime from = is_of_one_term ? *sent.dispatched : sent.recorded;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const Epoch made = epoch_of(RunId{amounts[i].number});
    if (made > sent.last || (is_of_one_term && made == first && amounts[i].changed > from)) continue;
    if (i + 1 < amounts.size()) {
      const Epoch ended = epoch_of(RunId{amounts[i + 1].number});
      if (ended < first || (ended == first && amounts[i + 1].changed < from)) continue;
    }
    most = std::max(most, amounts[i].most);
  }
  return most;
}

}  // namespace rota::master::verify
