// A small file that can be replaced safely even while its disk is full (otherwise like write_file_synced). A
// spare file of the same size beside it (path.spare) reserves the room for the next content. The content is
// written into the spare, in place, and synced. Then the two files change places in one step of the file
// system (renameat2, RENAME_EXCHANGE), which needs no block on ext4, xfs and tmpfs.
//
// The file under the path itself is never written to. So a reader, also of another version of Rota, need not
// know the spare, and a writer may replace the file by a plain rename. Nobody reads what a crash leaves in
// the spare. The content is filled up with blanks, so that an exchange never loses blocks: content that is
// kept here must tolerate blanks at its end.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace rota {

/// Thread: any. Of two simultaneous writers, also in two processes, one wins with its whole content.
class SparedFile {
 public:
  /// Contents up to this size have reserved room; longer ones need free disk space.
  static constexpr std::size_t kRoomBytes = 4096;

  explicit SparedFile(std::string path, mode_t mode = 0644);

  /// Creates the spare, and extends a file of an older version to the same size. Best effort, to be called
  /// at a start: while the disk is full, only the files that existed before are there.
  void make_room() const;
  /// Like write_file_synced: a crash leaves the old or the new content. Unavailable: the old content stays,
  /// or the new one may not be on disk; calling again is harmless.
  Result<void> write(std::string_view content) const;
  /// Removes the file but keeps its room. Fine when there is no file.
  Result<void> remove() const;

  const std::string& path() const { return path_; }

 private:
  Result<UniqueFd> write_to_spare(std::string_view padded) const;
  Result<void> put_in_place() const;
  void make_spare() const;

  const std::string path_, spare_;
  const std::string second_;  ///< where a removed file waits to become the spare
  const mode_t mode_;
};

}  // namespace rota
