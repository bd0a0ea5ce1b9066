// What a candidate does after listing the candidates. Pure: a simulator can run it.
#pragma once

#include <string>
#include <vector>

namespace rota::master::cluster {

enum class ElectionStep {
  Lead,    ///< nobody is before us
  Watch,   ///< wait until the predecessor's node goes, then list again
  Rejoin,  ///< our node is not there: make a new one
};

struct ElectionDecision {
  ElectionStep step = ElectionStep::Rejoin;
  std::string predecessor;  ///< Watch: the nearest candidate before us
  bool operator==(const ElectionDecision&) const = default;
};

/// `listing`: names of the election folder's children, in any order; foreign names are ignored.
/// `own`: the name of our node, empty when we have none. Sequences are compared by their signed
/// 32-bit wrap-around difference.
ElectionDecision decide_election(const std::vector<std::string>& listing, const std::string& own);

}  // namespace rota::master::cluster
