// What summer time has to do with a moment at which a job is due, in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/model/zone.h"

namespace rota::client {

/// "clocks forward: 02:30 does not exist, runs at 03:00", "clocks back: 02:30 comes twice, this is the
/// first"; empty where the zone's clocks are not changed. `cron` may be empty; where it names one time of
/// day, that one is told.
std::string clock_words(const model::ZoneRules& zone, std::int64_t at_ms, std::string_view cron);

}  // namespace rota::client
