// Workers that are not here any more, kept for people: who is away, since when, and why. Nothing is decided
// by them. One that vanished is kept for CoreOptions::keep_offline, one that was stopped for ten minutes, and
// of all the thousand that left last; a worker that comes back, or that an operator forgets, is kept no
// longer.
#pragma once

#include "master/core/state.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::core {

inline constexpr std::size_t kDepartedMost = 1000;
inline constexpr Millis kKeepStopped{600'000};
inline constexpr std::string_view kVanished =
    "its node is gone: the worker or its host ended, or cannot reach ZooKeeper";

/// Why this life, whose node has just gone, left: by its own last word.
std::string_view why_it_left(const LifeEntry& life);

/// Its node is gone, and no other life of the id is here.
void note_departed(Context& ctx, const LifeEntry& life);

/// Whether it is still to be shown.
bool is_kept(const DepartedWorker& worker, Millis keep_offline, WallTime now);

/// Lives that were recorded before this Term. Those that left are away; of those whose end nobody recorded
/// the first listing tells: then end_open_rows writes it down.
void recover_departed(State& state, std::vector<WorkerLife> lives);
void end_open_rows(Context& ctx);

void handle_forget_worker(Context& ctx, const ForgetWorker& event);

}  // namespace rota::master::core
