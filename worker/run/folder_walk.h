// Adds up what a folder needs on the disk, with all below it, in steps: a job that has made very many files
// keeps nobody waiting. Ten descriptors at most, whatever the depth. Follows no link.
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/unique_fd.h"

namespace rota::worker::run {

/// One pass over a folder that may change meanwhile. Thread: one.
class FolderWalk {
 public:
  explicit FolderWalk(const std::string& folder);

  /// Looks at so many entries more. True: all have been seen.
  bool go_on(int entries);
  /// Of what was seen so far.
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Level {
    UniqueFd fd;                     ///< of the upper levels; nobody can move a folder away from it
    dev_t device = 0;
    ino_t inode = 0;
    std::vector<std::string> below;  ///< folders in it that were not entered yet
  };
  struct ListingEnd {
    void operator()(DIR* listing) const { ::closedir(listing); }
  };

  void enter(int parent, const char* name);
  void list();
  void see(const dirent& entry);
  void leave();
  bool climb();
  void drop_level();
  int here() const { return levels_.back().fd.is_open() ? levels_.back().fd.get() : deep_.get(); }

  std::int64_t bytes_ = 0;
  std::size_t kept_names_ = 0;         ///< bytes of all that wait in levels
  UniqueFd deep_;                      ///< the last level's, where it has none of its own
  std::vector<Level> levels_;
  std::unique_ptr<DIR, ListingEnd> listing_;  ///< of the last level, while it is read
};

}  // namespace rota::worker::run
