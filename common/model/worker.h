// Workers as the leader sees them, and what they say of the attempts they hold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/run.h"

namespace rota::model {

struct Address {
  std::string host;
  std::uint16_t port = 0;
  auto operator<=>(const Address&) const = default;
};

/// How a worker fares, as it last said.
struct WorkerVitals {
  std::int32_t cpu_percent = 0;        ///< of its host, all cores together
  std::int32_t memory_percent = 0;     ///< of its host
  std::int32_t load_percent = 0;       ///< CPU x 0.4 + memory x 0.3 + running/slots x 0.3, smoothed
  std::int64_t disk_free_bytes = 0;    ///< where its state folder lies
  std::int32_t threads = 0;            ///< of the worker proper
  std::int32_t running = 0;            ///< attempts
  std::string health = "ok";           ///< or what the self check found
  WallTime sampled{};
  bool operator==(const WorkerVitals&) const = default;
};

/// The content of a worker's ephemeral znode (JSON, at most 4 kB).
struct WorkerInfo {
  WorkerKey key;
  Address address;
  std::string pool = "default";
  std::map<std::string, std::string> labels;
  std::int32_t slots = 1;
  std::int32_t weight = 100;
  bool draining = false;               ///< takes nothing new, for whatever reason
  std::optional<bool> drain_told;      ///< what a leader last told it; unset: it cannot be told
  std::optional<std::int64_t> drain_order;  ///< of that telling, 0: none yet; unset: it does not count them
  std::string version;                 ///< of the software
  std::string kill_means;              ///< "pid_namespace", "cgroup", "scan"
  std::vector<std::string> kernel_limits;  ///< of "memory", "processes", "cpus": what the kernel holds
  std::vector<std::string> handlers;
  WallTime started{};
  std::optional<WallTime> stops_at;    ///< it was told to stop on its own host: what runs then is handed over
  std::optional<Millis> lease;         ///< what one answered beat is worth to it; unset: an older worker
  std::optional<WorkerVitals> vitals;
  bool operator==(const WorkerInfo&) const = default;
};

/// An operator's wish that a worker takes nothing new. It belongs to the id, whatever life it is in.
struct WorkerDrain {
  std::string worker;
  bool draining = true;                ///< false: resumed
  std::optional<WallTime> deadline;    ///< what runs then is handed over; unset: it may finish
  std::string principal;
  std::string why;
  WallTime changed{};
  bool operator==(const WorkerDrain&) const = default;
};

/// An operator's word that a life of a worker is over, so that what it held may be begun again.
struct WorkerDeath {
  WorkerKey life;
  std::string principal;
  std::string why;
  Epoch epoch;                         ///< of the Term that stored the word
  WallTime confirmed{};
  std::optional<WallTime> came_back;   ///< its home was here again: the word counts no longer
  bool operator==(const WorkerDeath&) const = default;
};

struct AttemptKey {
  RunId run;
  AttemptNo attempt = 0;
  auto operator<=>(const AttemptKey&) const = default;
};

/// What an attempt that runs has used so far, with all that it started.
struct AttemptUsage {
  AttemptKey key;
  std::int64_t cpu_us = 0;             ///< of processes that live, and of those that they waited for
  std::int64_t memory_bytes = 0;       ///< resident now
  std::int64_t processes = 0;          ///< now
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

/// A worker's own word on whether it takes anything new. Of two the one of the higher order is newer.
struct DrainAck {
  bool draining = false;               ///< takes nothing new, for whatever reason
  bool told = false;                   ///< what a leader last told it
  std::int64_t order = 0;              ///< of that telling; 0: none yet
  bool operator==(const DrainAck&) const = default;
};

/// All that a worker holds, in answer to hello.
struct Inventory {
  WorkerKey worker;
  Epoch highest_epoch;                 ///< that the worker ever saw
  std::vector<HeldAttempt> attempts;
  bool complete = true;
  std::optional<DrainAck> drain = {};  ///< unset: of a version that does not say it here
};

/// What a worker reports: an attempt started, or it ended.
struct AttemptReport {
  enum class What { Started, Finished };
  AttemptKey key;
  WorkerKey worker;                    ///< the life in which it was accepted
  What what = What::Started;
  WallTime started{};
  Outcome outcome;                     ///< Finished
  std::optional<RunNote> note = {};    ///< what the attempt has said of itself since the last report
};

}  // namespace rota::model
