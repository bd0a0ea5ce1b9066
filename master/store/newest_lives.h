// The last life of each worker, for a new Term: which were away, and which have no recorded end. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "master/core/effect.h"

namespace rota::master::store {

/// How many rows are looked at: those without an end first, then those that left last.
inline constexpr std::size_t kNewestLivesMost = 10'000;

/// How many starts a new Term knows: of each worker and state folder the last, the newest of these first.
inline constexpr std::size_t kNewestStartsMost = 100'000;

/// Of each worker one row, by id: the one that joined last. Of several that joined in one moment (sessions of
/// one process) the one that is open, else the one that left last.
std::vector<core::WorkerLife> newest_of_each(std::vector<core::WorkerLife> lives);

}  // namespace rota::master::store
