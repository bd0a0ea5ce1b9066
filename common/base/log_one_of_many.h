// A line of which there may be thousands at once, each with other keys: of one sentence a few are written,
// then one in ten seconds with the count of those like it (log_limiter.h).
// Thread: any.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/log.h"
#include "common/base/log_format.h"

namespace rota {

void log_one_of_many(std::string_view channel, Severity level, std::string_view sentence,
                     std::vector<OwnedLogKey> keys);

}  // namespace rota
