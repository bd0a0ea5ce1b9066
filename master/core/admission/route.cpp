#include "master/core/admission/route.h"

#include "common/model/route_key.h"

namespace rota::master::core {
namespace {

constexpr std::uint64_t kMeasuredAnew = 16;

}  // namespace

const model::WorkerKey* choose_worker(const RouteQuestion& question, const OpenWorkers& open,
                                      std::vector<model::WorkerKey>& passed) {
  using model::RouteKind;
  switch (question.route) {
    case RouteKind::RoundRobin:
      if (question.last_worker.empty()) return open.by_lot(question.lot);
      return open.after_id_in_turn(question.last_worker, passed);
    case RouteKind::LeastLoaded: return open.first_in_turn(WorkerOrder::Load, passed);
    case RouteKind::Named: return open.with_id(question.named);
    case RouteKind::First:
    case RouteKind::Failover:
    case RouteKind::Busyover: return open.first(WorkerOrder::Rank);
    case RouteKind::Last: return open.last(WorkerOrder::Rank);
    case RouteKind::Random: return open.by_lot(question.lot);
    case RouteKind::ConsistentHash: return open.favourite_of(question.key);
    case RouteKind::LeastFrequentlyUsed: return open.first_in_turn(WorkerOrder::Uses, passed);
    case RouteKind::LeastRecentlyUsed: return open.first_in_turn(WorkerOrder::LastUse, passed);
    case RouteKind::WeightedRoundRobin: return open.first(WorkerOrder::Turn);
    case RouteKind::LeastConnections: return open.first_in_turn(WorkerOrder::Running, passed);
    case RouteKind::FastestResponse:
      return open.first_in_turn(
          question.lot % kMeasuredAnew == 0 ? WorkerOrder::LastUse : WorkerOrder::Answer, passed);
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
