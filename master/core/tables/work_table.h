// What workers were given and how it ended since this Term began, and who got the last runs of each pool. For
// people: nothing is decided by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

namespace rota::master::core {

/// Attempts of one worker, in all its lives.
struct WorkerWork {
  std::int64_t scheduled = 0;  ///< sent to it
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;     ///< failed, timed out, not killable, lost
  bool operator==(const WorkerWork&) const = default;
};

/// How many of the last runs of its pool a worker was given.
struct WorkerShare {
  std::int32_t given = 0;
  std::int32_t of = 0;         ///< at most kSharedRuns
};

inline constexpr std::size_t kSharedRuns = 1000;
/// More workers, or pools, than these are not counted.
inline constexpr std::size_t kWorkersCounted = 20'000;
inline constexpr std::size_t kPoolsCounted = 256;

/// Thread: the Scheduler's. Each function costs a look-up or two.
class WorkTable {
 public:
  WorkTable() = default;
  WorkTable(const WorkTable&) = delete;
  WorkTable& operator=(const WorkTable&) = delete;

  void note_given(const std::string& worker, const std::string& pool);
  void note_end(const std::string& worker, bool has_succeeded);

  WorkerWork of(const std::string& worker) const;
  WorkerShare share_of(const std::string& worker, const std::string& pool) const;

 private:
  using Counts = std::unordered_map<std::string, std::int32_t>;
  /// The last runs of a pool: each points at its worker's count, and no count is 0.
  struct Last {
    Counts counts;
    std::deque<Counts::value_type*> runs;
  };
  WorkerWork* work_of(const std::string& worker);

  std::unordered_map<std::string, WorkerWork> work_;
  std::unordered_map<std::string, Last> last_;  ///< by pool
};

}  // namespace rota::master::core
