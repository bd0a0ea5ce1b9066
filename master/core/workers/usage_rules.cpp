#include "master/core/workers/usage_rules.h"

#include <algorithm>

namespace rota::master::core {

std::vector<model::AttemptUsage> usage_with(const std::vector<model::AttemptUsage>& known,
                                            std::vector<model::AttemptUsage> newer,
                                            const IdSet<RunId>& held) {
  using model::AttemptUsage;
  newer.reserve(newer.size() + known.size());
  newer.insert(newer.end(), known.begin(), known.end());
  std::erase_if(newer, [&](const AttemptUsage& usage) { return !held.contains(usage.key.run); });
  // Of two about one attempt the one that was said now stands first.
  std::ranges::stable_sort(newer, {}, &AttemptUsage::key);
  const auto is_same = [](const AttemptUsage& a, const AttemptUsage& b) { return a.key == b.key; };
  newer.erase(std::unique(newer.begin(), newer.end(), is_same), newer.end());
  if (newer.size() > kUsagesKept) newer.resize(kUsagesKept);
  return newer;
}

}  // namespace rota::master::core
