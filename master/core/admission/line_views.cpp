#include "master/core/admission/line_views.h"

#include <algorithm>
#include <set>

#include "master/core/state.h"

namespace rota::master::core {

LineViews::LineViews(const State& state) {
  for (const auto& [key, queue] : state.slot_queues().all()) add_queue(key, queue);
  std::ranges::sort(places_);
  passed_.resize(view_.lines.size());
  add_spaces(state);
}

void LineViews::add_queue(const SlotQueueKey& key, const SlotQueue& queue) {
  for (const auto& [space, turns] : queue.turns()) {
    for (const Turn& turn : turns) {
      if (view_.lines.size() >= kMostLineViews) {
        view_.is_whole = false;
        return;
      }
      const SlotQueue::Line& line = queue.lines().at(turn.line);
      LineView view;
      view.line = static_cast<std::int64_t>(turn.line);
      view.pool = key.pool;
      view.slots = key.demand.slots;
      view.space = std::string(space);
      view.runs = static_cast<std::int64_t>(line.runs.size());
      view.rank = turn.rank;
      view.held = turn.held;
      view.last = turn.last;
      view.head = turn.head;
      view.priority = line.priority;
      places_.push_back({{&queue, view.line}, static_cast<std::int32_t>(view_.lines.size())});
      view_.lines.push_back(std::move(view));
    }
  }
}

void LineViews::add_spaces(const State& state) {
  std::set<std::string> names;
  for (const LineView& line : view_.lines) names.insert(line.space);
  for (const std::string& name : names) {
    const auto space = state.slot_queues().spaces().find(name);
    if (space == state.slot_queues().spaces().end()) continue;
    view_.spaces.push_back({name, space->second.held, space->second.weight, space->second.last,
                            state.quotas().is_full(model::QuotaOf::Space, name)});
  }
}

PlaceView LineViews::next(const RunEntry& run) {
  if (!run.in_slot_queue()) return {};
  const std::pair key{run.slot_queue(), static_cast<std::int64_t>(line_of(run.job()))};
  const auto at = std::ranges::lower_bound(places_, key, {}, [](const auto& each) { return each.first; });
  if (at == places_.end() || at->first != key) return {};
  return {at->second, passed_[static_cast<std::size_t>(at->second)]++};
}

}  // namespace rota::master::core
