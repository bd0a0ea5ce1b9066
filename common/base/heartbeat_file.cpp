#include "common/base/heartbeat_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/unique_fd.h"

namespace rota {

HeartbeatFile::HeartbeatFile(std::string path, Millis every)
    : path_(std::move(path)), every_(every) {}

void HeartbeatFile::beat(std::string_view word, MonoTime now) {
  if (path_.empty() || (word == word_ && now - last_ < every_)) return;
  UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.is_open()) return;
  const std::string text = std::string(word) + "\n";
  if (::write(fd.get(), text.data(), text.size()) < 0) return;
  word_ = word;
  last_ = now;
}

}  // namespace rota
