// Quotas of pools and namespaces: how they are set, what they hold back, and what is told of it. What they
// count is kept by quota_table.h; the share of free slots by weight is turn_rules.h.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "master/core/event.h"
#include "master/core/state.h"

namespace rota::master::core {

/// So many pools and namespaces may have a quota.
inline constexpr std::size_t kMostQuotas = 10'000;

void handle_set_quota(Context& ctx, const SetQuota& event);

/// A run that takes so many slots cannot be sent: it is full, or has less left. What is kept for `own` is
/// that run's.
bool lacks_room(const QuotaTable& quotas, model::QuotaOf of, const std::string& name, std::int32_t slots,
                RunId own = {});

/// Whether no run of this queue may be sent now, whatever slots are free: its pool is full, or all namespaces
/// whose runs wait in it are.
bool is_held_back(const State& state, const SlotQueueKey& key);

/// Why this run waits in its queue.
model::Reason why_queued(const State& state, const RunEntry& run);

/// What a run that waits for its pool or its namespace is told; else empty.
std::string quota_words(const State& state, const RunEntry& run, model::Reason reason);

/// Why no run may begin in that namespace now, as one of that minute; None: one may.
model::Reason why_no_firing(const State& state, const std::string& space, WallTime minute_of);

/// How many may.
std::int64_t firings_left(const State& state, const std::string& space, WallTime minute_of);

/// The same for those who ask for a run: with values and remedy.
std::optional<Error> why_no_run(const State& state, const std::string& space, WallTime at);

/// Beside the reason NamespaceUnfinished or NamespaceFirings: what a skipped run says.
std::string skipped_words(const State& state, const std::string& space, model::Reason reason);

/// Why one more job may not be saved there; empty: it may.
std::optional<Error> why_no_job(const State& state, const std::string& space);

}  // namespace rota::master::core
