// "A warden of this state folder lives": a name in the kernel (an abstract socket) that vanishes with
// the process. It keeps two wardens from one folder, and a sweep from the jobs of a living warden.
#pragma once

#include <string_view>

#include "common/base/time.h"
#include "common/base/unique_fd.h"

namespace rota::worker::warden {

class LifeLock {
 public:
  /// False when another process still holds it after `patience`.
  bool acquire(std::string_view state_dir, Millis patience);
  /// Gives up this process's share; children that were forked before keep theirs.
  void release() { socket_.reset(); }

 private:
  UniqueFd socket_;
};

}  // namespace rota::worker::warden
