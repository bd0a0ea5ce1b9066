#include "common/base/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/base/file.h"
#include "common/base/utf8.h"

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
                            folder, holder ? shown_text(holder->substr(0, holder->find('\n'))) : "?"));
  }
  // In place, so that it works on a full disk. Only a refusal shows the pid: the lock works without it.
  const std::string text = fmt::format("{}\n", ::getpid());
  const bool is_named = ::pwrite(fd.get(), text.data(), text.size(), 0) >= 0 &&
                        ::ftruncate(fd.get(), static_cast<off_t>(text.size())) == 0;
  (void)is_named;
  return FolderLock(std::move(fd));
}

}  // namespace rota
