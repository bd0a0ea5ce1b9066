// A small file that is replaced as write_file_synced does it, and also while its disk is full: room for
// its next content is held by a spare file of the same size beside it (path.spare). The content is written
// into the spare, in place, and synced; then the two change places in one step of the file system
// (renameat2, RENAME_EXCHANGE), which takes no block on ext4, xfs and tmpfs.
//
// What stands under the path is never written to. So a reader, be it of another version of Rota, needs to
// know nothing of the spare, and whoever replaces the file by a plain rename is welcome; whatever a crash
// at any moment leaves in the spare is read by nobody. The content is filled up with blanks, so that no
// exchange gives blocks away: what is kept here must not mind blanks at its end.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace rota {

/// Thread: any; of two writers at one time, in two processes too, one comes last, as a whole.
class SparedFile {
 public:
  /// Contents up to this size have their room; longer ones need a disk that has some.
  static constexpr std::size_t kRoomBytes = 4096;

  explicit SparedFile(std::string path, mode_t mode = 0644);

  /// Makes the spare, and gives a file that a version of before wrote the same size. Best effort, to be
  /// called at a start: while the disk is full there is what was there before.
  void make_room() const;
  /// As write_file_synced: a crash leaves the old or the new content. Unavailable: the old one stands,
  /// or it is not known to be on disk; calling again is harmless.
  Result<void> write(std::string_view content) const;
  /// Takes the file away, but not its room. None there: fine.
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
