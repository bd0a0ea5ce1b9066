// What running attempts have used, as their worker says a part of it at a time. For people. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "common/base/ids.h"
#include "common/model/worker.h"
#include "master/core/tables/id_set.h"

namespace rota::master::core {

/// Of one worker's attempts; more are not kept.
inline constexpr std::size_t kUsagesKept = 2000;

/// `known` with what `newer` says instead, without runs that the worker does not hold any more. In the order
/// of keys.
std::vector<model::AttemptUsage> usage_with(const std::vector<model::AttemptUsage>& known,
                                            std::vector<model::AttemptUsage> newer,
                                            const IdSet<RunId>& held);

}  // namespace rota::master::core
