// How long the attempts of this worker may live: while ZooKeeper or the leader vouches for it. Pure;
// the shell feeds the ends and asks with its own reading of the clock.
#pragma once

#include <algorithm>

#include "common/base/time.h"

namespace rota::worker::desk {

/// The two vouchers. Both ends are on CLOCK_BOOTTIME and never move back: answers may come out of
/// order. Thread: the owner's.
///
/// A life's lease counts only once a leader has greeted that life. Before that, perhaps no leader knows
/// that it exists: a session that begins, beats and is ended between two looks of the leader would lengthen
/// what the attempts of an earlier life have left. The leader's fence, counted from when it last saw that
/// life, would not include it.
class VoucherRules {
 public:
  /// A new incarnation: no leader has seen it yet.
  void begin_life() {
    is_greeted_ = false;
    waiting_lease_ = {};
  }
  /// A leader's hello came to the present life, so it knows that this life exists.
  void greet() {
    is_greeted_ = true;
    lease_end_ = std::max(lease_end_, waiting_lease_);
  }

  /// ZooKeeper's voucher: the lease of an answered beat (common/zk/lease_rules.h).
  void extend_lease(MonoTime end) {
    waiting_lease_ = std::max(waiting_lease_, end);
    if (is_greeted_) lease_end_ = std::max(lease_end_, end);
  }

  /// The leader's voucher: an answered renew, counted from the moment of its sending.
  void extend_grant(MonoTime sent, Millis grant) { grant_end_ = std::max(grant_end_, sent + grant); }

  /// Until when somebody vouches; before the first voucher this is the clock's own beginning.
  MonoTime vouched_until() const { return std::max(lease_end_, grant_end_); }
  bool is_vouched(MonoTime now) const { return now < vouched_until(); }

  MonoTime lease_end() const { return lease_end_; }
  MonoTime grant_end() const { return grant_end_; }

 private:
  bool is_greeted_ = false;
  MonoTime waiting_lease_{};  ///< of beats of the present life, whether it counts yet or not
  MonoTime lease_end_{};
  MonoTime grant_end_{};
};

}  // namespace rota::worker::desk
