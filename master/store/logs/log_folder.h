// Where the files of a folder log store lie, and what is done with them on the disk. A file belongs to
// one stream and to one writer (a life of a master), named in it:
//
//   ROOT/<run / 1024, hex>/<run>/<attempt>.<stream>.<writer>.log
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "master/store/log_store.h"

namespace rota::master::store {

/// One of the two streams of an attempt.
struct LogStreamKey {
  model::AttemptKey attempt;
  LogStream stream = LogStream::Out;
  auto operator<=>(const LogStreamKey&) const = default;
};

/// Thread: any; holds nothing but the path. Errors: Unavailable, with the path and the reason.
class LogFolder {
 public:
  explicit LogFolder(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::string folder_of(RunId run) const;

  /// Names of the files of a stream, sorted; none when there is no such folder.
  Result<std::vector<std::string>> files_of(const LogStreamKey& key) const;
  /// Streams of a run that have files, in order.
  Result<std::vector<LogStreamKey>> streams_of(RunId run) const;
  static std::string name_of(const LogStreamKey& key, std::string_view writer);

  struct Opened {
    UniqueFd file;
    bool is_new = false;              ///< its name is not synced yet
  };
  /// -1 when it is gone.
  std::int64_t size_of(RunId run, const std::string& name) const;
  /// For appending; made with its folders where it is not there.
  Result<Opened> open_to_append(RunId run, const std::string& name) const;
  /// NotFound when it is gone.
  Result<UniqueFd> open_to_read(RunId run, const std::string& name) const;

  /// Takes back what was written behind `length`; a file that then is empty goes. False: it stands.
  bool cut(RunId run, const std::string& name, std::int64_t length) const;

  /// Makes the name of a new file, and of the folders above it, survive.
  Result<void> sync_names(RunId run) const;
  /// Everything at once: for calls that touched many files.
  Result<void> sync_all() const;

  /// Runs beyond `after` that have a folder, in order.
  Result<std::vector<RunId>> runs_after(RunId after, std::size_t limit) const;
  /// Deletes up to `most` files of a run, and its folder when it is empty. How many files.
  Result<std::int32_t> erase(RunId run, std::int32_t most) const;
  /// Of all files of the run; 0 when it has none.
  Result<std::int64_t> bytes_of(RunId run) const;

 private:
  std::string bucket_of(RunId run) const;

  const std::string root_;
};

/// A part of a file, shorter at its end.
Result<std::string> read_part(int file, std::int64_t at, std::size_t bytes);

}  // namespace rota::master::store
