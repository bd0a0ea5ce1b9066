// When the holder of a lock must stop, since others may get it. Pure.
#pragma once

#include "common/base/time.h"

namespace rota::zk {

/// Fed with what the holder's session says of itself. ZooKeeper gives the lock to others when it has heard
/// nothing for one session timeout; its C client calls itself cut off after two thirds of that silence. The
/// last third is the holder's: half of it to go on, since most cuts are short, half of it to end.
/// Owner: the holder. Thread: its one.
class LockLoss {
 public:
  /// `session_timeout` as agreed with the server, which may differ from what was asked for.
  LockLoss(Millis session_timeout, MonoTime now) : share_(Micros(session_timeout) / 6), seen_(now) {}

  /// At least every tenth of a second; what lies between two looks counts as cut off.
  void look(bool is_held, MonoTime now) {
    if (is_held && !must_stop(now)) seen_ = now;
    is_stopping_ = must_stop(now);
  }
  /// From here on it stays so.
  bool must_stop(MonoTime now) const { return is_stopping_ || now - seen_ > share_; }
  /// Nothing of the holder may live any more.
  bool must_be_gone(MonoTime now) const { return now - seen_ > 2 * share_; }

 private:
  Micros share_;
  MonoTime seen_;
  bool is_stopping_ = false;
};

}  // namespace rota::zk
