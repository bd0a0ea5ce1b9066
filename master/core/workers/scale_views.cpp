#include "master/core/workers/scale_views.h"

#include "master/core/state.h"
#include "master/core/workers/scale_desk.h"

namespace rota::master::core {
namespace {

constexpr std::size_t kMostScaleViews = 10'000;

}  // namespace

std::vector<ScaleView> scale_views(const State& state) {
  std::vector<ScaleView> views;
  for (const auto& [pool, scale] : state.scaling().pools()) {
    if (!scale.is_known || views.size() >= kMostScaleViews) continue;
    const model::Quota& quota = state.quotas().quota(model::QuotaOf::Pool, pool);
    ScaleView view;
    view.pool = pool;
    view.wanted = scale.wanted;
    view.reason = scale.reason;
    view.here = scale.here;
    view.leaving = scale.leaving;
    view.load = scale.load;
    view.demand = scale.demand;
    view.min_workers = least_workers(quota);
    view.max_workers = most_workers(quota);
    view.is_scaled = is_scaled(quota);
    view.hook = quota.hook;
    view.changed = scale.changed;
    view.newest = scale.newest;
    for (const auto& [id, worker] : state.scaling().leaving()) {
      if (worker.pool == pool && worker.named) view.stoppable.push_back(id);
    }
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace rota::master::core
