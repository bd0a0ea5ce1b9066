// The time zones of simulated worlds. Their clocks show another day soon after the start, so that the short life
// of a world holds a midnight.
#pragma once

#include <string>

#include "common/model/zone.h"
#include "master/store/zone_source.h"

namespace rota::sim {

/// "Sim/SECONDS": so far ahead of UTC, always.
std::string sim_zone_name(std::int64_t offset_s);
/// UTC and the zones of that form. InvalidArgument for any other name.
Result<model::ZonePtr> sim_zone(std::string_view name);

}  // namespace rota::sim
