#include "worker/run/folder_removal.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "common/base/unique_fd.h"

namespace rota::worker::run {

namespace {

/// Works on one level only: a folder that is not empty is moved up to the top first. So the depth never
/// matters, neither to descriptors nor to the length of paths.
class Removal {
 public:
  explicit Removal(int top) : top_(top) {}

  void run() {
    empty_folder(top_, true);
    while (!waiting_.empty()) {
      const std::string name = std::move(waiting_.back());
      waiting_.pop_back();
      const UniqueFd folder(open_folder(top_, name.c_str()));
      if (folder.is_open()) empty_folder(folder.get(), false);
      if (::unlinkat(top_, name.c_str(), AT_REMOVEDIR) != 0) note(name);
    }
  }
  const std::string& trouble() const { return trouble_; }

 private:
  void note(const std::string& name) {
    if (trouble_.empty() && errno != ENOENT) trouble_ = name + ": " + std::strerror(errno);
  }

  static int open_folder(int parent, const char* name) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = ::openat(parent, name, kFlags);
    if (fd < 0 && errno == EACCES && ::fchmodat(parent, name, 0700, 0) == 0) {
      fd = ::openat(parent, name, kFlags);
    }
    return fd;
  }

  /// Removes the flags that forbid changes (chattr +i, +a). Only root can set them, so a job of root may
  /// have.
  static bool unlock(int fd) {
    int flags = 0;
    if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return false;
    if ((flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)) == 0) return false;
    flags &= ~(FS_IMMUTABLE_FL | FS_APPEND_FL);
    return ::ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
  }

  static bool unlock(int folder, const std::string& name) {
    struct stat info {};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return false;  // opening a device may do something
    const UniqueFd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    return fd.is_open() && unlock(fd.get());
  }

  /// With errno as of unlink when it has failed.
  static bool remove_file(int folder, const std::string& name) {
    if (::unlinkat(folder, name.c_str(), 0) == 0) return true;
    if (errno != EPERM) return false;
    unlock(folder, name);
    return ::unlinkat(folder, name.c_str(), 0) == 0;
  }

  /// Names first: what is moved while a folder is read might be read again.
  static std::vector<std::string> names_in(int folder) {
    std::vector<std::string> names;
    const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const listing = copy < 0 ? nullptr : ::fdopendir(copy);
    if (listing == nullptr) {
      if (copy >= 0) ::close(copy);
      return names;
    }
    while (const dirent* entry = ::readdir(listing)) {
      const std::string_view name(entry->d_name);
      if (name != "." && name != "..") names.emplace_back(name);
    }
    ::closedir(listing);
    return names;
  }

  void empty_folder(int folder, bool is_top) {
    unlock(folder);
    ::fchmod(folder, 0700);
    for (const std::string& name : names_in(folder)) {
      if (remove_file(folder, name)) continue;
      if (errno != EISDIR && errno != EPERM) {
        note(name);
        continue;
      }
      if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) continue;
      if (is_top) {
        waiting_.push_back(name);
      } else {
        move_up(folder, name);
      }
    }
  }

  void move_up(int folder, const std::string& name) {
    const std::string fresh = ".rota-" + std::to_string(::getpid()) + "-" + std::to_string(moved_++);
    if (::renameat(folder, name.c_str(), top_, fresh.c_str()) != 0) {
      // A folder that may not be written to cannot change its "..".
      if (errno != EACCES || ::fchmodat(folder, name.c_str(), 0700, 0) != 0 ||
          ::renameat(folder, name.c_str(), top_, fresh.c_str()) != 0) {
        return note(name);
      }
    }
    waiting_.push_back(fresh);
  }

  const int top_;
  std::uint64_t moved_ = 0;
  std::vector<std::string> waiting_;  ///< folders in the top one
  std::string trouble_;
};

}  // namespace

Result<void> remove_folder(const std::string& folder) {
  const auto refuse = [&](const std::string& why) -> Result<void> {
    return fail(ErrorCode::Unavailable, "remove " + folder + ": " + why);
  };
  if (::unlink(folder.c_str()) == 0 || errno == ENOENT) return {};  // a link or a file in its place
  ::chmod(folder.c_str(), 0700);
  const UniqueFd top(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!top.is_open()) return refuse(std::strerror(errno));
  Removal removal(top.get());
  removal.run();
  if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return {};
  return refuse(removal.trouble().empty() ? std::strerror(errno) : removal.trouble());
}

}  // namespace rota::worker::run
