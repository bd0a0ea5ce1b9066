// Ticks that did not fire, summed up over the saved jobs of a namespace.
#include <algorithm>

#include "master/store/memory/memory_store.h"
#include "master/store/memory/memory_tables.h"

namespace rota::master::store {

Result<std::vector<GapSum>> MemoryStore::sum_gaps(const GapQuery& query) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::map<JobId, std::string> names;
  for (const auto& [place, id] : tables_->job_of_name) {
    if (place.first == query.space) names[id] = place.second;
  }
  std::map<std::tuple<JobId, model::Reason, std::int64_t>, GapSum> sums;
  for (const auto& [key, gap] : tables_->gaps) {
    const auto name = names.find(gap.job);
    if (name == names.end() || gap.to < query.since) continue;
    if (std::ranges::count(query.reasons, gap.reason) == 0) continue;
    const std::int64_t reference = query.by_reference ? gap.reference : 0;
    auto [at, is_new] = sums.try_emplace({gap.job, gap.reason, reference});
    GapSum& sum = at->second;
    if (is_new) sum = {name->second, gap.reason, reference, 0, gap.from, gap.to};
    sum.ticks += gap.count;
    sum.from = std::min(sum.from, gap.from);
    sum.to = std::max(sum.to, gap.to);
  }
  std::vector<GapSum> out;
  for (const auto& [key, sum] : sums) {
    if (sum.ticks >= query.least_ticks) out.push_back(sum);
  }
  std::ranges::stable_sort(out, std::greater{}, &GapSum::to);
  const auto most = static_cast<std::size_t>(std::clamp(query.limit, 1, 10'000));
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace rota::master::store
