// Workers that are not here any more, kept for people: which are away, since when, and why. No decision
// depends on them. A worker that vanished is kept for Settings::keep_offline, one that was stopped for
// ten minutes, and at most the thousand that left last. A worker that comes back, or that an operator
// forgets, is removed.
#pragma once

#include "master/core/state.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::core {

inline constexpr std::size_t kDepartedMost = 1000;
inline constexpr Millis kKeepStopped{600'000};
inline constexpr std::string_view kVanished =
    "its node is gone: the worker or its host ended, or cannot reach ZooKeeper";

/// Why this life, whose node has just gone, left: by what it said last.
std::string_view why_it_left(const LifeEntry& life);

/// Its node is gone, and no other life of the id is here.
void note_departed(Context& ctx, const LifeEntry& life);

/// Forgets those that were kept long enough; one more has room then, for who left first goes first.
void bound_departed(State& state);

/// Whether it is still shown.
bool is_kept(const DepartedWorker& worker, Millis keep_offline, WallTime now);

/// Lives that were recorded before this Term. Those that left are away. For those whose end nobody recorded,
/// the first listing shows whether they are here; then end_open_rows writes the end of the others.
void recover_departed(State& state, std::vector<WorkerLife> lives);
void end_open_rows(Context& ctx);

void handle_forget_worker(Context& ctx, const ForgetWorker& event);

}  // namespace rota::master::core
