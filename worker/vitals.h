// Looks at the host and at the process every two seconds: the worker's load and its self check.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/host/reading.h"
#include "common/model/worker.h"
#include "worker/vitals_rules.h"

namespace rota::worker {

/// What only the worker itself knows.
struct OwnState {
  std::int32_t running = 0;
  std::int32_t slots = 1;
  std::vector<std::string> troubles;   ///< e.g. backlogs; empty texts are skipped
  std::vector<std::string> awaited;    ///< the same, of what every start waits for: ZooKeeper, the leader
  std::int32_t used_slots = 0;         ///< that attempts take
};

/// Thread: main's.
class Vitals {
 public:
  explicit Vitals(std::string folder) : folder_(std::move(folder)) {}

  /// Whether two seconds have passed since the last look.
  bool is_due(MonoTime now) const { return !looked_ || now - *looked_ >= kEvery; }
  const model::WorkerVitals& look(const OwnState& own, Now now);
  /// The vitals to write to the node now, if there is reason to.
  std::optional<model::WorkerVitals> to_tell();

  const host::ProcessReading& process() const { return process_; }
  const model::WorkerVitals& last() const { return vitals_; }

 private:
  static constexpr Millis kEvery{2000};

  const std::string folder_;
  std::optional<MonoTime> first_look_, looked_;
  host::CpuTicks cpu_before_;
  host::ProcessReading process_;
  Smoothed load_;
  model::WorkerVitals vitals_;
  std::optional<model::WorkerVitals> told_;
};

}  // namespace rota::worker
