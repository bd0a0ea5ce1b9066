// What is always true of a State between two events. Each function gives the rule that is broken, or nothing.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "master/core/state.h"

namespace rota::master::core {

inline constexpr std::size_t kAllEntries = std::numeric_limits<std::size_t>::max();

/// Of all entries. It looks at everything: for tests and the simulator.
std::string broken_invariant(const State& state);

// Of one entry. `most`: at so many of the runs that it names a look is taken, the oldest first.
std::string broken_run(const State& state, const RunEntry& run);
/// Whether its job, its worker and its queue know of it.
std::string unknown_run(const State& state, const RunEntry& run);
std::string broken_job(const State& state, const JobEntry& job, std::size_t most = kAllEntries);
std::string broken_life(const State& state, const LifeEntry& life, std::size_t most = kAllEntries);
std::string broken_slot_queue(const State& state, const SlotQueueKey& key, const SlotQueue& queue,
                              std::size_t most = kAllEntries);
std::string broken_calendar(const CalendarEntry& entry);
/// What needs no look at any entry.
std::string broken_whole(const State& state);

}  // namespace rota::master::core
