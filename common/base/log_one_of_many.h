// For lines that may come by the thousand with different keys. A few lines of one sentence are written, then
// one in ten seconds with the count of the others (log_limiter.h).
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
