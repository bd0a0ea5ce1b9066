#include "route_judge.h"

#include <algorithm>

namespace rota::sim {

std::string judge_route(const model::JobRules& rules, const std::string& handler, const model::WorkerInfo& worker) {
  if (std::ranges::find(worker.handlers, handler) == worker.handlers.end()) {
    return "route: an attempt starts on " + worker.key.id + ", which does not know its handler " + handler;
  }
  for (const auto& [label, words] : rules.select) {
    const auto found = worker.labels.find(label);
    const bool has = found != worker.labels.end() && (words + ",").find(found->second + ",") != std::string::npos;
    if (!has) return "route: an attempt starts on " + worker.key.id + ", whose " + label + " is none of " + words;
  }
  if (rules.route == model::RouteKind::Named && rules.worker != worker.key.id) {
    return "route: an attempt starts on " + worker.key.id + ", and its job names " + rules.worker;
  }
  return "";
}

}  // namespace rota::sim
