// The zones by which a Term reads `expect.finish_by`.
#pragma once

#include "master/core/recovered.h"
#include "master/store/zone_source.h"

namespace rota::master::store {

/// Those of the jobs and of the unfinished runs that were read; one that is not known here is left out.
void find_expect_zones(core::Recovered& recovered, const ZoneSource& zones);

}  // namespace rota::master::store
