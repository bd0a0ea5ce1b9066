// Workers that are kept for wide runs: those that take more than one slot, or amounts beside it.
#include "master/core/tables/worker_table.h"

namespace rota::master::core {
namespace {

constexpr int kLooksMost = 8;  // so that keeping one costs the same in a pool of any size

}  // namespace

bool LifeEntry::has_room_for(const model::Demand& demand, bool is_kept) const {
  const model::Demand* kept = is_kept || kept_for_ == nullptr ? nullptr : &kept_for_->demand;
  if (free_slots() - (kept == nullptr ? 0 : kept->slots) < demand.slots) return false;
  for (const auto& [name, amount] : demand.needs) {
    const std::int64_t left_alone = kept == nullptr ? 0 : model::amount_of(kept->needs, name);
    if (free_of(name) - left_alone < amount) return false;
  }
  return !on_trial_ || attempts_.empty();
}

bool LifeEntry::has_usable(const model::Demand& demand) const {
  if (unusable_slots_ == 0 || demand.is_plain()) return true;
  if (info_.slots - unusable_slots_ < demand.slots) return false;
  return std::ranges::all_of(demand.needs, [this](const auto& need) {
    const std::int64_t offered = info_.offers ? model::amount_of(*info_.offers, need.first) : 0;
    return offered - model::amount_of(lost_, need.first) >= need.second;
  });
}

const LifeEntry* WorkerTable::kept_for(const SlotQueueKey& queue) const {
  const auto found = kept_.find(queue);
  return found == kept_.end() ? nullptr : find_life(found->second);
}

const LifeEntry* WorkerTable::kept_with_room(const SlotQueueKey& queue) const {
  if (kept_.empty()) return nullptr;
  const LifeEntry* life = kept_for(queue);
  const bool may = life != nullptr && life->has_room_for(queue.demand, true) && is_meant(queue, *life);
  return may ? life : nullptr;
}

/// As far as the route of that queue has one in mind.
bool WorkerTable::is_meant(const SlotQueueKey& queue, const LifeEntry& life) const {
  return queue.gate == Gate::Any || meant_by(queue) == &life;
}

/// What becomes free there next belongs to none that waits longer.
bool WorkerTable::may_be_kept(const LifeEntry& life, const SlotQueueKey& queue,
                              const std::vector<const SlotQueueKey*>& before) const {
  if (!life.fits_ || life.kept_for_ != nullptr || !life.has_usable(queue.demand)) return false;
  return std::ranges::none_of(before, [&life](const SlotQueueKey* each) {
    const bool is_named = each->worker.empty() || each->worker == life.key().id;
    if (!is_named || !life.has_usable(each->demand)) return false;
    return belongs(life.info_, {each->pool, each->handler, Counts::Open, each->select, each->except,
                                each->demand});
  });
}

bool WorkerTable::keep_for(const SlotQueueKey& queue, const std::vector<const SlotQueueKey*>& before) {
  const LifeEntry* kept = kept_for(queue);
  if (kept != nullptr && !is_meant(queue, *kept)) stop_keeping(queue);
  if (kept_.contains(queue)) return true;
  const GroupKey able{queue.pool, queue.handler, Counts::Able, queue.select, queue.except, queue.demand};
  const model::WorkerKey* chosen = nullptr;
  if (queue.gate != Gate::Any) {
    const LifeEntry* meant = meant_by(queue);
    if (meant != nullptr && may_be_kept(*meant, queue, before)) chosen = &meant->key();
  } else if (!queue.worker.empty()) {
    for (const auto& [key, life] : lives_of(queue.worker)) {
      if (belongs(life.info_, able) && may_be_kept(life, queue, before)) chosen = &key;
    }
  } else {
    chosen = group_of(able).open.first_of(WorkerOrder::Load, kLooksMost, [&](const model::WorkerKey& key) {
      return may_be_kept(*find_life(key), queue, before);
    });
  }
  if (chosen == nullptr) return false;
  const auto at = kept_.emplace(queue, *chosen).first;
  LifeEntry& life = *find_life(at->second);
  life.kept_for_ = &at->first;
  refresh_open(life);
  return true;
}

void WorkerTable::stop_keeping(const SlotQueueKey& queue) {
  const auto at = kept_.find(queue);
  if (at == kept_.end()) return;
  LifeEntry* life = find_life(at->second);
  mark_pool(queue.pool);
  kept_.erase(at);
  if (life == nullptr) return;
  life->kept_for_ = nullptr;
  refresh_open(*life);
}

}  // namespace rota::master::core
