// Which cleanups this worker still owes, on its disk: a file for each attempt whose job has one, written
// before its process starts and removed when its outcome is in the outbox. So a cleanup survives the
// death of the proper, of the warden and of the host. It may run twice after such a death, never not at all.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/worker.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

struct CleanupNote {
  WallTime accepted{};      ///< when it was written
  warden::Start start;      ///< of the cleanup
};

/// Owner: the runner. Thread: any.
class CleanupNotes {
 public:
  /// An empty folder: nothing is kept, for tests without a disk.
  explicit CleanupNotes(std::string folder) : folder_(std::move(folder)) {}

  /// Reads what earlier lives left. A note that cannot be read is named in the log and stays where it is.
  /// Unavailable: the folder cannot be made or read.
  Result<void> start();
  /// Synced when it returns. Unavailable: it could not be written, so the attempt must not start.
  Result<void> write(model::AttemptKey key, CleanupNote note);
  /// Empty: none is owed.
  std::optional<CleanupNote> find(model::AttemptKey key) const;
  std::vector<model::AttemptKey> keys() const;
  /// False: there was none.
  bool forget(model::AttemptKey key);

 private:
  std::string path_of(model::AttemptKey key) const;

  const std::string folder_;
  mutable std::mutex mutex_;
  std::map<model::AttemptKey, CleanupNote> notes_;
};

/// The file's content, and back. Corrupt: another one's, or damaged.
std::string encode_cleanup_note(const CleanupNote& note);
Result<CleanupNote> decode_cleanup_note(const std::string& text);

}  // namespace rota::worker::run
