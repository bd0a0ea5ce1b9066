// Runs, attempts and their outcomes between the model and Thrift.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "job_types.h"

namespace rota::wire {

inline constexpr std::size_t kMaxResultBytes = 64u << 10;
inline constexpr std::size_t kMaxMessageBytes = 4096;
inline constexpr std::size_t kMaxCheckpointBytes = 64u << 10;
inline constexpr std::size_t kMaxProgressBytes = 200;

thrift::WorkerKey to_wire(const model::WorkerKey& key);
model::WorkerKey from_wire(const thrift::WorkerKey& key);
thrift::AttemptKey to_wire(const model::AttemptKey& key);
model::AttemptKey from_wire(const thrift::AttemptKey& key);

/// In Outcome.unknown_costs.
inline constexpr std::int32_t kCpuUnknown = 1, kMemoryUnknown = 2, kReadsUnknown = 4, kWritesUnknown = 8;
/// Whether one of the four costs is known.
bool is_known(const thrift::Outcome& outcome, std::int32_t unknown);
thrift::Outcome to_wire(const model::Outcome& outcome);
/// InvalidArgument: a state that is not final, an unknown name, a number out of range, or a result
/// larger than 64 KiB. A message beyond 4 KiB is cut: what a job says must not cost its result. An
/// unknown reason (a newer worker) becomes None.
Result<model::Outcome> from_wire(const thrift::Outcome& outcome);

thrift::RunInfo to_wire(const model::Run& run, const std::string& job_name);
/// For clients. Corrupt when a name is unknown.
Result<model::Run> from_wire(const thrift::RunInfo& info);
thrift::AttemptInfo to_wire(const model::AttemptRow& attempt);
thrift::RunNote to_wire(const model::RunNote& note);

}  // namespace rota::wire
