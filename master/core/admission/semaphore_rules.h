// Semaphores are set and deleted, and which runs wait for their tokens. The table of tokens is token_table.h.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "master/core/event.h"
#include "master/core/state.h"

namespace rota::master::core {

/// So many semaphores may stand at once.
inline constexpr std::size_t kMostSemaphores = 10'000;

void handle_set_semaphore(Context& ctx, const SetSemaphore& event);
/// Refused while a job uses it, or a run holds or waits for a token of it.
void handle_delete_semaphore(Context& ctx, const DeleteSemaphore& event);

/// Why a job of that namespace may not have these rules; empty: it may. Unknown semaphores, and more tokens
/// than one has.
std::optional<Error> why_no_uses(const State& state, const std::string& space, const model::JobRules& rules);

/// Whether a run of this queue may take its tokens now. If not, the queue stands in line from now on. A line
/// before it whose runs no worker can take now steps back.
bool gets_tokens(State& state, const SlotQueueKey& queue);

/// What a queue waits for, who holds it, and how many are before it. Of a queue that lacks no token: empty.
std::string token_words(const State& state, const SlotQueueKey& queue);

}  // namespace rota::master::core
