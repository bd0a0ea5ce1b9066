// Workers as the leader sees them, and what they say about the attempts that they hold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/demand.h"
#include "common/model/run.h"

namespace rota::model {

struct Address {
  std::string host;
  std::uint16_t port = 0;
  auto operator<=>(const Address&) const = default;
};

/// Load and health of a worker, from its latest report.
struct WorkerVitals {
  std::int32_t cpu_percent = 0;        ///< of its host, all cores together
  std::int32_t memory_percent = 0;     ///< of its host
  std::int32_t load_percent = 0;       ///< CPU x 0.4 + memory x 0.3 + running/slots x 0.3, smoothed
  std::int64_t disk_free_bytes = 0;    ///< on the disk of its state folder
  std::int32_t threads = 0;            ///< of the worker proper
  std::int32_t running = 0;            ///< attempts
  std::string health = "ok";           ///< or what the self check found
  WallTime sampled{};
  std::string doubt = {};              ///< set by a master: figures that no host can have
  bool operator==(const WorkerVitals&) const = default;
};

/// The content of a worker's ephemeral znode (JSON, at most 4 kB).
struct WorkerInfo {
  WorkerKey key;
  Address address;
  std::string pool = "default";
  std::map<std::string, std::string> labels;
  std::int32_t slots = 1;
  std::int32_t weight = 100;           ///< its share under weighted_round_robin; 0 counts as 1
  std::int32_t rank = 100;             ///< the lower, the sooner under first, failover and busyover
  bool draining = false;               ///< accepts nothing new, for any reason
  std::optional<bool> drain_told;      ///< what a leader last told it; unset: it cannot be told
  std::optional<std::int64_t> drain_order;  ///< the number of that command, 0: none yet; unset: unnumbered
  std::string version;                 ///< of the software
  std::string kill_means;              ///< "pid_namespace", "cgroup", "scan"
  std::vector<std::string> kernel_limits;  ///< enforced by the kernel: of "memory", "processes", "cpus"
  std::vector<std::string> handlers;
  std::optional<Amounts> offers;       ///< beside its slots; unset: an older worker, counts attempts
  std::string start;                   ///< names the start of its warden; empty: an older worker
  WallTime started{};
  std::optional<WallTime> stops_at;    ///< it is stopping: attempts that run then are handed over
  std::optional<Millis> lease;         ///< how long one answered beat lasts; unset: an older worker
  std::optional<WorkerVitals> vitals;
  bool operator==(const WorkerInfo&) const = default;
};

/// An operator's command that a worker accepts nothing new. It belongs to the id, in every life.
struct WorkerDrain {
  std::string worker;
  bool draining = true;                ///< false: resumed
  std::optional<WallTime> deadline;    ///< attempts that run then are handed over; unset: they may finish
  std::string principal;
  std::string why;
  WallTime changed{};
  bool operator==(const WorkerDrain&) const = default;
};

/// An operator's confirmation that a life of a worker is over, so that its runs may start again.
struct WorkerDeath {
  WorkerKey life;
  std::string principal;
  std::string why;
  Epoch epoch;                         ///< of the Term that stored it
  WallTime confirmed{};
  std::optional<WallTime> came_back;   ///< its home was here again: the confirmation no longer counts
  bool operator==(const WorkerDeath&) const = default;
};

struct AttemptKey {
  RunId run;
  AttemptNo attempt = 0;
  auto operator<=>(const AttemptKey&) const = default;
};

/// What a running attempt has used so far, with everything that it started.
struct AttemptUsage {
  AttemptKey key;
  std::int64_t cpu_us = 0;             ///< of live processes, and of those that they waited for
  std::int64_t memory_bytes = 0;       ///< resident now
  std::int64_t processes = 0;          ///< now
  std::optional<std::int32_t> cpu_percent = {};  ///< of one core, in the last seconds; unset: not known
  WallTime sampled{};                  ///< by the leader's clock
};

/// Why a worker refused an attempt; the core acts on it.
enum class Refusal {
  None,
  WrongLife,     ///< another incarnation; reconcile first
  OldEpoch,      ///< the sender is deposed: its Term ends
  NoVoucher,
  NoSlot,
  Draining,
  Tombstoned,    ///< this attempt ended here before
  UnknownHandler,
  Malformed,
};
std::string_view name_of(Refusal refusal);
std::optional<Refusal> refusal_named(std::string_view name);

/// One line of a worker's inventory.
struct HeldAttempt {
  enum class State { Running, Finished, Tombstone };
  AttemptKey key;
  State state = State::Running;
  WallTime started{};
  Outcome outcome;                     ///< Finished (not yet acknowledged)
};

/// Whether a worker accepts anything new, as it says itself. Of two, the one with the higher order is newer.
struct DrainAck {
  bool draining = false;               ///< accepts nothing new, for any reason
  bool told = false;                   ///< what a leader last told it
  std::int64_t order = 0;              ///< the number of that command; 0: none yet
  bool operator==(const DrainAck&) const = default;
};

/// Everything that a worker holds, in answer to hello.
struct Inventory {
  WorkerKey worker;
  Epoch highest_epoch;                 ///< that the worker has ever seen
  std::vector<HeldAttempt> attempts;
  bool complete = true;
  std::optional<DrainAck> drain = {};  ///< unset: its version does not say it here
};

/// What a worker reports: an attempt started, or it ended.
struct AttemptReport {
  enum class What { Started, Finished };
  AttemptKey key;
  WorkerKey worker;                    ///< the life in which it was accepted
  What what = What::Started;
  WallTime started{};
  Outcome outcome;                     ///< Finished
  std::optional<RunNote> note = {};    ///< what the attempt reported about itself since the last report
};

}  // namespace rota::model
