// What a candidate does after reading the candidates. Pure: a simulator can run it.
#pragma once

#include <string>
#include <vector>

#include "common/zk/candidate_name.h"

namespace rota::master::cluster {

enum class ElectionStep {
  Lead,    ///< nobody is before us
  Watch,   ///< wait until the predecessor's node goes, then look again
  Rejoin,  ///< our node is not there: make a new one
};

struct ElectionDecision {
  ElectionStep step = ElectionStep::Rejoin;
  std::string predecessor{};                ///< Watch: the nearest candidate before us
  /// Other nodes of our own session, which came back to servers with older data. As long as they exist they
  /// are before us and wait for nobody, so they must be removed.
  std::vector<std::string> ghosts{};
  /// Nodes with a candidate's name that no session owns: they do not count.
  std::vector<std::string> ownerless{};
  bool operator==(const ElectionDecision&) const = default;
};

/// `nodes`: the election folder's children, in any order; foreign names are ignored. `own`: the name of
/// our node, empty when we have none. The order is that in which the nodes were made
/// (zk::stands_before), so in any listing exactly one candidate leads.
ElectionDecision decide_election(const std::vector<zk::Candidate>& nodes, const std::string& own);

}  // namespace rota::master::cluster
