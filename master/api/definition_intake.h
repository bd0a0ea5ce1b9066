// From what a client sent to what the core takes: converted, checked as a whole (all problems in one
// answer), its time zone resolved. Thread: any.
#pragma once

#include <memory>
#include <optional>

#include "common/base/result.h"
#include "job_types.h"
#include "master/core/event.h"

namespace rota::master::api {

/// A saved job's edit, without its token. InvalidArgument lists every problem.
Result<core::ApplyJob> take_edit(const thrift::JobEdit& edit, const std::string& principal);

/// One run to submit. A one-off without a name is called after its command or handler.
Result<core::SubmitItem> take_submit(const thrift::SubmitItem& item);

/// The next ticks of a schedule after a moment, at most `count` of them. InvalidArgument.
Result<std::vector<WallTime>> next_ticks(const model::Schedule& schedule, WallTime anchor,
                                         WallTime after, std::int32_t count);

}  // namespace rota::master::api
