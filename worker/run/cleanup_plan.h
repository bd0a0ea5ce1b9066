// What a job's `cleanup` runs behind one attempt, and what its end makes of the attempt's. Pure.
//
// The cleanup is a process under the warden like the attempt, as the same user and with the same environment,
// but it needs no voucher: it must also run when nobody vouches for the worker. The warden knows it by
// the attempt's key with the number negated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/run.h"
#include "common/model/worker.h"
#include "worker/desk/order.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

/// So long a cleanup may take; then TERM, and KILL a grace later.
inline constexpr Millis kCleanupLimit{60'000};
inline constexpr Millis kCleanupKillGrace{5'000};

/// The warden's key of the cleanup of an attempt.
inline warden::AttemptKey cleanup_key(model::AttemptKey key) { return {key.run, -key.attempt}; }
inline bool is_cleanup(const warden::AttemptKey& key) { return key.attempt < 0; }
/// Of an attempt's key, or of its cleanup's.
inline model::AttemptKey attempt_of(const warden::AttemptKey& key) {
  return {key.run, key.attempt < 0 ? -key.attempt : key.attempt};
}

/// What the warden is asked to start behind `command`, the attempt's own start. Empty: no cleanup.
std::optional<warden::Start> plan_cleanup(const desk::Order& order, const warden::Start& command);

/// Why the words of its cleanup can never be started; empty: nothing.
std::optional<std::string> trouble_with_cleanup(const desk::Order& order);

/// Adds how the cleanup ended. One that failed makes the attempt KillFailed with CleanupFailed (KillUnproven
/// stays what it is); how the attempt itself had ended stands in the message.
void add_cleanup(model::Outcome& outcome, const warden::Ended& cleanup);

/// Stands in the attempt's output before what its cleanup prints.
std::string cleanup_mark(model::AttemptKey key);

}  // namespace rota::worker::run
