// One process per state folder: a lock that the kernel frees when the process dies, and only then.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace rota {

/// Holds the exclusive lock of FOLDER/lock for its lifetime.
class FolderLock {
 public:
  /// Conflict when a living process holds it; the message names the folder and the holder's pid.
  static Result<FolderLock> take(const std::string& folder);

 private:
  explicit FolderLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace rota
