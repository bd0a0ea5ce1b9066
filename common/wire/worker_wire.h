// What master and worker tell each other, between the model and Thrift.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/model/worker.h"
#include "common/wire/run_wire.h"
#include "report_types.h"
#include "worker_types.h"

namespace rota::wire {

thrift::Inventory to_wire(const model::Inventory& inventory);
/// InvalidArgument: an unknown state, or an outcome that is none.
Result<model::Inventory> from_wire(const thrift::Inventory& inventory);

thrift::Report to_wire(const model::AttemptReport& report);
/// InvalidArgument: neither "started" nor "finished", no run, or finished without a good outcome.
Result<model::AttemptReport> from_wire(const thrift::Report& report);

/// One attempt's answer to a dispatch. An unknown refusal (a newer worker) is read as Malformed.
thrift::DispatchAnswer dispatch_answer(const model::AttemptKey& key, model::Refusal refusal,
                                       const std::string& detail);
model::Refusal refusal_of(const thrift::DispatchAnswer& answer);

/// A worker as status shows it.
thrift::WorkerInfo to_wire(const model::WorkerInfo& info);
thrift::WorkerVitals to_wire(const model::WorkerVitals& vitals);
thrift::WorkerDrain to_wire(const model::WorkerDrain& drain);

}  // namespace rota::wire
