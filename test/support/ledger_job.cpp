// A job that keeps a ledger of its own life, so that the jobs, and not Rota, show whether two ever ran at
// once. Appends lines to one file, each by a single write with O_APPEND and an fsync:
//
//   start|beat|end RUN ATTEMPT EPOCH INCARNATION MONOTONIC_US JOB TICK_MS PID
//
// "beat" every 20 ms. The names come from ROTA_RUN_ID, ROTA_ATTEMPT, ROTA_EPOCH, ROTA_INCARNATION,
// ROTA_JOB, ROTA_TICK_MS; "-" where one is missing. The time is CLOCK_BOOTTIME, the same for all
// processes of a host. `test/support/ledger_check.py` reads the file.
//
//   ledger_job FILE DURATION_MS [--until FILE] [--exit STATUS] [--ignore-term] [--print]
//
// With --until, it ends early as soon as that file exists.
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr std::int64_t kBeatUs = 20'000;

struct Options {
  std::string file;
  std::int64_t duration_us = 0;
  std::string until;
  int exit_status = 0;
  bool ignores_term = false;
  bool prints = false;
};

std::int64_t now_us() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * std::int64_t{1'000'000} + now.tv_nsec / 1000;
}

/// Sleeps until that moment, even when a signal interrupts.
void sleep_until(std::int64_t us) {
  const timespec at{us / 1'000'000, (us % 1'000'000) * 1000};
  while (::clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &at, nullptr) != 0) {
  }
}

std::string named(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? "-" : value;
}

class Ledger {
 public:
  explicit Ledger(const std::string& path)
      : fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)),
        who_(named("ROTA_RUN_ID") + " " + named("ROTA_ATTEMPT") + " " + named("ROTA_EPOCH") + " " +
             named("ROTA_INCARNATION")),
        rest_(named("ROTA_JOB") + " " + named("ROTA_TICK_MS") + " " + std::to_string(::getpid())) {}
  ~Ledger() {
    if (fd_ >= 0) ::close(fd_);
  }
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  bool write(std::string_view what) const {
    const std::string line = std::string(what) + " " + who_ + " " + std::to_string(now_us()) + " " +
                             rest_ + "\n";
    return ::write(fd_, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
           ::fsync(fd_) == 0;
  }

 private:
  int fd_;
  std::string who_, rest_;
};

bool parse(int argc, char** argv, Options& out) {
  if (argc < 3) return false;
  out.file = argv[1];
  out.duration_us = std::strtoll(argv[2], nullptr, 10) * 1000;
  for (int i = 3; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "--ignore-term") {
      out.ignores_term = true;
    } else if (word == "--print") {
      out.prints = true;
    } else if (word == "--until" && i + 1 < argc) {
      out.until = argv[++i];
    } else if (word == "--exit" && i + 1 < argc) {
      out.exit_status = std::atoi(argv[++i]);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs("ledger_job FILE DURATION_MS [--until FILE] [--exit STATUS] [--ignore-term] [--print]\n", stderr);
    return 2;
  }
  if (options.ignores_term) ::signal(SIGTERM, SIG_IGN);
  const Ledger ledger(options.file);
  std::int64_t end = now_us() + options.duration_us;
  if (!ledger.write("start")) {
    std::perror(options.file.c_str());
    return 3;
  }
  for (std::int64_t next = now_us() + kBeatUs; next < end; next = now_us() + kBeatUs) {
    sleep_until(next);
    if (!ledger.write("beat")) return 3;
    if (!options.until.empty() && ::access(options.until.c_str(), F_OK) == 0) end = now_us();
    if (options.prints) std::printf("beat %lld\n", static_cast<long long>(next)), std::fflush(stdout);
  }
  sleep_until(end);
  if (!ledger.write("end")) return 3;
  return options.exit_status;
}
