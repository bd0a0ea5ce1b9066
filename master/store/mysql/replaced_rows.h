// How ends are stored of which masters of before do not know the reason: they refuse a row with such a word.
// A run whose place another took stands there as one that was cancelled, and its detail is a run and nothing
// else. A run that was out of time stands there as one whose attempt was, and its detail begins with the key.
#pragma once

#include <string_view>

#include "common/model/run.h"

namespace rota::master::store {

inline std::string_view stored_name(model::Reason reason) {
  using enum model::Reason;
  if (reason == WaitsForSemaphore) return name_of(AllSlotsBusy);  // it waits, too
  if (reason == ReplacedBy) return name_of(CancelledByUser);
  return name_of(reason == RunTimeout || reason == QueueTimeout ? AttemptTimeout : reason);
}

/// What a row with that reason and detail means.
inline model::Reason reason_in_row(model::Reason reason, std::string_view detail) {
  using enum model::Reason;
  const bool is_run = !detail.empty() && detail.find_first_not_of("0123456789") == std::string_view::npos;
  if (reason == CancelledByUser && is_run) return ReplacedBy;
  if (reason == AttemptTimeout && detail.starts_with("timeout.run: ")) return RunTimeout;
  return reason == AttemptTimeout && detail.starts_with("timeout.queue: ") ? QueueTimeout : reason;
}

}  // namespace rota::master::store
