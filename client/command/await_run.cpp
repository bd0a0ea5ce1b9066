// Following a run to its end: its logs as they come, then how it ended.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <thread>

#include "client/command/commands.h"
#include "client/command/screen_text.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

constexpr int kPollMs = 1000;  // the server delays the answer until something is new

bool is_final(const std::string& state) {
  return state != "waiting" && state != "queued" && state != "dispatched" && state != "running";
}

/// Writes bytes to stdout or stderr: unchanged to a pipe or file, made harmless on a terminal.
class OutputScreen {
 public:
  explicit OutputScreen(bool raw)
      : is_shown_{!raw && ::isatty(STDOUT_FILENO) == 1, !raw && ::isatty(STDERR_FILENO) == 1} {}
  ~OutputScreen() {
    for (const std::size_t stream : {std::size_t{0}, std::size_t{1}}) put(stream, texts_[stream].rest());
  }
  OutputScreen(const OutputScreen&) = delete;
  OutputScreen& operator=(const OutputScreen&) = delete;

  void take(std::size_t stream, const std::string& bytes) {
    put(stream, is_shown_[stream] ? texts_[stream].show(bytes) : bytes);
  }

 private:
  static void put(std::size_t stream, const std::string& text) {
    std::FILE* out = stream == 0 ? stdout : stderr;
    std::fwrite(text.data(), 1, text.size(), out);
    std::fflush(out);
  }

  const std::array<bool, 2> is_shown_;
  std::array<ScreenText, 2> texts_;
};

/// How far both streams of the newest attempt have been read.
struct Tail {
  std::array<std::int64_t, 2> next{0, 0};
  std::array<bool, 2> complete{false, false};
  std::int32_t attempt = 0;
  std::int64_t missing = 0;
  std::int64_t pruned_ms = 0;

  bool is_complete() const { return complete[0] && complete[1]; }
};

/// Reads a stream once and writes what came. True when something came.
Result<bool> take(Desk& desk, OutputScreen& screen, std::int64_t run, Tail& tail,
                  std::size_t stream, int wait_ms) {
  thrift::LogRequest request;
  request.run = run;
  request.attempt = tail.attempt;
  request.stream = static_cast<std::int32_t>(stream) + 1;
  request.offset = tail.next[stream];
  request.wait_ms = wait_ms;
  auto slice = desk.cluster.read_log(request);
  if (!slice) return fail(slice.error());
  screen.take(stream, slice->bytes);
  if (slice->dropped_bytes > 0) {
    note(fmt::format("[{} bytes are missing here: over the output cap, or the worker had no room]",
                     slice->dropped_bytes));
  }
  tail.next[stream] = slice->next_offset;
  tail.complete[stream] = slice->complete;
  tail.missing += slice->missing_bytes;
  if (slice->__isset.pruned_ms) tail.pruned_ms = slice->pruned_ms;
  return !slice->bytes.empty();
}

void tell_missing(const Tail& tail) {
  if (tail.pruned_ms > 0) {
    note(fmt::format("[{} bytes of output were deleted at {}: their time was over (keep_logs), or the total "
                     "was too large (logs.limit_bytes)]",
                     tail.missing, show_time(tail.pruned_ms)));
  } else if (tail.missing > 0) {
    note(fmt::format("[{} bytes of output did not reach the store, or were damaged there]",
                     tail.missing));
  }
}

int tell_end(const thrift::RunInfo& run, const Tail& tail) {
  tell_missing(tail);
  if (run.state == "succeeded") {
    note(fmt::format("run {} succeeded", run.id));
    return kOk;
  }
  std::string how = run.state;
  if (run.outcome.signal > 0) how += fmt::format(", signal {}", run.outcome.signal);
  if (!run.reason.empty() && run.reason != "none") how += ", " + run.reason;
  if (!run.outcome.message.empty()) {
    how += ": " + printable(run.outcome.message);
  } else if (run.outcome.exit_status > 0) {
    how += fmt::format(": exit status {}", run.outcome.exit_status);
  }
  note(fmt::format("run {} {}", run.id, how));
  return run.state == "skipped" ? kRunSkipped : kRunFailed;
}

/// Says why a run has not begun, once it has waited for a moment, and again when the reason changes.
class WaitingReason {
 public:
  void look(Desk& desk, std::int64_t run, const std::string& state) {
    const MonoTime now = BootClock::now();
    if (state == "running") {
      asked_ = now;
      return;
    }
    if (now - asked_ < kQuiet) return;
    asked_ = now;
    const auto why = desk.cluster.explain(run);
    if (!why || is_final(why->state) || why->state == "running" || why->sentence == told_) return;
    told_ = why->sentence;
    note(fmt::format("run {} has not begun: {}", run, printable(told_)));
  }

