#include "common/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "common/base/unique_fd.h"

namespace rota {
namespace {

Error io_error(std::string_view what, const std::string& path, int err) {
  const ErrorCode code = err == ENOENT ? ErrorCode::NotFound : ErrorCode::Unavailable;
  return Error(code, fmt::format("{} {}: {}", what, path, std::strerror(err)));
}

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(io_error("cannot write", path, errno));
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Result<void> sync_folder_of(const std::string& path) {
  const std::string folder = parent_of(path);
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return fail(io_error("cannot open folder", folder, errno));
  if (::fsync(fd.get()) != 0) return fail(io_error("cannot sync folder", folder, errno));
  return {};
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return fail(io_error("cannot open", path, errno));
  std::string out;
  char buffer[16384];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(io_error("cannot read", path, errno));
    if (n == 0) return out;
    out.append(buffer, static_cast<std::size_t>(n));
    if (out.size() > limit) {
      return fail(ErrorCode::Corrupt, fmt::format("{} is longer than {} bytes", path, limit));
    }
  }
}

namespace {

Result<void> write_and_rename(const std::string& path, std::string_view content, mode_t mode,
                              bool sync) {
  const std::string temporary = fmt::format("{}.{}.new", path, ::getpid());
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!fd.is_open()) return fail(io_error("cannot create", temporary, errno));
  Result<void> done = write_all(fd.get(), content, temporary);
  if (done && sync && ::fsync(fd.get()) != 0) done = fail(io_error("cannot sync", temporary, errno));
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0) {
    done = fail(io_error("cannot rename into place", path, errno));
  }
  if (!done) ::unlink(temporary.c_str());  // leaves no empty file for each start on a full disk
  return done;
}

}  // namespace

Result<void> write_file_synced(const std::string& path, std::string_view content, mode_t mode) {
  if (auto written = write_and_rename(path, content, mode, true); !written) return written;
  return sync_folder_of(path);
}

Result<void> replace_file(const std::string& path, std::string_view content, mode_t mode) {
  return write_and_rename(path, content, mode, false);
}

Result<Names> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), ::closedir);
  Names names;
  if (!listing && errno == ENOENT) return names;
  if (!listing) return fail(io_error("cannot open folder", folder, errno));
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(listing.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return fail(io_error("cannot read folder", folder, errno));
  return names;
}

Result<void> make_folders(const std::string& path, mode_t mode) {
  for (std::size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    const std::string part = path.substr(0, at);
    const mode_t part_mode = at == path.size() ? mode : 0755;
    if (::mkdir(part.c_str(), part_mode) != 0 && errno != EEXIST) {
      return fail(io_error("cannot make folder", part, errno));
    }
  }
  return {};
}

Result<std::string> read_boot_id() {
  auto text = read_file("/proc/sys/kernel/random/boot_id", 100);
  if (text && !text->empty() && text->back() == '\n') text->pop_back();
  return text;
}

std::optional<std::uint64_t> process_start_ticks(pid_t pid) {
  auto text = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  if (!text) return std::nullopt;
  // The second field is the name in parentheses and may contain anything: count from its end.
  const auto close = text->rfind(')');
  if (close == std::string::npos) return std::nullopt;
  const char* at = text->c_str() + close + 1;
  for (int field = 3; field <= 22; ++field) {
    while (*at == ' ') ++at;
    if (field == 22) return std::strtoull(at, nullptr, 10);
    while (*at != ' ' && *at != '\0') ++at;
  }
  return std::nullopt;
}

}  // namespace rota
