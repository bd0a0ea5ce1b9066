#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/file.h"
#include "common/config/load.h"

namespace rota::config {

Result<std::string> read_secret(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return fail(ErrorCode::NotFound, fmt::format("the secret file {} cannot be found", path));
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::Denied, fmt::format("{} is no regular file", path));
  }
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return fail(ErrorCode::Denied, fmt::format("{} belongs to another user; run chown", path));
  }
  if ((info.st_mode & 0077) != 0) {
    return fail(ErrorCode::Denied,
                fmt::format("{} can be read by others (mode {:04o}); run chmod 600 {}", path,
                            info.st_mode & 07777, path));
  }
  auto text = read_file(path, 4096);
  if (!text) return text;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  return text;
}

}  // namespace rota::config
