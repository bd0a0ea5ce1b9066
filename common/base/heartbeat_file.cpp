#include "common/base/heartbeat_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/unique_fd.h"

namespace rota {

HeartbeatFile::HeartbeatFile(std::string path, Millis every)
    : path_(std::move(path)), every_(every) {}

void HeartbeatFile::beat(std::string_view word, MonoTime now) {
  if (path_.empty() || (word == word_ && now - last_ < every_)) return;
  // Not truncated before the write, so that it works on a full disk; without content the time still counts.
  UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.is_open()) return;
  const std::string text = std::string(word) + "\n";
  const bool is_written = ::pwrite(fd.get(), text.data(), text.size(), 0) >= 0 &&
                          ::ftruncate(fd.get(), static_cast<off_t>(text.size())) == 0;
  if (!is_written && ::futimens(fd.get(), nullptr) != 0) return;
  word_ = word;
  last_ = now;
}

}  // namespace rota
