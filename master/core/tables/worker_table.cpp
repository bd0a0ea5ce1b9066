#include "master/core/tables/worker_table.h"

#include "common/base/check.h"

namespace rota::master::core {

const SharedInfo& LifeEntry::shared_info() const {
  if (!shared_info_) {
    model::WorkerInfo info = info_;
    info.vitals.reset();
    shared_info_.emplace(std::move(info));
  }
  return *shared_info_;
}

// --- lives

LifeEntry& WorkerTable::life_of(const model::WorkerKey& key) {
  LifeEntry& life = lives_[key];
  if (life.shared_key_ == nullptr) {
    life.change_info().key = key;
    life.shared_key_ = std::make_shared<const model::WorkerKey>(key);
  }
  return life;
}

LifeEntry* WorkerTable::find_life(const model::WorkerKey& key) {
  const auto found = lives_.find(key);
  return found == lives_.end() ? nullptr : &found->second;
}

const LifeEntry* WorkerTable::find_life(const model::WorkerKey& key) const {
  const auto found = lives_.find(key);
  return found == lives_.end() ? nullptr : &found->second;
}

model::WorkerInfo WorkerTable::show_node(LifeEntry& life, const model::WorkerInfo& info) {
  const bool was_present = std::exchange(life.present_, false);
  refresh(life);  // leaves the pool that it stood in
  model::WorkerInfo known = std::exchange(life.change_info(), info);
  join_groups(life);
  if (!was_present) begin_figures(life);
  life.present_ = true;
  workers_[info.key.id].present_.insert(info.key.incarnation);
  refresh_all(info.key.id);
  return known;
}

void WorkerTable::hide_node(LifeEntry& life) {
  life.present_ = false;
  life.reconciled_ = false;
  timers_.clear_all(life.key());
  workers_[life.key().id].present_.erase(life.key().incarnation);
  refresh_all(life.key().id);
}

void WorkerTable::set_reconciled(LifeEntry& life, bool reconciled) {
  life.reconciled_ = reconciled;
  refresh(life);
}

void WorkerTable::set_resting(LifeEntry& life, bool resting) {
  life.resting_ = resting;
  refresh(life);
}

void WorkerTable::set_settling(LifeEntry& life, bool settling) {
  life.settling_ = settling;
  refresh(life);
}

void WorkerTable::lose_slot(LifeEntry& life, const model::JobRules& rules) {
  std::vector<Standing> before;
  for (const WorkerGroup* group : life.wide_) before.push_back(counted_in(*group, life));
  life.unusable_slots_ += rules.slots;
  model::add_amounts(life.used_, rules.needs);
  model::add_amounts(life.lost_, rules.needs);
  for (std::size_t i = 0; i < before.size(); ++i) {
    count_anew(life.wide_[i]->standing, before[i], counted_in(*life.wide_[i], life));
  }
  leave_gates(life);
  if (life.kept_for_ != nullptr && !life.has_usable(life.kept_for_->demand)) {
    stop_keeping(SlotQueueKey(*life.kept_for_));
  }
  refresh_gates(life);
  refresh_open(life);
  refresh_standing(life);
}

void WorkerTable::forget_life_if_done(const model::WorkerKey& key) {
  const auto found = lives_.find(key);
  if (found == lives_.end() || found->second.present_ || !found->second.attempts_.empty()) return;
  timers_.clear_all(key);
  confirmed_.erase(key);
  const std::string id = key.id;  // `key` may be the entry's own
  lives_.erase(found);
  if (!has_life(id)) workers_.erase(id);  // nothing of it is held, so nothing has to be fenced
}

std::vector<RunId> WorkerTable::runs_on(const std::string& worker_id) const {
  std::vector<RunId> all;
  for (auto at = lives_.lower_bound({worker_id, ""}); at != lives_.end() && at->first.id == worker_id; ++at) {
    all.insert(all.end(), at->second.attempts_.begin(), at->second.attempts_.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

const WorkerEntry* WorkerTable::find_worker(const std::string& id) const {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

// --- drains

const model::WorkerDrain* WorkerTable::find_drain(const std::string& id) const {
  const auto found = drains_.find(id);
  return found == drains_.end() ? nullptr : &found->second;
}

void WorkerTable::begin_drain(model::WorkerDrain drain) {
  const std::string id = drain.worker;
  drains_.insert_or_assign(id, std::move(drain));
  refresh_all(id);
}

model::WorkerDrain WorkerTable::end_drain(const std::string& id) {
  const auto found = drains_.find(id);
  CHECK_OR_DIE(found != drains_.end(), "a drain ended that was not in force");
  model::WorkerDrain drain = std::move(found->second);
  drains_.erase(found);
  refresh_all(id);
  return drain;
}

void WorkerTable::tell_drain(LifeEntry& life, DrainTelling telling) {
  life.told_drain_ = telling;
  refresh(life);
}

void WorkerTable::set_drain_heard(LifeEntry& life, std::optional<bool> told,
                                  std::optional<std::int64_t> order) {
  life.change_info().drain_told = told;
  life.change_info().drain_order = order;
  refresh(life);
}

void WorkerTable::set_says_draining(LifeEntry& life, bool says) {
  life.says_draining_ = says;
  refresh(life);
}

model::WorkerDeath WorkerTable::end_confirmation(const model::WorkerKey& life) {
  const auto found = confirmed_.find(life);
  CHECK_OR_DIE(found != confirmed_.end(), "a death was taken back that nobody had confirmed");
  model::WorkerDeath death = std::move(found->second);
  confirmed_.erase(found);
  return death;
}

// --- attempts

void WorkerTable::take(LifeEntry& life, const RunEntry& run) {
  if (!life.attempts_.insert(run.id())) return;
  life.used_slots_ += run.rules().slots;
  if (!run.rules().needs.empty()) model::add_amounts(life.used_, run.rules().needs);
}

void WorkerTable::dispatch(LifeEntry& life, const RunEntry& run, model::RouteKind route) {
  take(life, run);
  ++life.dispatched_total_;
  life.last_used_ = ++dispatch_ordinal_;
  life.figures_.note_use(passes_over(route));
  if (route == model::RouteKind::WeightedRoundRobin) {
    life.figures_.pass_turn(life.info_.weight, turns_[life.info_.pool]);
  }
  refresh_open(life);
}

void WorkerTable::hold(LifeEntry& life, const RunEntry& run) {
  take(life, run);
  refresh_open(life);
}

LifeEntry& WorkerTable::restore_attempt(const model::WorkerKey& key, const RunEntry& run) {
  LifeEntry& life = life_of(key);
  life.change_info().slots = 0;
  take(life, run);
  return life;
}

void WorkerTable::release(LifeEntry& life, const RunEntry& run) {
  if (!life.attempts_.erase(run.id())) return;
  life.used_slots_ -= run.rules().slots;
  if (!run.rules().needs.empty()) model::add_amounts(life.used_, run.rules().needs, -1);
  refresh_open(life);
  if (!life.present_ && life.attempts_.empty()) forget_life_if_done(life.key());
}

// --- who may take an attempt

bool WorkerTable::is_open(const LifeEntry& life) const {
  return open_in(life.info_.pool).contains(life.key());
}

bool WorkerTable::may_take(const LifeEntry& life) const {
  const model::WorkerHold* hold = find_hold(life.key().id);
  const bool on_trial = hold != nullptr && hold->trial.has_value();
  const std::int32_t kept = life.kept_for_ == nullptr ? 0 : life.kept_for_->demand.slots;
  return fits(life) && life.free_slots() > kept && (!on_trial || life.attempts_.empty());
}

bool WorkerTable::is_held_back(const LifeEntry& life) const {
  const model::WorkerHold* hold = find_hold(life.key().id);
  return life.settling_ || (hold != nullptr && hold->is_closed());
}

bool WorkerTable::fits(const LifeEntry& life) const {
  if (!life.present_ || !life.reconciled_ || life.resting_ || is_held_back(life)) return false;
  const WorkerEntry* worker = find_worker(life.key().id);
  return worker != nullptr && worker->present_.size() == 1 && !is_draining(life);
}

const OpenWorkers& WorkerTable::open_in(const std::string& pool) const {
  static const OpenWorkers kNone;
  const auto found = open_.find(pool);
  return found == open_.end() ? kNone : found->second;
}

void WorkerTable::refresh(LifeEntry& life) {
  const model::WorkerHold* hold = find_hold(life.key().id);
  life.on_trial_ = hold != nullptr && hold->trial.has_value();
  life.fits_ = fits(life);
  if (life.kept_for_ != nullptr && !life.fits_) stop_keeping(SlotQueueKey(*life.kept_for_));
  refresh_gates(life);
  refresh_open(life);
  refresh_standing(life);
}

WorkerLoad WorkerTable::load_of(const LifeEntry& life) {
  WorkerLoad load = life.figures_.load();
  load.used = life.used_slots_;
  load.slots = life.info_.slots;
  load.last_used = life.last_used_;
  load.rank = life.info_.rank;
  return load;
}

bool WorkerTable::is_in_step(const LifeEntry& life) const {
  const bool stands = stands_right(life.open_load_, may_take(life), load_of(life));
  if (!stands || !open_in(life.info_.pool).is_whole() || standing_of(life) != life.counted_) return false;
  return is_in_step_with_groups(life);
}

void WorkerTable::refresh_open(LifeEntry& life) {
  const std::string& pool = life.info_.pool;
  const bool is_open = life.fits_ && life.has_room();
  const WorkerLoad load = load_of(life);
  const bool has_kept_room = life.kept_for_ != nullptr && life.has_room_for(life.kept_for_->demand, true);
  if (is_open || has_kept_room) marked_pools_.insert(pool);
  if (!life.wide_.empty()) refresh_wide(life);
  if (stands_right(life.open_load_, is_open, load)) return;
  const auto before = std::exchange(life.open_load_, std::nullopt);
  if (is_open) life.open_load_ = load;
  OpenWorkers& open = open_[pool];
  open.change(life.key(), before, life.open_load_);
  for (WorkerGroup* group : life.groups_) group->open.change(life.key(), before, life.open_load_);
  if (open.empty()) open_.erase(pool);
}

void WorkerTable::refresh_all(const std::string& id) {
  for (auto& [key, life] : walk_of_id(lives_, model::WorkerKey{id, ""})) refresh(life);
}

// --- how far they have come

Standing WorkerTable::standing_of(const LifeEntry& life) const {
  Standing standing;
  standing.present = life.present_ ? 1 : 0;
  standing.reconciled = life.present_ && life.reconciled_ ? 1 : 0;
  standing.accepting = standing.reconciled == 1 && !is_draining(life) && !is_held_back(life) ? 1 : 0;
  if (standing.accepting == 1) standing.slots = std::max(life.info_.slots - life.unusable_slots_, 0);
  return standing;
}

void WorkerTable::refresh_standing(LifeEntry& life) {
  const Standing now = standing_of(life);
  if (now == life.counted_) return;
  const std::string& pool = life.info_.pool;
  Standing& sum = standings_[pool];
  count_anew(sum, life.counted_, now);
  for (WorkerGroup* group : life.groups_) count_anew(group->standing, life.counted_, now);
  for (WorkerGroup* group : life.wide_) {
    if (life.has_usable(group->demand)) count_anew(group->standing, life.counted_, now);
  }
  if (now.present != life.counted_.present) count_handlers(life, now.present - life.counted_.present);
  life.counted_ = now;
  if (sum == Standing{}) standings_.erase(pool);
}

Standing WorkerTable::standing_of(const std::string& pool) const {
  const auto found = standings_.find(pool);
  return found == standings_.end() ? Standing{} : found->second;
}

Standing WorkerTable::standing_for(const SlotQueueKey& queue) const {
  if (const LifeEntry* meant = meant_by(queue)) return standing_of(*meant);
  if (queue.gate != Gate::Any) {
    return standing_for(
        {queue.pool, queue.worker, queue.handler, Gate::Any, queue.select, {}, {}, queue.demand});
  }
  if (queue.worker.empty()) return all_know(queue) ? standing_of(queue.pool) : group_for(queue).standing;
  Standing sum;
  for (const auto& [key, life] : lives_of(queue.worker)) {
    const bool is_meant =
        belongs(life.info_, {queue.pool, queue.handler, Counts::Open, queue.select, {}, queue.demand});
    if (is_meant && life.has_usable(queue.demand)) count_anew(sum, Standing{}, standing_of(life));
  }
  return sum;
}

}  // namespace rota::master::core
