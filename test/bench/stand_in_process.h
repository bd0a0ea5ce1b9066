// The process of a number of stand-ins for workers (rota-stand-ins), and how long until they are online.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "test/bench/surroundings.h"

namespace rota::bench {

/// Ends with the object.
class StandInProcess {
 public:
  StandInProcess() = default;
  ~StandInProcess() { stop(); }
  StandInProcess(const StandInProcess&) = delete;
  StandInProcess& operator=(const StandInProcess&) = delete;

  /// Workers of the pool with so many slots each. `names`: part of their names, so that those of a later
  /// process are the same workers come back; empty: names of their own. NotFound: it can not be started.
  Result<void> start(const Surroundings& where, const std::string& pool, std::int64_t count,
                     std::int64_t slots, const std::string& names = "");
  /// Their nodes go at once. Twice is fine.
  void stop();
  /// Of the process itself.
  double cpu_seconds() const;

 private:
  pid_t pid_ = -1;
};

/// How many workers of the pool are online, by the leader.
Result<std::int64_t> count_online(client::Cluster& cluster, const std::string& pool);

/// Waits until exactly `count` are. TimedOut: not within 60 s.
Result<void> await_online(const Surroundings& where, const std::string& pool, std::int64_t count);

}  // namespace rota::bench
