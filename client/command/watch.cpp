// Repeats a command that shows something until it is interrupted.
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <thread>

#include "client/command/commands.h"
#include "client/command/screen_look.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

constexpr Millis kPrintedWithin{1000};  // a reader that stands still does not keep Ctrl-C from ending it

/// What is printed while it lives goes into a text. Notes on stderr too, when both are one screen.
class PrintedText {
 public:
  explicit PrintedText(bool with_notes) : memory_(::open_memstream(&text_, &bytes_)) {
    if (memory_ == nullptr) return;
    stdout = memory_;
    if (with_notes) stderr = memory_;
  }
  ~PrintedText() { (void)end(); }
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;

  std::string end() {
    if (memory_ == nullptr) return "";
    stdout = screen_;
    stderr = notes_;
    std::fclose(memory_);
    memory_ = nullptr;
    std::string out(text_, bytes_);
    std::free(text_);
    return out;
  }

 private:
  std::FILE* const screen_ = stdout;
  std::FILE* const notes_ = stderr;
  char* text_ = nullptr;
  std::size_t bytes_ = 0;
  std::FILE* memory_;
};

/// Ctrl-C ends the program with status 0, even in the middle of a question to the cluster, but not in the
/// middle of a document. Make it before other threads: they inherit the blocked signal.
class InterruptEnds {
 public:
  explicit InterruptEnds(bool is_screen) : is_screen_(is_screen) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    waiter_ = std::jthread([this](const std::stop_token& stop) { wait(stop); });
  }
  ~InterruptEnds() {
    waiter_.request_stop();
    ::pthread_kill(waiter_.native_handle(), SIGINT);  // wakes it
  }
  InterruptEnds(const InterruptEnds&) = delete;
  InterruptEnds& operator=(const InterruptEnds&) = delete;

  void print(std::string_view text) {
    std::scoped_lock lock(printing_);
    print_text(text);
  }

 private:
  void wait(const std::stop_token& stop) {
    while (::sigwaitinfo(&signals_, nullptr) != SIGINT) continue;
    if (stop.stop_requested()) return;
    const bool is_printed = printing_.try_lock_for(kPrintedWithin);
    if (is_printed && is_screen_) (void)!::write(STDOUT_FILENO, "\n", 1);
    ::_exit(kOk);
  }

  const bool is_screen_;
  sigset_t signals_;
  std::timed_mutex printing_;
  std::jthread waiter_;  ///< last: it uses the others
};

ScreenSize screen_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

/// Ends early when the reader of stdout goes.
void pause_for(Millis interval) {
  pollfd out{STDOUT_FILENO, 0, 0};
  const int ready = ::poll(&out, 1, static_cast<int>(interval.count()));
  if (ready != 0 && (out.revents & POLLERR) == 0) std::this_thread::sleep_for(interval);
}

/// A list whose rows could not all be read stays without its end, and is not shown.
bool is_whole(const std::string& text) { return !text.empty() && text.back() == '\n'; }

std::string document(Format format, const std::string& text, bool is_first) {
  if (format == Format::Yaml) return "---\n" + text;
  const bool needs_line = format != Format::JsonLine && !is_first;
  return (needs_line ? "\n" : "") + text;
}

}  // namespace

int watch(Desk& desk, const std::function<int(Desk&)>& command, Millis interval) {
  const bool is_screen = ::isatty(STDOUT_FILENO) == 1 && !desk.prints_data();
  const bool is_one_screen = is_screen && ::isatty(STDERR_FILENO) == 1;
  if (desk.format == Format::Json) desk.format = Format::JsonLine;
  InterruptEnds interrupt(is_screen);
  std::string before;
  for (bool is_first = true;;) {
    PrintedText printed(is_one_screen);
    const int status = command(desk);
    const std::string text = printed.end();
    if (status == kUsage || status == kNotFound || status == kDenied) {
      interrupt.print(text);
      return status;
    }
    // When the cluster did not answer, the command said so; it may answer the next time.
    if (is_screen) {
      const std::string head = fmt::format("{}, again every {}; Ctrl-C ends it\n\n",
                                           show_time(to_ms(SystemClock{}.wall())), format_duration(interval));
      interrupt.print(drawn_look(head + text, screen_size(), is_first));
      is_first = false;
    } else if (is_whole(text) && (is_first || without_ages(text) != before)) {
      interrupt.print(document(desk.format, text, is_first));
      before = without_ages(text);
      is_first = false;
    }
    pause_for(interval);
    if (output_is_closed() || output_has_no_reader()) return status_of_output(kOk);
  }
}

}  // namespace rota::client
