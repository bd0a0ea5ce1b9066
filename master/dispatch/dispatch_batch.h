// What one call to a worker carries, and what its answer means for each attempt. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "common/rpc/error_wire.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "worker_types.h"

namespace rota::master::dispatch {

/// The attempt with what it runs; parameters of the run replace those of the job.
thrift::DispatchItem make_item(const core::DispatchItem& item,
                               const model::JobDefinition& definition);

/// About how many bytes it takes on the wire.
std::size_t weight_of(const thrift::DispatchItem& item);

/// Splits items into calls with limits of number and size; an item that is larger than a call goes alone.
std::vector<std::vector<thrift::DispatchItem>> split(std::vector<thrift::DispatchItem> items,
                                                     std::size_t most_items,
                                                     std::size_t most_bytes);

/// One verdict for each item: what the worker answered, Unknown where it said nothing.
std::vector<core::DispatchVerdict> read_answers(const std::vector<thrift::DispatchItem>& items,
                                                const std::vector<thrift::DispatchAnswer>& answers);

/// One verdict for each item when the whole call failed: a refusal when the worker's answer means one, else
/// Unknown, so that the core asks again.
std::vector<core::DispatchVerdict> verdicts_of_failure(
    const std::vector<thrift::DispatchItem>& items, const rpc::CallError& error);

}  // namespace rota::master::dispatch
