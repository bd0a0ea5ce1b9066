// From what a client sent to the core's events: converts it, checks all of it (one answer lists
// every problem) and resolves its time zone. Thread: any.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "job_types.h"
#include "master/core/event.h"

namespace rota::master::api {

/// A saved job's edit, without its token. InvalidArgument lists every problem.
Result<core::ApplyJob> accept_edit(const thrift::JobEdit& edit, const std::string& principal);

/// The runs of one call, one after the other. Most calls repeat one definition: what is the same as in the
/// item before is neither converted, checked nor hashed again, and shared. Owner: the call, which keeps its
/// items.
class SubmitIntake {
 public:
  /// A one-off without a name is named after its command or handler. InvalidArgument lists every problem.
  Result<core::SubmitItem> accept(const thrift::SubmitItem& item);

 private:
  Result<void> read_definition(const thrift::SubmitItem& item);
  Result<void> read_parameters(const thrift::SubmitItem& item);

  const thrift::SubmitItem* defined_ = nullptr;  ///< whose definition is read
  JobId job_;
  std::shared_ptr<const model::JobDefinition> definition_;
  const thrift::SubmitItem* checked_ = nullptr;  ///< whose parameters are read, and fit that definition
  std::shared_ptr<const model::Parameters> parameters_;
  std::string hash_;                             ///< of both; empty: not computed yet
};

/// One run to submit, alone in its call.
Result<core::SubmitItem> accept_submit(const thrift::SubmitItem& item);

/// The next ticks of a schedule after a moment, at most `count` of them. InvalidArgument.
Result<std::vector<WallTime>> next_ticks(const model::Schedule& schedule, WallTime anchor,
                                         WallTime after, std::int32_t count);

}  // namespace rota::master::api
