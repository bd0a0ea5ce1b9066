// What workers did lately, so that one that harms runs gets none for a while: jobs that failed there and
// succeeded elsewhere, and lives that were lost. Kept in memory: a new leader begins to count anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::master::core {

inline constexpr Millis kConductWindow{600'000};    ///< older things do not count
inline constexpr Millis kCrowdWindow{10'000};       ///< lives that are lost so near each other have one cause
inline constexpr std::size_t kJobsKept = 32;        ///< that failed on one worker, the latest
inline constexpr std::size_t kLostKept = 4096;      ///< lives of one pool, the latest
inline constexpr std::size_t kStrikesKept = 1000;

/// Thread: the Scheduler's. Times never go back.
class ConductTable {
 public:
  /// An attempt of that job failed there by itself.
  void note_failure(const std::string& worker, JobId job, MonoTime at);
  /// It succeeded there. Gives the workers on which the same job had failed.
  std::vector<std::string> note_success(const std::string& worker, JobId job, MonoTime at);
  /// Jobs that failed there within the window and have succeeded on another worker since, in order. What
  /// succeeded there since its failure does not count.
  std::vector<JobId> proven_against(const std::string& worker, MonoTime at) const;
  /// What it did so far does not count any more.
  void forget_failures(const std::string& worker);

  /// A life of that worker was lost: it was not stopped.
  void note_lost(const std::string& worker, const std::string& pool, MonoTime at);
  /// How many of its lives were lost within the window and alone. Where `crowd` other workers of the pool
  /// lost theirs within kCrowdWindow, that says nothing about this one.
  int lost_alone(const std::string& worker, const std::string& pool, std::size_t crowd, MonoTime at) const;
  void forget_lost(const std::string& worker, const std::string& pool);

  /// A worker has come to that pool. Gives how many did within `window`, with this one.
  std::size_t note_return(const std::string& pool, Millis window, MonoTime at);

  /// How many holds it had in a row; one more than kConductWindow after the end of the last begins anew.
  std::int32_t strikes(const std::string& worker, MonoTime at) const;
  void note_strikes(const std::string& worker, std::int32_t count, MonoTime hold_ends);

 private:
  struct Failed {
    MonoTime at{};                     ///< the last time
    std::optional<MonoTime> elsewhere;  ///< succeeded on another worker, after a failure here
  };
  struct Lost {
    MonoTime at{};
    std::string worker;
  };
  struct Strikes {
    std::int32_t count = 0;
    MonoTime hold_ends{};
  };
  void drop(const std::string& worker, JobId job);
  void drop_old(const std::string& worker, MonoTime at);

  std::map<std::string, std::map<JobId, Failed>> failed_;  ///< by worker; none is empty
  std::unordered_map<std::int64_t, std::set<std::string>> failed_on_;  ///< by job: where; none is empty
  std::map<std::string, std::deque<Lost>> lost_;           ///< by pool, oldest first
  std::map<std::string, std::deque<MonoTime>> returns_;    ///< the same
  std::map<std::string, Strikes> strikes_;                 ///< by worker
};

}  // namespace rota::master::core
