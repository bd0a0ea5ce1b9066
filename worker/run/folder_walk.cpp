#include "worker/run/folder_walk.h"

#include <fcntl.h>

#include <string_view>
#include <utility>

namespace rota::worker::run {

namespace {
/// Names of folders that wait to be entered. Each such folder needs room of its own, which is counted.
constexpr std::size_t kMostNames = 16u << 20;
constexpr std::size_t kOpenLevels = 8;
}  // namespace

FolderWalk::FolderWalk(const std::string& folder) { enter(AT_FDCWD, folder.c_str()); }

bool FolderWalk::go_on(int entries) {
  for (; entries > 0; --entries) {
    if (levels_.empty()) return true;
    if (listing_) {
      list();
    } else if (auto& below = levels_.back().below; !below.empty()) {
      const std::string name = std::move(below.back());
      below.pop_back();
      kept_names_ -= name.size();
      enter(here(), name.c_str());
    } else {
      leave();
    }
  }
  return levels_.empty();
}

/// What cannot be opened, or has gone, is passed over.
void FolderWalk::enter(int parent, const char* name) {
  UniqueFd folder(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!folder.is_open() || ::fstat(folder.get(), &info) != 0) return;
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  listing_.reset(::fdopendir(copy));
  if (!listing_) {
    ::close(copy);
    return;
  }
  const bool is_deep = levels_.size() >= kOpenLevels;
  levels_.push_back({{}, info.st_dev, info.st_ino, {}});
  (is_deep ? deep_ : levels_.back().fd) = std::move(folder);
}

void FolderWalk::list() {
  if (const dirent* const entry = ::readdir(listing_.get())) return see(*entry);
  listing_.reset();
}

void FolderWalk::see(const dirent& entry) {
  const std::string_view name(entry.d_name);
  struct stat info {};
  if (name == "." || name == ".." ||
      ::fstatat(here(), entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return;
  }
  bytes_ += info.st_blocks * 512;
  if (!S_ISDIR(info.st_mode) || kept_names_ + name.size() > kMostNames) return;
  kept_names_ += name.size();
  levels_.back().below.emplace_back(name);
}

/// Back to the folder above; when this one was moved away meanwhile, to the next one that is held open.
void FolderWalk::leave() {
  drop_level();
  while (!levels_.empty() && !levels_.back().fd.is_open() && !climb()) drop_level();
}

/// From a deep folder to the one above it, which must be the one it was entered from.
bool FolderWalk::climb() {
  const Level& wanted = levels_.back();
  UniqueFd above(::openat(deep_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info {};
  if (!above.is_open() || ::fstat(above.get(), &info) != 0) return false;
  if (info.st_dev != wanted.device || info.st_ino != wanted.inode) return false;
  deep_ = std::move(above);
  return true;
}

void FolderWalk::drop_level() {
  for (const std::string& name : levels_.back().below) kept_names_ -= name.size();
  levels_.pop_back();
}

}  // namespace rota::worker::run
