#include "master/core/admission/route.h"

#include "common/model/route_key.h"

namespace rota::master::core {
namespace {

constexpr std::uint64_t kMeasuredAnew = 16;

}  // namespace

const model::WorkerKey* choose_worker(const RouteQuestion& question, const OpenWorkers& open) {
  using model::RouteKind;
  switch (question.route) {
    case RouteKind::RoundRobin:
      return question.last_worker.empty() ? open.by_lot(question.lot) : open.after_id(question.last_worker);
    case RouteKind::LeastLoaded: return open.first(WorkerOrder::Load);
    case RouteKind::Named: return open.with_id(question.named);
    case RouteKind::First:
    case RouteKind::Failover:
    case RouteKind::Busyover: return open.first(WorkerOrder::Rank);
    case RouteKind::Last: return open.last(WorkerOrder::Rank);
    case RouteKind::Random: return open.by_lot(question.lot);
    case RouteKind::ConsistentHash: return open.favourite_of(question.key);
    case RouteKind::LeastFrequentlyUsed: return open.first(WorkerOrder::Uses);
    case RouteKind::LeastRecentlyUsed: return open.first(WorkerOrder::LastUse);
    case RouteKind::WeightedRoundRobin: return open.first(WorkerOrder::Turn);
    case RouteKind::LeastConnections: return open.first(WorkerOrder::Running);
    case RouteKind::FastestResponse:
      return open.first(question.lot % kMeasuredAnew == 0 ? WorkerOrder::LastUse : WorkerOrder::Answer);
  }
  return nullptr;
}

std::uint64_t lot_of(const model::AttemptKey& attempt) {
  const auto run = static_cast<std::uint64_t>(attempt.run.value);
  return mix(mix(run) + 0x9E37'79B9'7F4A'7C15ull * static_cast<std::uint64_t>(attempt.attempt));
}

std::string route_key_of(const model::JobRules& rules, const model::Parameters* parameters, JobId job) {
  if (rules.route_key.empty()) return "job " + std::to_string(job.value);
  return model::filled_route_key(rules.route_key, parameters);
}

}  // namespace rota::master::core