 private:
  static constexpr Millis kQuiet{2000};
  MonoTime asked_ = BootClock::now();
  std::string told_;
};

bool is_passing(const Error& error) {
  return exit_status_of(error.code) == kNotReachable || error.code == ErrorCode::TimedOut;
}

}  // namespace

int await_run(Desk& desk, std::int64_t run, bool follow, Millis at_most, bool raw, bool only_while_read) {
  const MonoTime begun = BootClock::now();
  OutputScreen screen(raw);
  WaitingReason reason;
  Tail tail;
  for (;;) {
    if (only_while_read && output_is_closed()) return kOk;
    if (at_most.count() > 0 && BootClock::now() - begun > at_most) {
      note(fmt::format("run {} has not ended after {}; it goes on (rota run show {}, rota run cancel {})",
                       run, format_duration(at_most), run, run));
      return kTimedOut;
    }
    auto detail = desk.cluster.get_run(run);
    if (!detail) {
      if (!is_passing(detail.error())) return complain(detail.error());
      note(fmt::format("waiting for the cluster: {}", detail.error().message));
      std::this_thread::sleep_for(Millis{500});  // between two tries to reach anybody
      continue;
    }
    const bool ended = is_final(detail->run.state);
    if (ended && !follow) return tell_end(detail->run, Tail{});
    if (!ended) reason.look(desk, run, detail->run.state);
    if (detail->run.attempt > 0 && detail->run.attempt != tail.attempt) {
      if (tail.attempt > 0) note(fmt::format("[attempt {}]", detail->run.attempt));
      tail = Tail{};
      tail.attempt = detail->run.attempt;
    }
    if (tail.attempt == 0 && ended) return tell_end(detail->run, Tail{});
    if (tail.attempt == 0 || !follow) {
      std::this_thread::sleep_for(Millis{follow ? 20 : 50});
      continue;
    }
    bool any = false;
    for (std::size_t stream : {std::size_t{1}, std::size_t{0}}) {
      if (tail.complete[stream]) continue;
      auto came = take(desk, screen, run, tail, stream, stream == 0 && !any && !ended ? kPollMs / 5 : 0);
      if (!came && !is_passing(came.error())) return complain(came.error());
      any = any || (came && *came);
    }
    if (ended && tail.is_complete()) return tell_end(detail->run, tail);
    if (ended && !any) std::this_thread::sleep_for(Millis{50});  // its last lines are on their way
  }
}

Result<Millis> wait_limit_of(const std::string& text) {
  if (text.empty()) return Millis{0};
  auto limit = parse_duration(text);
  if (limit && *limit > Millis{0}) return *limit;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("--wait-at-most takes a duration such as 5m, not '{}'", printable(text)));
}

int run_wait(Desk& desk, const WaitArguments& arguments) {
  auto run = run_id_from(arguments.run);
  if (!run) return complain(run.error());
  auto at_most = wait_limit_of(arguments.wait_at_most);
  if (!at_most) return complain(at_most.error());
  const int status = await_run(desk, *run, arguments.follow, *at_most);
  if (desk.prints_data() && !arguments.follow) run_show(desk, arguments.run);
  return status;
}

int run_logs(Desk& desk, const LogsArguments& arguments) {
  auto run = run_id_from(arguments.run);
  if (!run) return complain(run.error());
  if (arguments.follow) {
    const int status = await_run(desk, *run, true, Millis{0}, arguments.raw, true);
    return status == kRunFailed ? static_cast<int>(kOk) : status;  // reading the log went well
  }
  auto detail = desk.cluster.get_run(*run);
  if (!detail) return complain(detail.error());
  if (detail->run.attempt == 0) return kOk;  // never started: no output
  Tail tail;
  tail.attempt = arguments.attempt;
  OutputScreen screen(arguments.raw);
  for (std::size_t stream : {std::size_t{0}, std::size_t{1}}) {
    if (stream == 0 && arguments.standard_error_only) continue;
    if (stream == 1 && arguments.standard_output_only) continue;
    // After a run has ended, its last lines may still be on their way. The server says when it has
    // sent everything that will come.
    const bool ended = is_final(detail->run.state);
    for (;;) {
      const std::int64_t before = tail.next[stream];
      auto came = take(desk, screen, *run, tail, stream, ended ? kPollMs : 0);
      if (!came) return complain(came.error());
      if (output_is_closed()) return kOk;
      if (tail.complete[stream] || (!ended && tail.next[stream] == before)) break;
    }
  }
  tell_missing(tail);
  return kOk;
}

}  // namespace rota::client
