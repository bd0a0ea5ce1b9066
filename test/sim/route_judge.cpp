#include "route_judge.h"

#include <algorithm>

namespace rota::sim {

bool has_labels(const model::WorkerInfo& worker, const std::map<std::string, std::string>& asked) {
  return std::ranges::all_of(asked, [&worker](const auto& label) {
    const auto found = worker.labels.find(label.first);
    return found != worker.labels.end() && (label.second + ",").find(found->second + ",") != std::string::npos;
  });
}

std::string judge_route(const model::JobRules& rules, const std::string& handler, const model::WorkerInfo& worker) {
  if (std::ranges::find(worker.handlers, handler) == worker.handlers.end()) {
    return "route: an attempt starts on " + worker.key.id + ", which does not know its handler " + handler;
  }
  if (!has_labels(worker, rules.select)) {
    return "route: an attempt starts on " + worker.key.id + ", which has not the labels that its job selects";
  }
  if (rules.route == model::RouteKind::Named && rules.worker != worker.key.id) {
    return "route: an attempt starts on " + worker.key.id + ", and its job names " + rules.worker;
  }
  return "";
}

}  // namespace rota::sim
