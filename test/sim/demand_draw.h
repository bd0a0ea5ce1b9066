// Which worlds have runs that take several slots, or amounts beside them; what workers offer there, and what jobs
// need. Every worker has as a whole what any job needs, so that no run waits forever.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/model/demand.h"
#include "common/model/job.h"
#include "random.h"

namespace rota::sim {

bool has_wide_runs(std::uint64_t seed);
/// So many slots more has each worker of such a world.
std::int32_t more_slots(std::uint64_t seed);
model::Amounts offers_of(std::uint64_t seed, std::size_t worker);
void draw_demand(model::JobRules& rules, std::uint64_t seed, Random& dice);

}  // namespace rota::sim
