// Output of attempts in a folder tree that all masters reach (a shared mount): a file per stream and
// writer, so that no two processes ever write the same file. Every master reads all of them; what
// two masters stored twice counts once. A chunk counts as stored when its file is synced.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "master/store/logs/log_folder.h"
#include "master/store/logs/log_record.h"
#include "master/store/log_store.h"

namespace rota::master::store {

struct FolderLogOptions {
  std::string folder;               ///< made when it is not there; never the one above it
  std::string writer;               ///< names this life of this master; letters, digits, '-', '_'
  bool compress = true;
  Millis settle{10'000};            ///< a tail untouched for so long is torn, not on its way
  /// Hears of damage, once per place and life; unset: it is logged.
  std::function<void(const std::string& file, const LogDamage& damage)> damaged;
};

/// Thread: any. Calls about the same runs wait for each other.
class FolderLogStore final : public LogStore {
 public:
  explicit FolderLogStore(FolderLogOptions options);

  /// Makes the folder, and sees whether it can be written.
  Result<void> prepare() override;
  Result<std::vector<std::int64_t>> append(const std::vector<LogChunk>& chunks) override;
  Result<LogSlice> read(model::AttemptKey attempt, LogStream stream, std::int64_t offset,
                        std::int64_t limit) override;
  Result<std::vector<StoredStream>> stored_of(const std::vector<RunId>& runs) override;
  Result<std::vector<RunId>> runs_with_logs(RunId after, std::int32_t limit) override;
  Result<std::vector<std::int64_t>> bytes_of(const std::vector<RunId>& runs) override;
  Result<bool> erase(const std::vector<RunId>& runs, std::int32_t most) override;

 private:
  struct Kept {
    LogRecord record;
    std::string file;
  };
  /// What is known of a stream: all whole records of its files, up to where each was scanned.
  struct StreamIndex {
    std::map<std::int64_t, Kept> records;           ///< by offset; the first file that has it counts
    std::map<std::string, std::int64_t> scanned;    ///< by file
    std::set<std::pair<std::string, std::int64_t>> told;  ///< damage
    std::int64_t end = 0;                           ///< of what has no hole from 0 on
  };
  struct Stripe {
    std::mutex mutex;
    std::map<LogStreamKey, StreamIndex> streams;
    std::size_t records = 0;
  };
  /// The new chunks of one stream, and what must be synced for the known ones.
  struct Plan {
    std::vector<const LogChunk*> fresh;
    std::set<std::string> synced_again;
  };
  using Plans = std::map<LogStreamKey, Plan>;
  struct Written {
    LogStreamKey key;
    UniqueFd file;
    std::string name;
    bool is_new = false;
    std::int64_t before = 0;          ///< the file's length without it
  };

  Stripe& stripe_of(RunId run);
  std::vector<std::unique_lock<std::mutex>> lock_all(const std::vector<LogChunk>& chunks);
  Result<StreamIndex*> refreshed(const LogStreamKey& key);
  Result<void> scan_file(const LogStreamKey& key, const std::string& name, StreamIndex& index);
  Result<StoredStream> stored_stream(const LogStreamKey& key) const;
  void tell(const std::string& file, const LogDamage& damage) const;
  void tell_damage(const LogStreamKey& key, const std::string& name, std::int64_t age_s,
                   const std::vector<LogDamage>& damage, StreamIndex& index);
  void add(StreamIndex& index, Stripe& stripe, const LogRecord& record, const std::string& file);
  Result<Plans> plan(const std::vector<LogChunk>& chunks);
  Result<std::vector<Written>> write(const Plans& plans);
  Result<Written> write_stream(const LogStreamKey& key, const std::vector<const LogChunk*>& chunks);
  Result<void> sync(const std::vector<Written>& written, const Plans& plans);
  void undo_write(const Written& written);
  Result<std::optional<std::string>> bytes_of(const LogStreamKey& key, const Kept& kept);
  std::string writer_name() const;

  const FolderLogOptions options_;
  const LogFolder folder_;
  std::atomic<int> generation_ = 0;                 ///< moves on when a sync failed
  std::array<Stripe, 64> stripes_;
};

}  // namespace rota::master::store
