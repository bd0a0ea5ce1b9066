// What one call to a worker carries, and what its answer means for each attempt. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "common/rpc/error_wire.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/dispatch/definition_cache.h"
#include "master/dispatch/kept_works.h"
#include "worker_types.h"

namespace rota::master::dispatch {

/// An attempt to be sent, and what it runs.
struct Piece {
  thrift::DispatchItem item;   ///< without its work; the run's own parameters
  DefinitionCache::Definition work;
};

Piece make_piece(const core::DispatchItem& item, DefinitionCache::Definition work);

/// One call: its items and works.
struct Part {
  thrift::DispatchRequest request;
  std::vector<DefinitionCache::Definition> works;  ///< those of request.works
};

struct PartLimits {
  std::size_t items = 500;
  std::size_t bytes = std::size_t{3} << 20;        ///< estimated
};

/// Moves pieces from `next` on into one call, as many as the limits allow; a piece that is larger than a call
/// goes alone. What `life` keeps goes by its hash, all else once in each call. No `life`: its worker keeps
/// no works, so that each attempt carries its own.
Part pack(std::vector<Piece>& pieces, std::size_t& next, const PartLimits& limits, const LifeWorks* life);

/// Takes the attempts out of an answered call whose works the worker does not know any more.
std::vector<Piece> take_unknown(Part& part, const std::vector<thrift::DispatchAnswer>& answers);

/// One verdict for each item: what the worker answered, Unknown where it said nothing.
std::vector<core::DispatchVerdict> read_answers(const std::vector<thrift::DispatchItem>& items,
                                                const std::vector<thrift::DispatchAnswer>& answers);

/// One verdict for each item when the whole call failed: a refusal when the worker's answer means one, else
/// Unknown, so that the core asks again.
std::vector<core::DispatchVerdict> verdicts_of_failure(
    const std::vector<thrift::DispatchItem>& items, const rpc::CallError& error);

}  // namespace rota::master::dispatch
