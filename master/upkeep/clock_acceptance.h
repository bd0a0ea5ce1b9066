// How the operator's acceptance of a clock that stepped reaches the masters. A master that holds its ticks
// because of its clock says so in a node of its own, and `rota-master --accept-clock` writes its answer
// there.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/zk/client.h"
#include "common/zk/paths.h"
#include "master/upkeep/clock_step_rules.h"

namespace rota::master {

/// One master's node. Thread: one at a time.
class ClockHoldNote {
 public:
  ClockHoldNote(const zk::Paths& paths, const std::string& master_id);

  /// To be called twice a second or so while ZooKeeper answers: brings the node in step with the hold.
  /// True when the operator's word stands there.
  bool follow(zk::Client& client, const std::optional<ClockHold>& hold);

 private:
  Result<void> note(zk::Client& client, const ClockHold& hold) const;
  bool is_noted(const ClockHold& hold) const;

  const std::string folder_, path_;
  bool is_gone_ = false;                 ///< surely no node of ours is there; one of an earlier life may be
  std::optional<ClockHold> noted_;       ///< what the node says; a word for it is a word for that alone
};

/// Tells all masters that hold their ticks so, except those in `told`, and adds them there; gives what they
/// said. Each master notices a step by itself: ask again for a second or so, or one that has not noticed it
/// yet holds its ticks when it takes office.
Result<std::vector<std::string>> accept_clocks(zk::Client& client, const zk::Paths& paths,
                                               std::set<std::string>& told);
inline Result<std::vector<std::string>> accept_clocks(zk::Client& client, const zk::Paths& paths) {
  std::set<std::string> told;
  return accept_clocks(client, paths, told);
}

}  // namespace rota::master
