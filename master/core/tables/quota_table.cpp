#include "master/core/tables/quota_table.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "common/base/check.h"

namespace rota::master::core {
namespace {

std::int64_t firing_minute(WallTime at) {
  return std::chrono::floor<std::chrono::minutes>(at.time_since_epoch()).count();
}

const DefaultTimes kNoTimes;

bool has_times(const DefaultTimes& times, const model::Quota& quota) {
  return std::tie(times.attempt, times.run, times.queue) ==
         std::tie(quota.timeout, quota.run_timeout, quota.queue_timeout);
}

}  // namespace

using model::QuotaOf;

std::int64_t QuotaTable::Side::fired_in(WallTime minute_of) const {
  const auto found = fired_.find(firing_minute(minute_of));
  return found == fired_.end() ? 0 : found->second;
}

const QuotaTable::Side* QuotaTable::find(QuotaOf of, const std::string& name) const {
  const Sides& sides = all(of);
  const auto found = sides.find(name);
  return found == sides.end() ? nullptr : &found->second;
}

const model::Quota& QuotaTable::quota(QuotaOf of, const std::string& name) const {
  static const model::Quota kNone;
  const Side* side = find(of, name);
  return side == nullptr ? kNone : side->quota();
}

bool QuotaTable::is_full(QuotaOf of, const std::string& name) const {
  if (versions_ == 0) return false;
  const Side* side = find(of, name);
  return side != nullptr && side->is_full();
}

void QuotaTable::put(model::QuotaRow row) {
  Sides& sides = row.of == QuotaOf::Pool ? pools_ : spaces_;
  Side& side = sides[row.name];
  CHECK_OR_DIE(row.version > side.newest_.version, "versions of a quota follow each other");
  versions_ += side.newest_.version == 0 ? 1u : 0u;
  if (row.quota.firings < 0) side.fired_.clear();
  if (!has_times(side.times_.empty() ? kNoTimes : side.times_.back(), row.quota)) {
    side.times_.push_back({row.version, row.changed, row.quota.timeout, row.quota.run_timeout,
                           row.quota.queue_timeout});
  }
  side.newest_ = std::move(row);
}

const DefaultTimes& QuotaTable::times_now(const std::string& space) const {
  const Side* side = versions_ == 0 ? nullptr : find(QuotaOf::Space, space);
  return side == nullptr || side->times_.empty() ? kNoTimes : side->times_.back();
}

const DefaultTimes& QuotaTable::times_of(const std::string& space, std::int32_t version) const {
  const Side* side = version == 0 ? nullptr : find(QuotaOf::Space, space);
  if (side == nullptr) return kNoTimes;
  const auto found = std::ranges::find(side->times_, version, &DefaultTimes::version);
  return found == side->times_.end() ? kNoTimes : *found;
}

const DefaultTimes& QuotaTable::times_at(const std::string& space, WallTime at) const {
  const Side* side = versions_ == 0 ? nullptr : find(QuotaOf::Space, space);
  if (side == nullptr) return kNoTimes;
  for (auto each = side->times_.rbegin(); each != side->times_.rend(); ++each) {
    if (each->since <= at) return *each;
  }
  return kNoTimes;
}

void QuotaTable::count_firing(const std::string& space, WallTime minute_of) {
  if (versions_ == 0) return;
  const auto found = spaces_.find(space);
  if (found == spaces_.end() || found->second.quota().firings < 0) return;
  auto& fired = found->second.fired_;
  ++fired[firing_minute(minute_of)];
  if (fired.size() > kMinutesKept) fired.erase(fired.begin());
}

void QuotaTable::note_passed(const std::string& space, const std::string& pool) {
  spaces_.at(space).passed_.insert(pool);
}

std::int64_t QuotaTable::last_turn(const std::string& pool) const {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? 0 : found->second.last_turn_;
}

// --- runs

void QuotaTable::end(const std::string& space) {
  const auto at = spaces_.find(space);
  CHECK_OR_DIE(at != spaces_.end() && at->second.unfinished_ > 0, "more runs of a namespace end than began");
  --at->second.unfinished_;
  drop_idle(spaces_, at);
}

void QuotaTable::enter_queue(const std::string& pool, const std::string& space) {
  ++pools_[pool].queued_;
  ++spaces_[space].queued_;
}

void QuotaTable::leave_queue(const std::string& pool, const std::string& space) {
  const auto of_pool = pools_.find(pool);
  --of_pool->second.queued_;
  --spaces_.at(space).queued_;         // it stays: the run is unfinished
  drop_idle(pools_, of_pool);
}

void QuotaTable::hold(const std::string& pool, const std::string& space, std::int64_t slots) {
  Side& of_pool = pools_[pool];
  of_pool.held_ += slots;
  of_pool.last_turn_ = ++turns_;
  spaces_[space].held_ += slots;
}

void QuotaTable::release(const std::string& pool, const std::string& space, std::int64_t slots) {
  const auto of_pool = pools_.find(pool);
  Side& of_space = spaces_.at(space);
  CHECK_OR_DIE(of_pool != pools_.end() && of_pool->second.held_ >= slots && of_space.held_ >= slots,
               "more runs of a pool end than are held");
  if (of_pool->second.is_full()) pools_to_look_at_.insert(pool);
  of_pool->second.held_ -= slots;
  of_space.held_ -= slots;
  if (!of_space.is_full()) pools_to_look_at_.merge(std::exchange(of_space.passed_, {}));
  if (const auto kept = kept_.find(of_space.kept_for_); kept != kept_.end()) {
    pools_to_look_at_.insert(kept->second.pool);
  }
  drop_idle(pools_, of_pool);
}

// --- runs that take several slots

bool QuotaTable::ask_for(RunId run, const std::string& pool, const std::string& space, std::int64_t slots) {
  if (versions_ == 0) return true;
  bool is_blocked = false;
  std::vector<Side*> lacking;
  for (Side* side : {&pools_[pool], &spaces_[space]}) {
    if (side->has_room(slots, run)) continue;
    is_blocked = is_blocked || (side->kept_for_ != RunId{} && side->kept_for_ != run);
    lacking.push_back(side);
  }
  if (lacking.empty()) return true;
  if (is_blocked || !allows(pool, space, slots)) {
    stop_keeping(run);
    return false;
  }
  for (Side* side : lacking) keep(*side, run, slots);
  kept_[run] = {pool, space};
  return false;
}

bool QuotaTable::allows(const std::string& pool, const std::string& space, std::int64_t slots) const {
  if (versions_ == 0) return true;
  const std::int64_t of_pool = quota(QuotaOf::Pool, pool).slots;
  const std::int64_t of_space = quota(QuotaOf::Space, space).slots;
  return (of_pool < 0 || slots <= of_pool) && (of_space < 0 || slots <= of_space);
}

void QuotaTable::keep(Side& side, RunId run, std::int64_t slots) {
  side.kept_for_ = run;
  side.kept_slots_ = slots;
}

void QuotaTable::stop_keeping(RunId run) {
  const auto at = kept_.find(run);
  if (at == kept_.end()) return;
  const Kept kept = at->second;
  kept_.erase(at);
  Side& of_space = spaces_.at(kept.space);
  if (const auto of_pool = pools_.find(kept.pool); of_pool != pools_.end()) {
    if (of_pool->second.kept_for_ == run) keep(of_pool->second, RunId{}, 0);
  }
  if (of_space.kept_for_ == run) keep(of_space, RunId{}, 0);
  pools_to_look_at_.insert(kept.pool);
  pools_to_look_at_.merge(std::exchange(of_space.passed_, {}));
}

std::vector<RunId> QuotaTable::kept() const {
  std::vector<RunId> runs;
  for (const auto& [run, kept] : kept_) runs.push_back(run);
  return runs;
}

std::vector<RunId> QuotaTable::kept_in(const std::string& pool) const {
  std::vector<RunId> runs;
  for (const auto& [run, kept] : kept_) {
    if (kept.pool == pool) runs.push_back(run);
  }
  return runs;
}

void QuotaTable::drop_idle(Sides& sides, Sides::iterator at) {
  const Side& side = at->second;
  const bool counts = side.held_ > 0 || side.queued_ > 0 || side.unfinished_ > 0;
  if (!counts && side.newest_.version == 0) sides.erase(at);
}

}  // namespace rota::master::core
