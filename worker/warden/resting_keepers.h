// Keepers that have proven their sets empty and wait for the next attempt of the same kind: the namespaces
// of a process cost more than the process, and a keeper that serves again has them already.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "worker/warden/wire.h"

namespace rota::worker::warden {

/// What a keeper and all that it has waited for have used since it was started.
struct KeeperTotals {
  std::int64_t cpu_us = 0;
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

/// A keeper that may serve again. With `orders` closed it ends.
struct ServingKeeper {
  std::string kind;
  UniqueFd orders;
  KeeperTotals used_before;        ///< up to the start of the present attempt
  int served = 0;                  ///< attempts before the present one
  // while it rests, or is about to; else they are the attempt's
  pid_t pid = -1;
  UniqueFd pidfd;
  MonoTime since{};
};

/// Whose attempts one keeper may serve one after the other: those of one space and one user. Empty: it serves
/// once, for somebody with rights in its namespaces (root) may leave something behind in them.
/// `own_uid`: who a job is that names no user.
std::string keeper_kind(const std::string& space, const std::optional<User>& user, std::uint32_t own_uid);

/// Owner: the warden. Thread: its own.
class RestingKeepers {
 public:
  /// As many as a worker may have slots in use at once: fewer mean a new keeper for each of the others.
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kMostOfFewDescriptors = 64;
  static constexpr Millis kLongest{10'000};
  static constexpr int kMostServed = 1000;

  /// So many at most from now on; kMost at the beginning.
  void set_most(std::size_t most) { most_ = most; }
  /// The one that rests longest goes when there are too many; so does one that has served long enough.
  void put(ServingKeeper keeper, MonoTime now);
  /// The one of this kind that served last.
  std::optional<ServingKeeper> take(const std::string& kind);
  /// Those that nobody has needed for kLongest end.
  void expire(MonoTime now);
  std::optional<MonoTime> next_end() const;
  std::size_t size() const { return keepers_.size(); }
  void clear() { keepers_.clear(); }

 private:
  std::size_t most_ = kMost;
  std::deque<ServingKeeper> keepers_;  // in the order in which they came
};

}  // namespace rota::worker::warden
