// Groups of workers (worker_group.h): which there are, and who belongs to them.
#include <algorithm>

#include "master/core/tables/worker_table.h"

namespace rota::master::core {

/// Then runs of that queue need no group: every worker of the pool will do.
bool WorkerTable::all_know(const SlotQueueKey& queue) const {
  if (queue.gate != Gate::Any || !queue.select.empty() || !queue.except.empty()) return false;
  if (!queue.demand.is_plain()) return false;
  if (queue.handler.empty()) return true;
  const auto knowing = knowing_.find({queue.pool, queue.handler});
  const std::int32_t present = standing_of(queue.pool).present;
  return knowing != knowing_.end() && knowing->second == present;
}

void WorkerTable::count_handlers(const LifeEntry& life, std::int32_t by) {
  const std::set<std::string> handlers(life.info_.handlers.begin(), life.info_.handlers.end());
  for (const std::string& handler : handlers) {
    const auto [knowing, is_new] = knowing_.try_emplace({life.info_.pool, handler});
    knowing->second += by;
    if (knowing->second == 0) knowing_.erase(knowing);
  }
}

const OpenWorkers& WorkerTable::open_for(const SlotQueueKey& queue) const {
  return all_know(queue) ? open_in(queue.pool) : group_for(queue).open;
}

namespace {

Counts counts_of(Gate gate) {
  switch (gate) {
    case Gate::Any: return Counts::Open;
    case Gate::First:
    case Gate::Last: return Counts::Here;
    case Gate::Failover: return Counts::Fit;
  }
  return Counts::Open;
}

}  // namespace

bool WorkerTable::may_serve(const SlotQueueKey& queue, const OpenWorkers& candidates) const {
  if (queue.gate == Gate::Any) return candidates.may_serve(queue.worker);
  const model::WorkerKey* meant = meant_by(queue.gate, candidates);
  if (meant == nullptr) return false;
  if (queue.demand.is_plain()) return open_in(queue.pool).contains(*meant);
  const LifeEntry& life = *find_life(*meant);
  return life.fits_ && life.has_room_for(queue.demand);
}

const model::WorkerKey* WorkerTable::meant_by(Gate gate, const OpenWorkers& candidates) {
  return gate == Gate::Last ? candidates.last(WorkerOrder::Rank) : candidates.first(WorkerOrder::Rank);
}

const LifeEntry* WorkerTable::meant_by(const SlotQueueKey& queue) const {
  if (queue.gate == Gate::Any) return nullptr;
  const model::WorkerKey* meant = meant_by(queue.gate, open_for(queue));
  return meant == nullptr ? nullptr : find_life(*meant);
}

bool WorkerTable::is_here(const LifeEntry& life) const {
  const bool has_slot = life.info_.slots > life.unusable_slots_;
  return life.present_ && has_slot && !is_draining(life) && !is_held_back(life);
}

/// With which it stands, or should stand, in a group; unset: it does not.
std::optional<WorkerLoad> WorkerTable::load_in(const WorkerGroup& group, const LifeEntry& life) {
  if (is_wide(group)) {
    const bool is_able = group.counts == Counts::Able;
    const bool is_free = is_able && life.kept_for_ == nullptr && life.has_usable(group.demand);
    const bool stands = life.fits_ && (is_able ? is_free : life.has_room_for(group.demand));
    return stands ? std::optional(load_of(life)) : std::nullopt;
  }
  if (group.counts == Counts::Open) return life.open_load_;
  const bool is_in = group.counts == Counts::Here ? life.counts_here_ : life.counts_fit_;
  if (!is_in || !life.has_usable(group.demand)) return std::nullopt;
  WorkerLoad load;
  load.rank = life.info_.rank;
  return load;
}

void WorkerTable::refresh_gates(LifeEntry& life) {
  const bool here = is_here(life), fit = here && life.fits_;
  if (here == life.counts_here_ && fit == life.counts_fit_) return;
  std::vector<std::optional<WorkerLoad>> before;
  for (const WorkerGroup* group : life.gated_) before.push_back(load_in(*group, life));
  life.counts_here_ = here;
  life.counts_fit_ = fit;
  for (std::size_t i = 0; i < life.gated_.size(); ++i) {
    life.gated_[i]->open.change(life.key(), before[i], load_in(*life.gated_[i], life));
  }
  if (!life.gated_.empty()) marked_pools_.insert(life.info_.pool);  // another one may be meant now
}

/// Those that ask for more than it has left since it lost a part.
void WorkerTable::leave_gates(LifeEntry& life) {
  for (WorkerGroup* group : life.gated_) {
    const WorkerLoad* stands = group->open.load_of(life.key());
    if (stands == nullptr || life.has_usable(group->demand)) continue;
    group->open.change(life.key(), std::optional(*stands), std::nullopt);
    marked_pools_.insert(life.info_.pool);  // another one may be meant now
  }
}

Standing WorkerTable::counted_in(const WorkerGroup& group, const LifeEntry& life) {
  return life.has_usable(group.demand) ? life.counted_ : Standing{};
}

void WorkerTable::join(const LifeEntry& life, WorkerGroup& group) {
  groups_with(life, group).push_back(&group);
}

std::vector<WorkerGroup*>& WorkerTable::groups_with(const LifeEntry& life, const WorkerGroup& group) {
  if (is_wide(group)) return life.wide_;
  return group.counts == Counts::Open ? life.groups_ : life.gated_;
}

/// Those who have room for this or that stand in other groups than those with a free slot.
void WorkerTable::refresh_wide(LifeEntry& life) {
  for (WorkerGroup* group : life.wide_) {
    const WorkerLoad* stands = group->open.load_of(life.key());
    const auto load = load_in(*group, life);
    if (stands_right(stands == nullptr ? std::nullopt : std::optional(*stands), load.has_value(),
                     load.value_or(WorkerLoad{}))) {
      continue;
    }
    group->open.change(life.key(), stands == nullptr ? std::nullopt : std::optional(*stands), load);
  }
}

const WorkerGroup& WorkerTable::group_for(const SlotQueueKey& queue) const {
  return group_of(
      {queue.pool, queue.handler, counts_of(queue.gate), queue.select, queue.except, queue.demand});
}

const WorkerGroup& WorkerTable::group_of(const GroupKey& key) const {
  auto found = groups_.find(key);
  if (found == groups_.end()) {
    if (groups_.size() >= kGroupsMost) drop_a_group();
    found = groups_.try_emplace(key).first;
    found->second.counts = key.counts;
    found->second.demand = key.demand;
    for (const auto& [life_key, life] : lives_) {
      if (!belongs(life.info_, key)) continue;
      join(life, found->second);
      found->second.open.change(life_key, {}, load_in(found->second, life));
      count_anew(found->second.standing, {}, counted_in(found->second, life));
    }
  }
  found->second.asked = ++group_ordinal_;
  return found->second;
}

/// The one that nobody has asked for the longest.
void WorkerTable::drop_a_group() const {
  const auto oldest = std::ranges::min_element(
      groups_, std::ranges::less{}, [](const auto& group) { return group.second.asked; });
  for (const auto& [key, life] : lives_) {
    std::erase(life.groups_, &oldest->second);
    std::erase(life.gated_, &oldest->second);
    std::erase(life.wide_, &oldest->second);
  }
  groups_.erase(oldest);
}

/// Its node says something new; it stands in none of its former groups any more.
void WorkerTable::join_groups(LifeEntry& life) {
  life.groups_.clear();
  life.gated_.clear();
  life.wide_.clear();
  for (auto& [key, group] : groups_) {
    if (belongs(life.info_, key)) join(life, group);
  }
}

bool WorkerTable::is_in_step_with_groups(const LifeEntry& life) const {
  if (life.counts_here_ != is_here(life) || life.counts_fit_ != (is_here(life) && fits(life))) return false;
  return std::ranges::all_of(groups_, [&](const auto& each) {
    const auto& [key, group] = each;
    const bool is_in = belongs(life.info_, key);
    const auto& named = groups_with(life, group);
    const bool is_named = std::ranges::find(named, &group) != named.end();
    const bool stands = is_in && load_in(group, life).has_value();
    return group.open.is_whole() && is_named == is_in && group.open.contains(life.key()) == stands;
  });
}

}  // namespace rota::master::core
