// The election by one lease (lease_board.h), for electors other than ZooKeeper's. Who holds it is first. The
// holder renews it with every beat, and the others ask as often whether it is free.
//
// The holder counts its lease from the moment at which the last answered renewal was sent, and a little
// shorter than the server does, so that it stops calling itself first before another can be. That holds while
// the server's clock goes evenly. When it does not, two masters may be elected at once; the epoch in the
// database then lets only one of them act.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "common/base/time.h"
#include "master/cluster/elector.h"
#include "master/cluster/lease_board.h"

namespace rota::master::cluster {

struct LeaseTimes {
  Millis lease{5000};  ///< how long the server keeps it at least, without a renewal
  Millis beat{500};    ///< between two renewals, and between two looks of those who wait
  /// How much earlier the holder stops counting on it.
  Millis margin() const { return lease / 10; }
};

/// A tag outlives its process: the master's next process frees, or goes on with, what one that died held.
struct LeaseTag {
  std::string last{};                                 ///< of the process before; empty: none
  std::function<void(const std::string&)> keep{};     ///< called with each new one, before it is used
};

/// Owner: Master. It calls the observer from its own thread. When it dies, it frees a lease that it holds.
class LeaseElector final : public Elector {
 public:
  /// The observer and the clock outlive it.
  LeaseElector(std::unique_ptr<LeaseBoard> board, std::string master_id, const LeaseTimes& times,
               ElectorObserver& observer, const Clock& clock, LeaseTag tag = {});
  ~LeaseElector() override { stop(); }

  /// Begins to act by itself. Without it, a test calls step().
  void start();
  /// One look or renewal. Thread: its own.
  void step();

  void campaign() override;
  void resign() override;
  void publish(const LeaderHint& hint) override;
  void withdraw_hint() override;
  bool is_first() const override;
  Candidacy candidacy() const override;
  Result<LeaderHint> leader() const override;
  void stop() override;

 private:
  struct Wanted {
    bool eligible = false;
    bool resigned = false;           ///< since the last step, whatever came after
    std::optional<LeaderHint> hint{};
  };

  void loop(std::stop_token stop);
  void change(const std::function<void(Wanted&)>& what);
  Wanted take_wanted();
  void stand(const Wanted& wanted);
  void leave();
  void watch_only();
  void see(const Result<LeaseSight>& sight, bool stands);
  void win(MonoTime until);
  void lose(std::string_view why);

  const std::unique_ptr<LeaseBoard> board_;
  const std::string master_id_;
  const LeaseTimes times_;
  ElectorObserver& observer_;
  const Clock& clock_;
  const std::function<void(const std::string&)> keep_tag_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  Wanted wanted_;
  bool has_changed_ = false;
  Candidacy candidacy_;
  std::optional<LeaseSight> seen_;
  MonoTime seen_at_{};
  std::optional<MonoTime> until_;  ///< first until then, by our own count; none: not first
  // its thread only
  std::string tag_;                ///< of the candidacy under way; empty: none
  MonoTime away_until_{};          ///< after it gave the lease up: another's turn
  std::jthread thread_;            ///< last: it uses the rest
};

}  // namespace rota::master::cluster
