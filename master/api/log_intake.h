// The way into the log store. What must not be stored is refused and counted here, because a stored
// chunk is never removed again. Also tells a worker that the rest of a deleted output is no longer
// needed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/caller.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "master/store/log_store.h"
#include "master/store/reader.h"

namespace rota::master::api {

/// What was refused since this process began. The alarm: a stored key was sent again with other
/// content.
struct LogRefusals {
  std::int64_t other_content = 0;
  std::int64_t unknown_run = 0;
  std::int64_t impossible_place = 0;
  std::int64_t damaged = 0;
  std::int64_t no_longer_kept = 0;   ///< acknowledged but not stored: retention has deleted its run
  std::string alarm;                 ///< what came with other content in the last hour; empty: nothing
};

/// How many bytes of a stream may be missing before a chunk: as much as a worker can keep, because
/// a restored database may have lost all of it and gets it again.
inline constexpr std::int64_t kMostBytesMissing = 128ll << 30;

/// InvalidArgument when more than that would be missing between the stored end and the chunk. Pure.
Result<void> check_reach(const store::LogChunk& chunk, std::int64_t stored_end);

/// Thread: any.
class LogIntake {
 public:
  /// All outlive it.
  LogIntake(store::Reader& reader, store::LogStore& logs, const Clock& clock)
      : reader_(reader), logs_(logs), clock_(clock) {}

  /// As LogStore::append. InvalidArgument also for a run that does not exist, and for a chunk out
  /// of reach; Corrupt also for other content under a stored key. None of the call's chunks is
  /// stored then.
  Result<std::vector<std::int64_t>> append(const Caller& caller,
                                           const std::vector<store::LogChunk>& chunks);
  LogRefusals refusals() const;

 private:
  using Runs = std::set<RunId>;

  Result<Runs> runs_without_row(const std::vector<store::LogChunk>& chunks);
  Runs not_seen_lately(const std::vector<store::LogChunk>& chunks);
  Result<Runs> deleted_among(const Runs& without_row, const std::vector<store::LogChunk>& chunks);
  Result<void> check_reaches(const std::vector<store::LogChunk>& chunks);
  Result<std::vector<std::int64_t>> append_known(const Caller& caller,
                                                 const std::vector<store::LogChunk>& chunks);
  void pass_what_is_pruned(const std::vector<store::LogChunk>& chunks, std::vector<std::int64_t>& ends);
  void note_other_content(const Caller& caller, const Error& error);

  store::Reader& reader_;
  store::LogStore& logs_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<RunId, MonoTime> seen_;   ///< runs that had a row, and when that was seen
  LogRefusals refusals_;
  MonoTime alarmed_{};
};

}  // namespace rota::master::api
