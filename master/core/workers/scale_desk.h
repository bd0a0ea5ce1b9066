// The wanted number of workers of each pool (scale_rules.h says which): looked at once a second, stored when
// it changes, told to the pool's hook. Fewer workers: they drain first, and the hook may stop only those on
// which nothing runs. Nothing of this touches a run.
//
// A row says all that counts for its pool, so a later one replaces one that is not delivered yet. At most one
// call of a pool is on its way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "master/core/event.h"
#include "master/core/state.h"

namespace rota::master::core {

inline constexpr Millis kLookAtPools{1000};

/// At the end of each event, when it is time: pools are looked at, and what may leave leaves with the batch.
void scale_pools(Context& ctx);
/// The pool has other limits or another hook: its number is within them at once.
void scale_within_limits(Context& ctx, const std::string& pool);
/// A worker has been away for so long that it counts as dead.
void scale_after_death(Context& ctx, const std::string& worker);
void handle_hook_called(Context& ctx, const HookCalled& event);
/// A hook of that name is in this leader's settings. "": none is named.
std::optional<Error> why_no_hook(const State& state, const std::string& hook);
/// Why nobody but the autoscaler may change the drain of that worker now: its hook may stop it.
std::optional<Error> why_not_resumed(const State& state, const std::string& worker);
/// The newest rows of all pools; drains are known.
void recover_scaling(State& state, std::vector<model::ScaleChange> rows, Now now);
/// When TimePassed is wanted.
std::optional<MonoTime> scale_wake(const State& state);

/// What the pool's quota says.
std::int64_t least_workers(const model::Quota& quota);
std::int64_t most_workers(const model::Quota& quota);
bool is_scaled(const model::Quota& quota);

}  // namespace rota::master::core
