#include "common/base/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/base/file.h"

namespace rota {

Result<FolderLock> FolderLock::take(const std::string& folder) {
  if (auto made = make_folders(folder); !made) return fail(made.error());
  const std::string path = folder + "/lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.is_open()) {
    return fail(ErrorCode::Unavailable, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    const auto holder = read_file(path, 100);
    return fail(ErrorCode::Conflict,
                fmt::format("{} is in use by process {}; each process needs a state_dir of its own",
                            folder, holder ? holder->substr(0, holder->find('\n')) : "?"));
  }
  const std::string text = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd.get(), 0) != 0 || ::write(fd.get(), text.data(), text.size()) < 0) {
    return fail(ErrorCode::Unavailable, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  return FolderLock(std::move(fd));
}

}  // namespace rota
