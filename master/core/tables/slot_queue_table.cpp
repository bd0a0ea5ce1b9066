#include "master/core/tables/slot_queue_table.h"

#include <chrono>
#include <functional>
#include <utility>

#include "common/base/check.h"
#include "master/core/tables/job_table.h"

namespace rota::master::core {
namespace {

std::int64_t number_of(LineId line) { return static_cast<std::int64_t>(line); }
std::int64_t minute_of(WallTime at) {
  return std::chrono::floor<std::chrono::minutes>(at.time_since_epoch()).count();
}

}  // namespace

Gate gate_of(model::RouteKind route) {
  switch (route) {
    case model::RouteKind::First: return Gate::First;
    case model::RouteKind::Last: return Gate::Last;
    case model::RouteKind::Failover: return Gate::Failover;
    default: return Gate::Any;
  }
}

bool passes_over(model::RouteKind route) {
  switch (route) {
    case model::RouteKind::RoundRobin:
    case model::RouteKind::LeastLoaded:
    case model::RouteKind::LeastFrequentlyUsed:
    case model::RouteKind::LeastRecentlyUsed:
    case model::RouteKind::LeastConnections:
    case model::RouteKind::FastestResponse: return true;
    default: return false;
  }
}

SlotQueueKey slot_queue_of(const KeptRules& rules) {
  SlotQueueKey key{rules.pool, rules.route == model::RouteKind::Named ? rules.worker : std::string{},
                   rules.handler, gate_of(rules.route), rules.select};
  key.demand = {rules.slots, rules.needs};
  return key;
}

TokenNeeds needs_of(const RunEntry& run) {
  TokenNeeds uses;
  for (const auto& [name, count] : run.rules().uses) {
    uses.emplace(SemaphoreName{run.job().row.space(), name}, count);
  }
  return uses;
}

SlotQueueKey slot_queue_of(const RunEntry& run) {
  SlotQueueKey key = slot_queue_of(run.rules());
  if (run.is_bound()) key.gate = Gate::Any;
  if (run.is_bound()) key.worker = run.progress().start().worker;
  const bool moves = run.rules().retry.another_worker == model::AnotherWorker::Require &&
                     key.worker.empty() && run.progress().first_dispatched();
  if (moves) key.except = run.progress().worker().id;
  if (run.prefers()) {
    for (const auto& [label, words] : run.rules().prefer) key.select.insert_or_assign(label, words);
  }
  key.uses = needs_of(run);
  return key;
}

LineId line_of(const JobEntry& job) {
  if (!job.row.one_off) return LineId{job.row.id.value};
  const std::string priority = std::to_string(job.rules().priority);
  const std::string caller = job.row.space() + '\n' + job.row.asked_by() + '\n' + priority;
  return LineId{-1 - static_cast<std::int64_t>(std::hash<std::string>{}(caller) >> 1)};
}

bool SlotQueue::holds(const RunEntry& run) const {
  const auto line = lines_.find(line_of(run.job()));
  return line != lines_.end() && line->second.runs.contains(run.id());
}

void SlotQueue::list(Line& line) { turns_[line.space->name].insert(line.turn); }

void SlotQueue::unlist(const Line& line) {
  const auto of_space = turns_.find(line.space->name);
  CHECK_OR_DIE(of_space != turns_.end() && of_space->second.erase(line.turn) == 1,
               "a line has lost its turn");
  if (of_space->second.empty()) turns_.erase(of_space);
}

SlotQueue* SlotQueueTable::find(const SlotQueueKey& key) {
  const auto found = queues_.find(key);
  return found == queues_.end() ? nullptr : &found->second;
}

const SlotQueue* SlotQueueTable::find(const SlotQueueKey& key) const {
  const auto found = queues_.find(key);
  return found == queues_.end() ? nullptr : &found->second;
}

model::Reason SlotQueueTable::blocked(const RunEntry& run) const {
  const SlotQueue* queue = find(slot_queue_of(run));
  CHECK_OR_DIE(queue != nullptr, "a run's queue is missing");
  return queue->blocked;
}

std::vector<SlotQueueKey> SlotQueueTable::of_pool(const std::string& pool) const {
  std::vector<SlotQueueKey> keys;
  for (auto at = queues_.lower_bound({pool, "", ""}); at != queues_.end() && at->first.pool == pool; ++at) {
    keys.push_back(at->first);
  }
  return keys;
}

std::int64_t SlotQueueTable::held(LineId line) const {
  const auto found = standing_.find(static_cast<std::int64_t>(line));
  return found == standing_.end() ? 0 : found->second.held;
}

// --- whose turn it is

void SlotQueueTable::enter(RunEntry& run, const SlotQueueKey& key, WallTime since) {
  SlotQueue& queue = queues_[key];
  const LineId id = line_of(run.job());
  const auto [at, is_new] = queue.lines_.try_emplace(id);
  SlotQueue::Line& line = at->second;
  if (is_new) {
    line.space = &space_of(run);
    ++line.space->lines;
    line.minute = minute_of(since);
    line.turn.last = turns_ - 1;       // before the one that had its turn just now
    line.turn.line = id;
    standing_[number_of(id)].queues.push_back(&queue);
  } else {
    queue.unlist(line);
  }
  line.runs.insert(run.id());
  line.priority = run.job().rules().priority;
  place(queue, line);
  run.queue_ = &queue;
  run.in_slot_queue_ = true;
}

void SlotQueueTable::leave(RunEntry& run) {
  if (!run.in_slot_queue_) return;
  run.in_slot_queue_ = false;
  SlotQueue& queue = *std::exchange(run.queue_, nullptr);
  const LineId id = line_of(run.job());
  const auto at = queue.lines_.find(id);
  CHECK_OR_DIE(at != queue.lines_.end(), "a run is missing in its queue");
  SlotQueue::Line& line = at->second;
  queue.unlist(line);
  line.runs.erase(run.id());
  if (!line.runs.empty()) return place(queue, line);
  TurnSpace& space = *line.space;
  --space.lines;
  queue.lines_.erase(at);
  const auto standing = standing_.find(number_of(id));
  std::erase(standing->second.queues, &queue);
  if (standing->second.queues.empty() && standing->second.held == 0) standing_.erase(standing);
  drop_idle(space);
  if (queue.lines_.empty()) queues_.erase(slot_queue_of(run));
}

void SlotQueueTable::pass_turn(const RunEntry& run, WallTime at) {
  TurnSpace& space = space_of(run);
  space.last = ++turns_;
  if (!run.in_slot_queue_) return drop_idle(space);
  SlotQueue::Line& line = run.queue_->lines_.at(line_of(run.job()));
  run.queue_->unlist(line);
  line.minute = minute_of(at);
  line.turn.last = turns_;
  place(*run.queue_, line);
}

void SlotQueueTable::hold(const RunEntry& run) { change_held(run, run.rules().slots); }
void SlotQueueTable::release(const RunEntry& run) { change_held(run, -run.rules().slots); }

void SlotQueueTable::set_priority(const JobEntry& job) {
  const auto standing = standing_.find(number_of(line_of(job)));
  if (standing == standing_.end()) return;
  for (SlotQueue* queue : standing->second.queues) {
    SlotQueue::Line& line = queue->lines_.at(line_of(job));
    queue->unlist(line);
    line.priority = job.rules().priority;
    place(*queue, line);
  }
}

void SlotQueueTable::set_weight(const std::string& space, std::int64_t weight) {
  weights_[space] = weight;
  if (weight == 1) weights_.erase(space);
  if (const auto known = spaces_.find(space); known != spaces_.end()) known->second.weight = weight;
}

void SlotQueueTable::change_held(const RunEntry& run, std::int64_t by) {
  const LineId id = line_of(run.job());
  const auto standing = standing_.try_emplace(number_of(id)).first;
  standing->second.held += by;
  CHECK_OR_DIE(standing->second.held >= 0, "more runs of a line end than are held");
  for (SlotQueue* queue : standing->second.queues) {
    SlotQueue::Line& line = queue->lines_.at(id);
    queue->unlist(line);
    place(*queue, line);
  }
  if (standing->second.queues.empty() && standing->second.held == 0) standing_.erase(standing);
  TurnSpace& space = space_of(run);
  space.held += by;
  drop_idle(space);
}

/// Its turn as it is now, which is not listed.
void SlotQueueTable::place(SlotQueue& queue, SlotQueue::Line& line) {
  line.turn.rank = line.minute - line.priority;
  line.turn.held = held(line.turn.line);
  line.turn.head = *line.runs.begin();
  queue.list(line);
}

TurnSpace& SlotQueueTable::space_of(const RunEntry& run) {
  const auto [at, is_new] = spaces_.try_emplace(run.job().row.space());
  if (is_new) {
    at->second.name = at->first;
    at->second.last = turns_ - 1;
    if (const auto own = weights_.find(at->first); own != weights_.end()) at->second.weight = own->second;
  }
  return at->second;
}

void SlotQueueTable::drop_idle(const TurnSpace& space) {
  if (space.held == 0 && space.lines == 0) spaces_.erase(space.name);
}

}  // namespace rota::master::core
