#include "master/cluster/election_rules.h"

#include <algorithm>

namespace rota::master::cluster {

namespace {

std::vector<std::string> ownerless_in(const std::vector<zk::Candidate>& nodes) {
  std::vector<std::string> names;
  for (const auto& node : nodes) {
    if (node.owner == 0 && zk::candidate_sequence(node.name)) names.push_back(node.name);
  }
  return names;
}

}  // namespace

ElectionDecision decide_election(const std::vector<zk::Candidate>& nodes, const std::string& own) {
  ElectionDecision decision;
  decision.ownerless = ownerless_in(nodes);
  const auto mine = std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.name == own; });
  if (mine == nodes.end() || !zk::is_candidate(*mine)) return decision;
  const zk::Candidate* nearest = nullptr;
  for (const auto& node : nodes) {
    if (!zk::is_candidate(node) || node.name == own) continue;
    if (node.owner == mine->owner) {
      decision.ghosts.push_back(node.name);
    } else if (zk::stands_before(node, *mine) && (!nearest || zk::stands_before(*nearest, node))) {
      nearest = &node;
    }
  }
  decision.step = nearest ? ElectionStep::Watch : ElectionStep::Lead;
  if (nearest) decision.predecessor = nearest->name;
  return decision;
}

}  // namespace rota::master::cluster
