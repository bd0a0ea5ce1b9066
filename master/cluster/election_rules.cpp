#include "master/cluster/election_rules.h"

#include <algorithm>
#include <optional>

#include "common/zk/candidate_name.h"

namespace rota::master::cluster {

ElectionDecision decide_election(const std::vector<std::string>& listing, const std::string& own) {
  const auto mine = zk::candidate_sequence(own);
  const bool listed = std::find(listing.begin(), listing.end(), own) != listing.end();
  if (!mine || !listed) return {ElectionStep::Rejoin, {}};
  std::optional<std::int32_t> nearest;
  std::string predecessor;
  for (const auto& name : listing) {
    const auto sequence = zk::candidate_sequence(name);
    if (!sequence || !zk::sequence_before(*sequence, *mine)) continue;
    if (nearest && zk::sequence_before(*sequence, *nearest)) continue;
    nearest = sequence;
    predecessor = name;
  }
  if (!nearest) return {ElectionStep::Lead, {}};
  return {ElectionStep::Watch, predecessor};
}

}  // namespace rota::master::cluster
