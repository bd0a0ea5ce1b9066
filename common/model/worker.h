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

/// The content of a worker's ephemeral znode (JSON, at most 4 kB).
struct WorkerInfo {
  WorkerKey key;
  Address address;
  std::string pool = "default";
  std::map<std::string, std::string> labels;
  std::int32_t slots = 1;
  std::int32_t weight = 100;
  bool draining = false;
  std::string version;                 ///< of the software
  std::string kill_means;              ///< "pid_namespace", "cgroup", "scan"
  std::vector<std::string> handlers;
  WallTime started{};
  bool operator==(const WorkerInfo&) const = default;
};

struct AttemptKey {
  RunId run;
  AttemptNo attempt = 0;
  auto operator<=>(const AttemptKey&) const = default;
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

/// All that a worker holds, in answer to hello.
struct Inventory {
  WorkerKey worker;
  Epoch highest_epoch;                 ///< that the worker ever saw
  std::vector<HeldAttempt> attempts;
  bool complete = true;
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
