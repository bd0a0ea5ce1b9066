// How this master and its host fare, looked at every two seconds.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/host/reading.h"
#include "master/api/leader_port.h"

namespace rota::master {

/// Thread: any.
class OwnFigures {
 public:
  /// `folder`: on the disk that is looked at.
  OwnFigures(std::string folder, std::string version, const Clock& clock);

  /// Reads a few files of /proc.
  void look();
  /// Of the last look; unset before the first.
  std::optional<api::MasterFigures> last() const;

 private:
  const std::string folder_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::optional<host::CpuTicks> cpu_before_;
  api::MasterFigures figures_;
};

}  // namespace rota::master
