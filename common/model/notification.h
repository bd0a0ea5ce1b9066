// Notifications: what somebody should hear of, on its way to a receiver. A row is stored in the batch that
// decides what it tells, before it is sent; it is sent until the receiver has accepted it, or too often.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/run.h"

namespace rota::model {

/// What is told. Stored by name.
enum class Happening {
  Failed,         ///< a run ended as failed, timed_out or kill_failed
  Lost,           ///< a run ended as lost
  Missed,         ///< ticks did not fire, and no run stands for them
  Late,           ///< an expectation of a job was not met
  Stuck,          ///< tick after tick is skipped behind one run
  SelfPaused,     ///< a job has paused itself after failures
  WorkerOffline,  ///< a worker's node is gone
  WorkerDead,     ///< a worker is offline for so long that lists leave it out
  NoLeader,       ///< nobody leads for a while; told by a master that does not lead
  TicksHeld,      ///< no tick fires until somebody has a look
  LowCapacity,    ///< less than the reserve of a pool's slots has been free for a while
  Combined,       ///< stands for so many that were too many to be stored one by one
  Test            ///< `rota notify test`
};
inline constexpr std::array<std::string_view, 13> kHappenings = {
    "failed",         "lost",        "missed",    "late",       "stuck",    "self_paused",
    "worker_offline", "worker_dead", "no_leader", "ticks_held",
    "low_capacity",   "combined",    "test"};
static_assert(kHappenings.size() == static_cast<std::size_t>(Happening::Test) + 1);
/// A gap of ticks that somebody should hear of: no run stands for them, and no rule or person wanted it so.
constexpr bool is_missed(Reason reason) {
  return reason == Reason::Missed || reason == Reason::LateSkipped || reason == Reason::LateBounded;
}
/// A receiver may ask for those before Combined.
inline constexpr std::size_t kWantedHappenings = static_cast<std::size_t>(Happening::Combined);

inline std::string_view name_of(Happening what) { return kHappenings.at(static_cast<std::size_t>(what)); }
inline std::optional<Happening> happening_named(std::string_view name) {
  for (std::size_t i = 0; i < kHappenings.size(); ++i) {
    if (kHappenings[i] == name) return static_cast<Happening>(i);
  }
  return std::nullopt;
}

/// Receivers of one cluster, and bytes of a receiver's name.
inline constexpr std::size_t kMaxReceivers = 16;
inline constexpr std::size_t kMaxReceiverName = 64;
/// In `notify` of a job: nobody is told.
inline constexpr std::string_view kNobody = "nobody";

/// Who wants to hear what; the same in all that a Term decides.
struct ReceiverRule {
  std::string name;
  std::set<Happening> wants;
  bool is_default = false;  ///< hears of jobs that do not say whom to tell
  bool operator==(const ReceiverRule&) const = default;
};

/// `named`: JobRules::notify.
inline bool is_told(const ReceiverRule& receiver, const std::vector<std::string>& named, Happening what) {
  if (!receiver.wants.contains(what)) return false;
  if (named.empty()) return receiver.is_default;
  return std::find(named.begin(), named.end(), receiver.name) != named.end();
}

/// The row `receiver`: what a Term knew of a receiver.
struct ReceiverRow {
  Epoch epoch;
  ReceiverRule rule;
  bool operator==(const ReceiverRow&) const = default;
};

/// How far one is. The first is not settled.
enum class Delivery { Open, Delivered, GivenUp };
inline constexpr std::array<std::string_view, 3> kDeliveries = {"open", "delivered", "given_up"};
inline std::string_view name_of(Delivery state) { return kDeliveries.at(static_cast<std::size_t>(state)); }
inline std::optional<Delivery> delivery_named(std::string_view name) {
  for (std::size_t i = 0; i < kDeliveries.size(); ++i) {
    if (kDeliveries[i] == name) return static_cast<Delivery>(i);
  }
  return std::nullopt;
}

/// The row `notification`.
struct Notification {
  std::int64_t id = 0;  ///< names its Term as a run's id does; the same in each try
  std::string receiver;
  Happening what = Happening::Test;
  JobId job;  ///< 0: not of a job
  std::string space, job_name;
  RunId run;                       ///< 0: not of a run
  std::string worker;              ///< empty: not of a worker
  std::optional<WallTime> moment;  ///< Missed and Late: the tick, of several the first
  std::string text;                ///< for people; at most 500 bytes
  std::int64_t count = 1;          ///< Combined: how many it stands for
  WallTime made{};                 ///< core time
  Delivery state = Delivery::Open;
  std::int32_t attempts = 0;        ///< tries that ended
  std::optional<WallTime> settled;  ///< delivered, or given up
  std::string last_error;           ///< of the last try; at most 300 bytes
  bool operator==(const Notification&) const = default;
};

inline constexpr std::size_t kMaxNotificationText = 500;
inline constexpr std::size_t kMaxNotificationError = 300;

}  // namespace rota::model
