#include "master/core/admission/semaphore_views.h"

#include <algorithm>
#include <map>
#include <utility>

#include "master/core/admission/turn_rules.h"
#include "master/core/state.h"

namespace rota::master::core {
namespace {

constexpr std::size_t kMostInUse = 1000;
constexpr std::size_t kMostHolders = 100;
constexpr std::size_t kMostLines = 100;

using Standing = std::pair<std::int64_t, const SlotQueueKey*>;  ///< ticket, queue

std::string name_of_job(const State& state, JobId id) {
  const JobEntry* job = state.find_job(id);
  return job == nullptr ? std::to_string(id.value) : job->row.name;
}

/// Queues that ask for its tokens; those that have not asked yet come last.
std::map<SemaphoreName, std::vector<Standing>> standing_lines(const State& state) {
  std::map<SemaphoreName, std::vector<Standing>> lines;
  for (const auto& [key, queue] : state.slot_queues().all()) {
    for (const auto& [name, count] : key.uses) lines[name].emplace_back(state.tokens().ticket_of(key), &key);
  }
  for (auto& [name, of_one] : lines) {
    std::ranges::stable_sort(of_one, {}, [](const Standing& each) { return each.first; });
  }
  return lines;
}

void add_holders(const State& state, const TokenTable::Entry& entry, SemaphoreView& view) {
  view.held = entry.held();
  for (const auto& [id, tokens] : entry.holders()) {
    if (view.holders.size() >= kMostHolders) return;
    const RunEntry* run = state.find_run(id);
    if (run == nullptr) continue;
    const WallTime since = run->progress().dispatched().value_or(WallTime{});
    view.holders.push_back(
        {id, name_of_job(state, run->row().job), tokens, run->progress().worker().id, since});
  }
}

RunId next_of(const State& state, const SlotQueueKey& key) {
  const std::vector<SlotQueueKey> alone{key};
  return PoolTurns(state.slot_queues(), alone).next()->run;
}

void add_lines(const State& state, const std::vector<Standing>& lines, SemaphoreView& view) {
  for (const auto& [ticket, key] : lines) {
    const SlotQueue& queue = *state.slot_queues().find(*key);
    SemaphoreView::Line line;
    line.tokens = key->uses.at(view.name);
    for (const auto& [of, runs_of] : queue.lines()) {
      line.runs += static_cast<std::int64_t>(runs_of.runs.size());
    }
    line.next = next_of(state, *key);
    line.job = name_of_job(state, state.find_run(line.next)->row().job);
    view.waiting += line.runs;
    if (view.lines.size() < kMostLines) view.lines.push_back(std::move(line));
  }
}

}  // namespace

std::vector<SemaphoreView> semaphores_in_use(const State& state) {
  std::vector<SemaphoreView> views;
  const auto lines = standing_lines(state);
  for (const auto& [name, entry] : state.tokens().all()) {
    const auto waiting = lines.find(name);
    if (entry.holders().empty() && waiting == lines.end()) continue;
    if (views.size() >= kMostInUse) break;
    SemaphoreView& view = views.emplace_back();
    view.name = name;
    add_holders(state, entry, view);
    if (waiting != lines.end()) add_lines(state, waiting->second, view);
  }
  return views;
}

}  // namespace rota::master::core
