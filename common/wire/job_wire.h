// Definitions between the model and Thrift. What comes from the wire is unchecked: enumerators by
// name and times are checked here, all else by definition_rules.h.
#pragma once

#include "common/base/result.h"
#include "common/model/job.h"
#include "job_types.h"

namespace rota::wire {

thrift::Schedule to_wire(const model::Schedule& schedule);
thrift::Rules to_wire(const model::JobRules& rules);
thrift::Work to_wire(const model::JobWork& work);
thrift::JobDefinition to_wire(const model::JobDefinition& definition);

/// InvalidArgument names the field, its value and the allowed ones; every wrong field at once.
Result<model::Schedule> from_wire(const thrift::Schedule& schedule);
Result<model::JobRules> from_wire(const thrift::Rules& rules);
model::JobWork from_wire(const thrift::Work& work);
Result<model::JobDefinition> from_wire(const thrift::JobDefinition& definition);

/// A saved job for lists; `next` is left to who knows schedules.
thrift::JobInfo to_wire(const model::Job& job, const model::JobVersionRow& version);

}  // namespace rota::wire
