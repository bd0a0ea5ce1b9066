// When the holder of a lock must stop because others may get it. Pure.
#pragma once

#include "common/base/time.h"

namespace rota::zk {

/// Its input is what the holder's session says. ZooKeeper gives the lock to others when it has heard nothing
/// for one session timeout; its C client says "cut off" after two thirds of that silence. The last third
/// is the holder's: in the first half it goes on, because most cuts are short; in the second half it ends.
/// Owner: the holder. Thread: the holder's.
class LockLoss {
 public:
  /// `session_timeout` as granted by the server, which may differ from the requested one.
  LockLoss(Millis session_timeout, MonoTime now) : share_(Micros(session_timeout) / 6), seen_(now) {}

  /// Call it at least every tenth of a second; the time between two calls counts as cut off.
  void look(bool is_held, MonoTime now) {
    if (is_held && !must_stop(now)) seen_ = now;
    is_stopping_ = must_stop(now);
  }
  /// Once true, it stays true.
  bool must_stop(MonoTime now) const { return is_stopping_ || now - seen_ > share_; }
  /// No process of the holder may be alive any more.
  bool must_be_gone(MonoTime now) const { return now - seen_ > 2 * share_; }

 private:
  Micros share_;
  MonoTime seen_;
  bool is_stopping_ = false;
};

}  // namespace rota::zk
