#include "common/base/spared_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "common/base/file.h"
#include "common/base/unique_fd.h"

namespace rota {
namespace {

tl::unexpected<Error> trouble_with(std::string_view what, const std::string& path) {
  return fail(ErrorCode::Unavailable, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

std::string filled_up(std::string_view content) {
  constexpr std::size_t step = SparedFile::kRoomBytes;
  std::string padded(content);
  padded.resize((content.size() / step + 1) * step, ' ');
  padded.back() = '\n';
  return padded;
}

Result<void> write_in_place(int fd, std::string_view bytes, const std::string& path) {
  for (off_t at = 0; !bytes.empty();) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return trouble_with("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
  return {};
}

/// 0 also when there is no file.
std::size_t size_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

/// Whether this is still the file with that name, and another writer has not replaced it.
bool is_named(int fd, const std::string& path) {
  struct stat opened {}, named {};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

SparedFile::SparedFile(std::string path, mode_t mode)
    : path_(std::move(path)), spare_(path_ + ".spare"), second_(path_ + ".spare2"), mode_(mode) {}

void SparedFile::make_spare() const {
  if (size_of(spare_) >= kRoomBytes) return;
  // Never replaces a spare that another process has just created and writes to.
  (void)::renameat2(AT_FDCWD, second_.c_str(), AT_FDCWD, spare_.c_str(), RENAME_NOREPLACE);
  if (size_of(spare_) < kRoomBytes) (void)write_to_spare(filled_up(""));
}

void SparedFile::make_room() const {
  make_spare();
  if (size_of(path_) >= kRoomBytes) return;
  if (const auto text = read_file(path_)) (void)write(*text);
}

/// Writes the content to the spare, on disk; the result holds the lock that keeps other writers away. The
/// names must be on disk first: otherwise, after a crash, the path could name the file that the last exchange
/// brought here, half overwritten.
Result<UniqueFd> SparedFile::write_to_spare(std::string_view padded) const {
  if (auto synced = sync_folder_of(path_); !synced) return fail(synced.error());
  UniqueFd fd(::open(spare_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_));
  if (!fd.is_open()) return trouble_with("open", spare_);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 || !is_named(fd.get(), spare_)) {
    return fail(ErrorCode::Conflict, "another process writes " + spare_);
  }
  if (auto written = write_in_place(fd.get(), padded, spare_); !written) return fail(written.error());
  if (::ftruncate(fd.get(), static_cast<off_t>(padded.size())) != 0) return trouble_with("cut", spare_);
  if (::fdatasync(fd.get()) != 0) return trouble_with("sync", spare_);
  return fd;
}

/// Spare and file change places. Without a file, or on a file system that cannot exchange (NFS), the spare
/// becomes the file, and there is no spare until there is room for a new one.
Result<void> SparedFile::put_in_place() const {
  const char* const from = spare_.c_str();
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) return {};
  if (::rename(from, path_.c_str()) != 0) return trouble_with("rename into place", path_);
  return {};
}

Result<void> SparedFile::write(std::string_view content) const {
  const std::string padded = filled_up(content);
  make_spare();
  {
    const auto lock = write_to_spare(padded);
    // Another writer, another user's spare (root ended a session), or no room: continue without a spare.
    if (!lock) return write_file_synced(path_, padded, mode_);
    if (auto placed = put_in_place(); !placed) return placed;
  }
  if (auto synced = sync_folder_of(path_); !synced) return synced;
  make_spare();
  return {};
}

Result<void> SparedFile::remove() const {
  const char* const from = path_.c_str();
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, spare_.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (::rename(from, second_.c_str()) == 0 || errno == ENOENT) return {};
  return trouble_with("remove", path_);
}

}  // namespace rota
