// Hours by the clock of one zone, told by the clock of another one. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/zone.h"

namespace rota::master::core {

/// Milliseconds since 1970 of a local time, or of moments: [from, to).
struct LocalSpan {
  std::int64_t from_ms = 0, to_ms = 0;
  bool operator==(const LocalSpan&) const = default;
};

/// Local times of `there` as local times of `here`, in order; none touches another. A local time of `here`
/// that occurs twice counts by its first moment, one that is skipped by the moment at which the clocks go on:
/// as moment_of_local says. Each moment counts at which the clocks of `there` show such a time.
std::vector<LocalSpan> told_in_zone(const model::ZoneRules& there, const LocalSpan& hours,
                                    const model::ZoneRules& here);

}  // namespace rota::master::core
