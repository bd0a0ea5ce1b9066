#include "master/core/admission/route.h"

namespace rota::master::core {

const model::WorkerKey* choose_worker(model::RouteKind route, const std::string& named,
                                      const std::string& last_worker, const OpenWorkers& open) {
  switch (route) {
    case model::RouteKind::RoundRobin:
      return open.after_id(last_worker);
    case model::RouteKind::LeastLoaded:
      return open.least_loaded();
    case model::RouteKind::Named:
      return open.with_id(named);
  }
  return nullptr;
}

}  // namespace rota::master::core
