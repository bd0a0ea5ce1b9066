#include "worker/warden/life_lock.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "worker/warden/process_scan.h"

namespace rota::worker::warden {

bool LifeLock::acquire(std::string_view state_dir, Millis patience) {
  const std::string name =
      "rota-warden/" + std::to_string(::geteuid()) + "/" + state_token(state_dir);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);  // a leading NUL: no file
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const MonoTime deadline = BootClock::now() + patience;
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  while (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    if (errno != EADDRINUSE || BootClock::now() >= deadline) return false;
    ::poll(nullptr, 0, 5);
  }
  socket_ = std::move(socket);
  return true;
}

}  // namespace rota::worker::warden
