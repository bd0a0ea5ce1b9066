// How ends are stored of which masters of before do not know the reason: they refuse a row with such a word.
// A run whose place another took stands there as one that was cancelled, and its detail is a run and nothing
// else. A run that was out of time stands there as one whose attempt was, and its detail begins with the key.
#pragma once

#include <string_view>

#include "common/model/run.h"

namespace rota::master::store {

inline std::string_view stored_name(model::Reason reason) {
  using enum model::Reason;
  const bool waits = reason == WaitsForSemaphore || reason == PoolLimit || reason == NamespaceSlots;
  if (waits) return name_of(AllSlotsBusy);
  if (reason == NoWorkerHas) return name_of(NoWorkerInPool);
  if (reason == NamespaceUnfinished || reason == NamespaceFirings) return name_of(QueueFull);
  if (reason == ReplacedBy) return name_of(CancelledByUser);
  return name_of(reason == RunTimeout || reason == QueueTimeout ? AttemptTimeout : reason);
}

/// What a row with that reason and detail means.
inline model::Reason reason_in_row(model::Reason reason, std::string_view detail) {
  using enum model::Reason;
  const bool is_run = !detail.empty() && detail.find_first_not_of("0123456789") == std::string_view::npos;
  if (reason == CancelledByUser && is_run) return ReplacedBy;
  if (reason == AttemptTimeout && detail.starts_with("timeout.run: ")) return RunTimeout;
  if (reason == QueueFull && detail.starts_with("max-unfinished: ")) return NamespaceUnfinished;
  if (reason == QueueFull && detail.starts_with("max-firings-per-minute: ")) return NamespaceFirings;
  return reason == AttemptTimeout && detail.starts_with("timeout.queue: ") ? QueueTimeout : reason;
}

/// In a gap that a limit of its namespace left, in place of the run that was in the way.
inline constexpr std::int64_t kGapOfUnfinished = -1, kGapOfFirings = -2;

inline std::int64_t stored_reference(const model::Gap& gap) {
  if (gap.reason == model::Reason::NamespaceUnfinished) return kGapOfUnfinished;
  return gap.reason == model::Reason::NamespaceFirings ? kGapOfFirings : gap.reference;
}

/// The gap as it was, from what was read.
inline void restore_gap(model::Gap& gap) {
  if (gap.reason != model::Reason::QueueFull || gap.reference >= 0) return;
  const bool is_unfinished = gap.reference == kGapOfUnfinished;
  gap.reason = is_unfinished ? model::Reason::NamespaceUnfinished : model::Reason::NamespaceFirings;
  gap.reference = 0;
}

}  // namespace rota::master::store
