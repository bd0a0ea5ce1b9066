// How long the attempts of this worker may live: while ZooKeeper or the leader vouches for it. Pure;
// the shell feeds the ends and asks with its own reading of the clock.
#pragma once

#include <algorithm>

#include "common/base/time.h"

namespace rota::worker::run {

/// The two vouchers. Both ends are on CLOCK_BOOTTIME and never move back: answers may come out of
/// order. Thread: the owner's.
class VoucherRules {
 public:
  /// ZooKeeper's voucher: the lease of an answered beat (common/zk/lease_rules.h).
  void extend_lease(MonoTime end) { lease_end_ = std::max(lease_end_, end); }

  /// The leader's voucher: an answered renew, counted from the moment of its sending.
  void extend_grant(MonoTime sent, Millis grant) { grant_end_ = std::max(grant_end_, sent + grant); }

  /// Until when somebody vouches; before the first voucher this is the clock's own beginning.
  MonoTime vouched_until() const { return std::max(lease_end_, grant_end_); }
  bool is_vouched(MonoTime now) const { return now < vouched_until(); }

  MonoTime lease_end() const { return lease_end_; }
  MonoTime grant_end() const { return grant_end_; }

 private:
  MonoTime lease_end_{};
  MonoTime grant_end_{};
};

}  // namespace rota::worker::run
