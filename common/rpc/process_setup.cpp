#include "common/rpc/process_setup.h"

#include <csignal>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <thrift/TOutput.h>  // after <string>, which it forgets to include

#include "common/base/log.h"
#include "common/base/time.h"

namespace rota::rpc {
namespace {

constexpr int kLinesPerSecond = 5;  // a flood of garbage frames must not become a flood of lines

std::mutex output_mutex;
MonoTime second_began;
int lines_in_second = 0;
std::int64_t held_back = 0;

// What the library prints about its threads at every start.
bool is_chatter(std::string_view text) {
  return text.starts_with("TNonblocking: IO thread") ||
         text.starts_with("TNonblockingServer: Serving") ||
         text.starts_with("TNonblockingServer: using") ||
         text.starts_with("TNonblockingServer: IO thread");
}

void thrift_line(const char* text) {
  if (is_chatter(text)) {
    log_debug("rpc", "the Thrift library says", {{"text", text}});
    return;
  }
  std::int64_t hidden = 0;
  {
    std::scoped_lock lock(output_mutex);
    const MonoTime now = BootClock::now();
    if (now - second_began >= std::chrono::seconds{1}) {
      second_began = now;
      lines_in_second = 0;
    }
    if (++lines_in_second > kLinesPerSecond) {
      ++held_back;
      return;
    }
    hidden = std::exchange(held_back, 0);
  }
  log_info("rpc", "the Thrift library says", {{"text", text}, {"held_back", hidden}});
}

}  // namespace

void ignore_sigpipe() { std::signal(SIGPIPE, SIG_IGN); }

void redirect_thrift_output() {
  static std::once_flag once;
  std::call_once(once, [] { apache::thrift::GlobalOutput.setOutputFunction(&thrift_line); });
}

}  // namespace rota::rpc
