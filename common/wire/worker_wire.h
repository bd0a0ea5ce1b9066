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

/// The answer for an attempt whose work this worker does not keep any more. It is no refusal: nothing is
/// decided.
thrift::DispatchAnswer unknown_work_answer(const thrift::AttemptKey& attempt);
bool is_unknown_work(const thrift::DispatchAnswer& answer);

/// A worker as status shows it.
thrift::WorkerInfo to_wire(const model::WorkerInfo& info);
thrift::WorkerVitals to_wire(const model::WorkerVitals& vitals);
/// What is out of its bounds is brought into them, and named in `doubt`: figures must not cost a worker its
/// voucher. `sampled` is by the worker's clock.
model::WorkerVitals from_wire(const thrift::WorkerVitals& vitals);

/// `sampled` is not told: its age is, which the caller adds.
thrift::AttemptUsage to_wire(const model::AttemptUsage& usage);
model::AttemptUsage from_wire(const thrift::AttemptUsage& usage);
thrift::WorkerDrain to_wire(const model::WorkerDrain& drain);

}  // namespace rota::wire
