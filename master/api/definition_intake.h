// From what a client sent to the core's events: converts it, checks all of it (one answer lists
// every problem) and resolves its time zone. Thread: any.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "job_types.h"
#include "master/core/event.h"
#include "master/core/time/calendar_source.h"

namespace rota::master::api {

/// A saved job's edit, without its token. `calendars` are those of its namespace; what they let fire no more
/// from `now` on is refused. InvalidArgument lists every problem; `problems`, if given, gets each by itself.
Result<core::ApplyJob> accept_edit(const thrift::JobEdit& edit, const std::string& principal,
                                   const core::CalendarSource& calendars = {},
                                   std::optional<WallTime> now = {},
                                   std::vector<std::string>* problems = nullptr);

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

/// The next ticks of a schedule, and of each the names of the entries that are due, where there are entries.
struct NextTicks {
  std::vector<WallTime> at;
  std::vector<std::string> entries;
  std::vector<WallTime> starts;  ///< of the run of each, where an entry has a jitter; else empty
};

/// After a moment, at most `count` of them. `hash` is the job's (core/time/cron_hash.h). InvalidArgument.
Result<NextTicks> next_ticks(const model::Schedule& schedule, std::uint64_t hash, WallTime anchor,
                             WallTime after, std::int32_t count,
                             const core::CalendarSource& calendars = {});

}  // namespace rota::master::api
