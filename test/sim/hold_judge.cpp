#include "hold_judge.h"

#include <algorithm>
#include <set>

namespace rota::sim {

using model::WorkerHold;

std::string HoldJudge::judge_dispatch(const SimTables& tables, const std::string& worker,
                                      const master::core::Changes& changes) const {
  for (const auto& [number, hold] : tables.holds) {
    if (hold.worker != worker || !hold.is_closed()) continue;
    const bool is_changed = std::ranges::any_of(
        changes.holds, [&, number = number](const WorkerHold& one) { return one.number == number; });
    if (is_changed) continue;
    return "P45: an attempt is sent to worker " + worker + ", which is " + std::string(name_of(hold.kind));
  }
  return "";
}

void HoldJudge::note(const SimTables& tables, const master::core::Changes& changes) {
  std::set<std::string> ended;
  for (const WorkerHold& hold : changes.holds) {
    const auto known = tables.holds.find(hold.number);
    if (known != tables.holds.end()) {
      if (hold.trial && !known->second.trial) marks_.hit("worker_on_trial");
      if (hold.ended) ended.insert(hold.worker);
      continue;
    }
    const bool goes_on = ended.contains(hold.worker) && std::ranges::any_of(tables.holds, [&](const auto& each) {
      return each.second.worker == hold.worker && each.second.until == hold.until && !each.second.ended;
    });
    const bool is_excluded = hold.kind == WorkerHold::Kind::Excluded;
    marks_.hit(goes_on ? "hold_goes_on_in_a_new_term" : is_excluded ? "worker_excluded" : "worker_flapping");
  }
}

std::string HoldJudge::judge_batch(const SimTables& tables) const {
  std::set<std::string> held;
  for (const auto& [number, hold] : tables.holds) {
    if (hold.ended || held.insert(hold.worker).second) continue;
    return "P45: worker " + hold.worker + " has two holds at once";
  }
  return "";
}

}  // namespace rota::sim
