// Where candidates of a LeaseElector take turns: one lease at a server that all of them reach. The server
// alone decides, by its own clock: no host's clock is compared with another's.
#pragma once

#include <string>

#include "common/base/result.h"

namespace rota::master::cluster {

/// What stood on the board at one moment of the call.
struct LeaseSight {
  bool is_ours = false;
  std::string words{};      ///< of whoever holds the lease; empty: nobody does
  bool operator==(const LeaseSight&) const = default;
};

/// Owner: a LeaseElector. Thread: one at a time; each call blocks for the deadlines of its client. After an
/// error nothing is known: the call may have been done. Each may be repeated with the same tag.
class LeaseBoard {
 public:
  virtual ~LeaseBoard() = default;
  /// Makes the lease ours for its whole length when it is free or ours already, in one step at the server;
  /// then `words` stand there. `tag` is random, and names one candidacy: whoever finds it knows the lease as
  /// its own.
  virtual Result<LeaseSight> hold(const std::string& tag, const std::string& words) = 0;
  virtual Result<LeaseSight> look() = 0;
  /// Frees the lease if it is held with this tag.
  virtual Result<void> release(const std::string& tag) = 0;
};

}  // namespace rota::master::cluster
