// How the store resolves a job's time zone when a Term starts: common/time's load_zone in production,
// something small in tests.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "common/base/result.h"
#include "common/model/zone.h"

namespace rota::master::store {

using ZoneSource =
    std::function<Result<std::shared_ptr<const model::ZoneRules>>(std::string_view name)>;

}  // namespace rota::master::store
