// How many runs would start before one that waits for a slot. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "master/core/admission/line_views.h"

namespace rota::master::api {

struct Place {
  std::string pool;
  std::int64_t place = 0;              ///< from 1
  std::int64_t waiting = 0;            ///< in the pool
  bool is_least = false;               ///< there are more lines than are known, or it is far behind
  std::int64_t priority = 0;
  std::int64_t weight = 1;             ///< of its namespace
};

/// So many starts are played through at most.
inline constexpr std::int64_t kPlacesPlayed = 20'000;

/// Plays the turns (turn_rules.h) as if slots became free now, one after the other, and nothing else
/// changed. `waiting`: runs that wait in the pool, as far as known. Empty: the run stands in no line that is
/// known.
std::optional<Place> place_of(const core::LinesView& lines, const core::PlaceView& run, WallTime now,
                              std::int64_t waiting);

/// "3rd of 14 in line for pool p (priority 50; namespace n has weight 2)".
std::string place_words(const Place& place, const std::string& space);

}  // namespace rota::master::api
