// A worker's znode: its name and its content, which the worker writes and the leader reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/worker.h"

namespace rota::model {

inline constexpr std::size_t kWorkerJsonLimit = 4096;

/// `<id>@<incarnation>`.
std::string node_name(const WorkerKey& key);
/// Empty when the name has no such form. The id must not contain '@' or '/'.
std::optional<WorkerKey> worker_key_in(std::string_view node_name);

/// InvalidArgument when it would be longer than 4096 bytes.
Result<std::string> to_json(const WorkerInfo& info);
/// The key comes from the node's name, everything else from the content; unknown fields are ignored.
/// Corrupt.
Result<WorkerInfo> worker_from_json(const WorkerKey& key, const std::string& json);

}  // namespace rota::model
