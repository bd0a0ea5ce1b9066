// Time zones of this machine (Debian's tzdata) as plain values for the pure parts. The only user
// of cctz. Thread: any.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/zone.h"

namespace rota::timezone {

/// The rules of a zone of the IANA database, from 1970 to 2200; cached after the first call (shared,
/// because many jobs name the same zone and the rules never change while the process lives).
/// InvalidArgument for an unknown name, with the nearest ones.
Result<std::shared_ptr<const model::ZoneRules>> load_zone(std::string_view name);

/// All names that load_zone knows, in order. Read once.
const std::vector<std::string>& zone_names();

}  // namespace rota::timezone
