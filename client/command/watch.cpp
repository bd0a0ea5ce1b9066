// Repeats a command that shows something until it is interrupted.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "client/command/commands.h"

namespace rota::client {
namespace {

constexpr Millis kBetween{2000};
constexpr const char* kClearScreen = "\x1b[H\x1b[2J";

}  // namespace

int watch(Desk& desk, const std::function<int(Desk&)>& command) {
  const bool is_screen = ::isatty(STDOUT_FILENO) == 1;
  while (true) {
    const std::string now = show_time(to_ms(SystemClock{}.wall()));
    if (is_screen) {
      print_text(fmt::format("{}{}, again every {} s; Ctrl-C ends it\n\n", kClearScreen, now,
                             kBetween.count() / 1000));
    }
    // When the cluster did not answer, the command said so on stderr; it may answer the next time.
    const int status = command(desk);
    if (status == kUsage || status == kNotFound || status == kDenied) return status;
    if (!is_screen && desk.format == Format::Table) print_text("\n");
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace rota::client
