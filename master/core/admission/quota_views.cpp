#include "master/core/admission/quota_views.h"

#include <algorithm>

#include "master/core/state.h"

namespace rota::master::core {
namespace {

constexpr std::size_t kMostQuotaViews = 10'000;

QuotaView view_of_side(const State& state, const std::string& name, const QuotaTable::Side& side) {
  QuotaView view;
  view.name = name;
  view.version = side.newest().version;
  view.quota = side.quota();
  view.held = side.held();
  view.queued = side.queued();
  view.unfinished = side.unfinished();
  view.firings = side.fired_in(state.core_time());
  return view;
}

QuotaView named_view(const std::string& space) {
  QuotaView view;
  view.name = space;
  return view;
}

/// Namespaces that have jobs alone.
void add_spaces_of_jobs(const State& state, std::vector<QuotaView>& views) {
  for (const auto& [space, jobs] : state.jobs().named_by_space()) {
    const auto at = std::ranges::lower_bound(views, space, {}, &QuotaView::name);
    const bool is_there = at != views.end() && at->name == space;
    if (!is_there && views.size() >= kMostQuotaViews) continue;
    QuotaView& view = is_there ? *at : *views.insert(at, named_view(space));
    view.jobs = jobs;
  }
}

/// Among the first attempts of each worker: who holds what is limited.
void add_holders(const State& state, model::QuotaOf of, std::vector<QuotaView>& views) {
  constexpr std::size_t kTold = 10;
  const bool any_limit = std::ranges::any_of(views, [](const auto& view) { return view.quota.slots >= 0; });
  if (!any_limit) return;
  for (const auto& [key, life] : state.workers().lives()) {
    std::size_t looked = 0;
    for (const RunId id : life.attempts()) {
      if (looked++ == kTold) break;
      const RunEntry* run = state.find_run(id);
      if (run == nullptr) continue;
      const std::string& name = of == model::QuotaOf::Pool ? run->rules().pool : run->job().row.space();
      const auto at = std::ranges::lower_bound(views, name, {}, &QuotaView::name);
      const bool is_limited = at != views.end() && at->name == name && at->quota.slots >= 0;
      if (is_limited && at->holders.size() < kTold) at->holders.push_back(id);
    }
  }
}

}  // namespace

std::vector<QuotaView> quota_views(const State& state, model::QuotaOf of) {
  std::vector<QuotaView> views;
  for (const auto& [name, side] : state.quotas().all(of)) {
    if (views.size() >= kMostQuotaViews) break;
    views.push_back(view_of_side(state, name, side));
  }
  if (of == model::QuotaOf::Space) add_spaces_of_jobs(state, views);
  add_holders(state, of, views);
  return views;
}

}  // namespace rota::master::core
