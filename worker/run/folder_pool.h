// Work folders for attempts. An attempt gets an empty folder of its own; one that it leaves empty is
// given to a later attempt of the same user, and one with anything in it is removed. That saves the disk
// two changes for each of the many attempts that write nothing. A folder that a job wants kept goes to
// `kept/RUN.ATTEMPT`, of which the newest 100 stay.
//
// A folder needs room on most disks. So some are made in advance: for the attempts of this start and, in
// `spare`, for the next start, which adopts it. Thus a worker whose disk is full starts and runs on.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/queue.h"
#include "common/base/result.h"
#include "common/model/run.h"
#include "common/model/worker.h"

namespace rota::worker::run {

/// Thread: any. Removing happens on a thread of its own.
class FolderPool {
 public:
  /// `root` is the worker's work folder; each start of the proper uses a folder of its own in it. So many
  /// folders are made in advance.
  explicit FolderPool(std::string root, std::size_t stock = 0);
  ~FolderPool();

  /// Unavailable: there is no root and none can be made. A full disk is no error: acquire tells.
  Result<void> start();
  /// Makes what is missing of the folders in advance; false when the disk refuses. The thread does so too,
  /// every second until it is done.
  bool stock();
  /// An empty folder, mode 0700. It belongs to `owner` or to the worker's own user. Unavailable when the
  /// disk refuses.
  Result<std::string> acquire(uid_t owner);
  /// The attempt is over.
  void release(const std::string& folder);
  /// The attempt is over, and its folder is to be looked at. Where it is now.
  Result<std::string> keep(const std::string& folder, model::AttemptKey key);
  /// No attempt of an earlier start runs any more: what those left is removed.
  void remove_earlier();
  /// Ends the thread; what is still to be removed is left to the next start.
  void stop();

 private:
  std::optional<std::string> take_free(uid_t owner);
  Result<std::string> make();
  void adopt_spare();
  bool stock_own();
  bool stock_spare() const;
  std::string next_folder();
  void remove_strays();
  void thin_kept();
  void remove_loop(std::stop_token stop);

  const std::string root_;
  const std::string own_, spare_;
  const std::size_t stock_;
  std::mutex mutex_;
  std::map<uid_t, std::vector<std::string>> free_;  // by owner
  std::set<std::string> used_;
  std::uint64_t made_ = 0;
  BoundedQueue<std::string> rubbish_{100'000};
  std::jthread remover_;
};

}  // namespace rota::worker::run
