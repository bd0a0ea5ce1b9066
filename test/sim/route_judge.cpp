#include "route_judge.h"

#include <algorithm>

namespace rota::sim {

std::string judge_route(const model::JobRules& rules, const std::string& handler, const model::WorkerInfo& worker) {
  if (std::ranges::find(worker.handlers, handler) == worker.handlers.end()) {
    return "route: an attempt starts on " + worker.key.id + ", which does not know its handler " + handler;
  }
  if (rules.route == model::RouteKind::Named && rules.worker != worker.key.id) {
    return "route: an attempt starts on " + worker.key.id + ", and its job names " + rules.worker;
  }
  return "";
}

}  // namespace rota::sim
