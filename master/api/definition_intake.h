// From what a client sent to the core's events: converts it, checks all of it (one answer lists
// every problem) and resolves its time zone. Thread: any.
#pragma once

#include <memory>
#include <optional>

#include "common/base/result.h"
#include "job_types.h"
#include "master/core/event.h"

namespace rota::master::api {

/// A saved job's edit, without its token. InvalidArgument lists every problem.
Result<core::ApplyJob> accept_edit(const thrift::JobEdit& edit, const std::string& principal);

/// One run to submit. A one-off without a name is named after its command or handler.
Result<core::SubmitItem> accept_submit(const thrift::SubmitItem& item);

/// The next ticks of a schedule after a moment, at most `count` of them. InvalidArgument.
Result<std::vector<WallTime>> next_ticks(const model::Schedule& schedule, WallTime anchor,
                                         WallTime after, std::int32_t count);

}  // namespace rota::master::api
