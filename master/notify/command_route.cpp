// DeliveryRoute over a command. It runs in a process group of its own and inherits no descriptor but the
// three that it is given: the text as standard input, nothing as standard output, a pipe as standard error.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/base/unique_fd.h"
#include "common/base/utf8.h"
#include "master/notify/delivery.h"

extern char** environ;

namespace rota::master::notify {
namespace {

constexpr std::size_t kKeptWords = 1000;  // of its standard error, the first
constexpr Millis kLook{100};              // between two looks at the stop

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::Unavailable, std::string("pipe: ") + std::strerror(errno));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// What posix_spawn needs, freed at the end.
class SpawnPlan {
 public:
  SpawnPlan(const Pipe& in, const Pipe& words) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_adddup2(&files_, in.read.get(), 0);
    ::posix_spawn_file_actions_addopen(&files_, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files_, words.write.get(), 2);
    ::posix_spawn_file_actions_addclosefrom_np(&files_, 3);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    constexpr int kFlags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    ::posix_spawnattr_setflags(&attributes_, static_cast<short>(kFlags));
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  Result<pid_t> start(const std::vector<std::string>& argv) const {
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_t pid = -1;
    const int wrong = ::posix_spawnp(&pid, words.front(), &files_, &attributes_, words.data(), environ);
    if (wrong == 0) return pid;
    return fail(ErrorCode::Unavailable,
                fmt::format("cannot start {}: {}", argv.front(), std::strerror(wrong)));
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

/// A command that was started. Its whole group is gone when this ends.
class Running {
 public:
  explicit Running(pid_t pid) : pid_(pid), process_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  ~Running() { (void)end(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  int process() const { return process_.get(); }
  /// Kills what is left; gives how the command itself ended.
  int end() {
    if (pid_ <= 0) return status_;
    // It is not reaped yet, so the number of the group is still its own.
    (void)::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    return status_;
  }

 private:
  pid_t pid_;
  UniqueFd process_;
  int status_ = 0;
};

/// Feeds the text and hears what the command says until it has ended. False: the time is up, or stop was
/// asked for.
class Talk {
 public:
  Talk(const std::string& text, Pipe& in, Pipe& words) : text_(text), in_(in), words_(words) {
    (void)::fcntl(in_.write.get(), F_SETFL, O_NONBLOCK);
    (void)::fcntl(words_.read.get(), F_SETFL, O_NONBLOCK);
  }

  bool until_end(int process, Millis timeout, const std::stop_token& stop) {
    const MonoTime deadline = BootClock::now() + timeout;
    while (!stop.stop_requested()) {
      const auto left = std::chrono::ceil<Millis>(deadline - BootClock::now());
      if (left <= Millis{0}) return false;
      std::array<pollfd, 3> looks{
          {{process, POLLIN, 0}, {in_.write.get(), POLLOUT, 0}, {words_.read.get(), POLLIN, 0}}};
      (void)::poll(looks.data(), looks.size(), static_cast<int>(std::min(left, kLook).count()));
      if (looks[1].revents != 0) feed();
      if (looks[2].revents != 0) hear();
      if (looks[0].revents == 0) continue;
      if (words_.read.is_open()) hear();
      return true;
    }
    return false;
  }

  const std::string& heard() const { return heard_; }

 private:
  void feed() {
    const ssize_t wrote = ::write(in_.write.get(), text_.data() + fed_, text_.size() - fed_);
    if (wrote > 0) fed_ += static_cast<std::size_t>(wrote);
    const bool is_over = wrote < 0 && errno != EAGAIN && errno != EINTR;  // a command need not read
    if (is_over || fed_ == text_.size()) in_.write.reset();
  }
  void hear() {
    std::array<char, 4096> bytes{};
    ssize_t got = 0;
    while ((got = ::read(words_.read.get(), bytes.data(), bytes.size())) > 0) {
      const std::size_t room = kKeptWords - std::min(kKeptWords, heard_.size());
      heard_.append(bytes.data(), std::min(static_cast<std::size_t>(got), room));
    }
    if (got == 0) words_.read.reset();
  }

  const std::string& text_;
  Pipe& in_;
  Pipe& words_;
  std::size_t fed_ = 0;
  std::string heard_;
};

class CommandRoute final : public DeliveryRoute {
 public:
  explicit CommandRoute(std::vector<std::string> argv) : argv_(std::move(argv)) {}

  Result<std::string> deliver(const std::string& json, Millis timeout, std::stop_token stop) override {
    auto in = make_pipe();
    if (!in) return fail(in.error());
    auto words = make_pipe();
    if (!words) return fail(words.error());
    const auto pid = SpawnPlan(*in, *words).start(argv_);
    if (!pid) return fail(pid.error());
    Running running(*pid);
    in->read.reset();
    words->write.reset();
    Talk talk(json, *in, *words);
    const bool has_ended = talk.until_end(running.process(), timeout, stop);
    const int status = running.end();
    if (!has_ended) {
      return fail(ErrorCode::TimedOut,
                  with_words(fmt::format("had not ended after {} ms, and was killed", timeout.count()),
                             talk.heard()));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return with_words("exit status 0", talk.heard());
    const std::string how = WIFEXITED(status) ? fmt::format("exit status {}", WEXITSTATUS(status))
                                              : fmt::format("ended by signal {}", WTERMSIG(status));
    return fail(ErrorCode::Unavailable, with_words(how, talk.heard()));
  }

 private:
  std::string with_words(const std::string& how, const std::string& heard) const {
    const std::string_view kept = std::string_view(heard).substr(0, heard.find_last_not_of(" \n\r") + 1);
    const std::string words = kept.empty() ? "" : ": " + shown_text(kept, kKeptWords);
    return fmt::format("{}: {}{}", argv_.front(), how, words);
  }

  const std::vector<std::string> argv_;
};

}  // namespace

std::unique_ptr<DeliveryRoute> command_route(std::vector<std::string> argv) {
  return std::make_unique<CommandRoute>(std::move(argv));
}

}  // namespace rota::master::notify
