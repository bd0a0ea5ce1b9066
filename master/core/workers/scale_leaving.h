// Workers that drain because their pool should have fewer: who begins, who is taken back, and who may be
// stopped. ScaleTable::leaving names them; scale_desk.h decides how many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "master/core/state.h"

namespace rota::master::core {

/// Incarnations of that worker whose node is there.
const std::set<std::string>& lives_here(const State& state, const std::string& id);
/// That drain is the autoscaler's.
bool drains_for_scale(const State& state, const std::string& id);
/// The hook of its pool may still be called with this worker's name, or be under way with it.
bool may_be_told_of(const State& state, const LeavingWorker& worker);
/// Drained, still here, and nothing runs there: at most kMaxStoppable.
std::vector<model::WorkerKey> stoppable_in(const State& state, const std::string& pool);
/// The newest row does not name all that may be stopped; or its call is open and names more.
bool names_others(const State& state, const std::string& pool, const PoolScale& scale);

/// What has become of those that were asked to leave.
void follow_all_leaving(Context& ctx);
/// So many more are drained.
void let_workers_go(Context& ctx, const std::string& pool, std::size_t count);
/// So many are resumed, if that many drain; those that may be stopped by now stay drained.
void take_workers_back(Context& ctx, const std::string& pool, std::size_t count);
/// From now on those may be stopped on which nothing runs any more.
void name_drained(Context& ctx, const std::string& pool);

/// Drains of the Terms before are known.
void recover_leaving(State& state);

struct LeavingCount {
  std::int64_t here = 0;               ///< workers whose node is there
  std::int64_t slots = 0;              ///< that unfinished attempts take of them
};
LeavingCount count_leaving(const State& state, const std::string& pool);
/// Workers of that pool that are here, and drained by somebody else: they stay, and take nothing.
std::int64_t drained_by_others(const State& state, const std::string& pool);

}  // namespace rota::master::core
