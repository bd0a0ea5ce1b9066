// All output of this worker that the masters have not stored yet: which streams there are, how many of
// their chunks are fixed, how many the masters have stored. The runner writes, the log shipper reads and
// acknowledges. A stream's files go when its last chunk and its attempt's outcome are both acknowledged.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "common/model/worker.h"
#include "worker/run/spool_stream.h"

namespace rota::worker::run {

struct StreamKey {
  model::AttemptKey attempt;
  int stream = 1;                    ///< 1 standard output, 2 standard error
  auto operator<=>(const StreamKey&) const = default;
};

/// A chunk that may be sent now.
struct PendingChunk {
  StreamKey key;
  ReadChunk chunk;
};

/// Owner: the worker. Thread: any; no call waits for anything but local files.
class Spool {
 public:
  explicit Spool(std::string folder, std::int64_t limit_bytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  /// Reads what an earlier life left. A stream that cannot be read is named in the log and left to the next
  /// life. Unavailable when the folder itself cannot be read.
  Result<void> recover();
  /// After recover, and after the runner adopted what still runs: attempts that are not in `held` have
  /// nobody left to finish them or to tell their outcome. They are only shipped, and then removed. One whose
  /// end cannot be fixed (a full disk) is named in the log and stays.
  void release_all_but(const std::set<model::AttemptKey>& held);

  // --- the runner ---
  /// A stream to write; it may exist from an earlier life.
  Result<std::unique_ptr<SpoolStream>> open(StreamKey key, StreamLimits limits);
  /// So many chunks are fixed, and the stream uses so many bytes on disk.
  void note(StreamKey key, std::int64_t borders, std::int64_t kept_bytes);
  /// The last chunk is fixed.
  void closed(StreamKey key);
  /// An earlier life began this stream, or this one did.
  bool has(StreamKey key) const;
  /// More than the limit is on disk: room should be made, or streams stop keeping.
  bool is_full() const;
  /// The oldest output that waits to be sent is cut: what was not handed to the shipper yet goes, except for
  /// its last chunk, which tells how much is missing. False when there is none, as of attempts that run.
  bool make_room();

  // --- the reporter ---
  /// The attempt's outcome is stored at the leader.
  void outcome_acknowledged(model::AttemptKey attempt);

  // --- the shipper ---
  /// Waits until a chunk may be sent; false after the timeout or a stop.
  bool wait_pending(Millis at_most, std::stop_token stop);
  /// Up to about `most_bytes` of chunks, stream by stream in turn; in order within a stream.
  std::vector<PendingChunk> pending(std::int64_t most_bytes);
  /// The masters hold this stream up to here; less than before when their database went back.
  void stored(StreamKey key, std::int64_t log_end);
  /// Gives up the rest of a stream (its bytes are damaged, or refused for good).
  void abandon(StreamKey key);

  /// Waits until no stream is left; false after the timeout.
  bool wait_home(Millis at_most);
  /// Streams that the masters have not stored as a whole.
  std::size_t streams() const;
  /// How much of the disk all streams use.
  std::int64_t bytes() const;
  /// Chunks are waiting to be sent.
  bool has_pending() const;

 private:
  struct Entry {
    std::int64_t borders = 0;        ///< fixed
    std::int64_t next = 0;           ///< first that is not acknowledged
    std::int64_t kept_bytes = 0;
    std::int64_t handed = 0;         ///< lines below it may have been sent
    std::int64_t told_damage = -1;   ///< the last offset that was named
    bool is_read = false;            ///< the shipper is at its files
    bool is_open = false;
    bool abandoned = false;
  };
  StreamPath path_of(StreamKey key) const;
  Result<void> finish_left(StreamKey key);
  bool is_home(const StreamKey& key, const Entry& entry) const;
  void remove_if_home(StreamKey key);
  void pass_marks(StreamKey key, std::int64_t begin, const std::vector<ReadChunk>& chunks);
  std::vector<PendingChunk> whole_chunks(StreamKey key, std::vector<ReadChunk> chunks);
  void tell_damage(StreamKey key, const ChunkBorder& border);
  bool cut(const StreamKey& key, Entry& entry);
  void skip_stored(StreamKey key, std::int64_t log_end);

  const std::string folder_;
  const std::int64_t limit_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable_any ready_;
  std::map<StreamKey, Entry> entries_;
  std::set<model::AttemptKey> unacknowledged_;  ///< of attempts that have a stream here
  StreamKey turn_;                              ///< whose turn was last
  std::int64_t on_disk_ = 0;
};

}  // namespace rota::worker::run
