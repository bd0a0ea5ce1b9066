#include "worker/warden/complain.h"

#include <unistd.h>

#include <string>

namespace rota::worker::warden {

void complain(std::string_view what, std::string_view detail) {
  std::string line = "rota-warden: ";
  line.append(what).append(": ").append(detail).append("\n");
  if (::write(2, line.data(), line.size()) < 0) return;  // nobody listens: nothing to be done
}

}  // namespace rota::worker::warden
