// The lease by which the masters of some worlds are elected, and the server that keeps it. The server may be
// away, lose its answers, and forget the lease early, as one does whose clock runs fast: then two masters are
// elected at once, and the epoch in the database decides.
#pragma once

#include <memory>
#include <string>

#include "clockwork.h"
#include "marks.h"
#include "master/cluster/lease_board.h"
#include "random.h"

namespace rota::sim {

/// Thread: one. Owned by the world.
class SimLease {
 public:
  SimLease(Clockwork& clockwork, Random random, Marks& marks);

  /// Begins its faults; heal() ends them.
  void begin_faults();
  void heal();
  /// Somebody frees it.
  void forget() { tag_.clear(); }

  Result<master::cluster::LeaseSight> hold(const std::string& tag, const std::string& words);
  Result<master::cluster::LeaseSight> look();
  Result<void> release(const std::string& tag);

 private:
  void strike();
  bool is_held() const { return !tag_.empty() && clockwork_.now() < until_; }
  /// Unavailable: it does not answer, before or after the deed.
  Result<void> answers();
  master::cluster::LeaseSight sight(const std::string& tag) const;

  Clockwork& clockwork_;
  Random random_;
  Marks& marks_;
  std::string tag_, words_;            ///< of the holder; no tag: nobody's
  MonoTime until_{};
  MonoTime away_until_{}, lossy_until_{};
  bool is_healed_ = false;
};

/// One process's way to the lease; after its death nothing gets through.
class SimBoard final : public master::cluster::LeaseBoard {
 public:
  SimBoard(SimLease& lease, std::shared_ptr<const bool> lives) : lease_(lease), lives_(std::move(lives)) {}
  Result<master::cluster::LeaseSight> hold(const std::string& tag, const std::string& words) override;
  Result<master::cluster::LeaseSight> look() override;
  Result<void> release(const std::string& tag) override;

 private:
  SimLease& lease_;
  const std::shared_ptr<const bool> lives_;
};

}  // namespace rota::sim
