// The nasty programs that cannot be written in shell: nasty_job DEED [NUMBER].
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

namespace {

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

int ignore_every_signal(long) {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
  std::puts("deaf");
  std::fflush(stdout);
  wait_for_ever();
}

int single_bytes(long count) {
  for (long i = 0; i < count; ++i) {
    const char byte = static_cast<char>('a' + i % 26);
    if (::write(1, &byte, 1) != 1) return 1;
  }
  return 0;
}

[[gnu::noinline]] bool vfork_once() {
  const pid_t pid = ::vfork();
  if (pid == 0) ::_exit(0);
  return pid > 0 && ::waitpid(pid, nullptr, 0) == pid;
}

int vfork_loop(long count) {
  for (long i = 0; i < count; ++i) {
    if (!vfork_once()) return 1;
  }
  return 0;
}

/// Children that end and are never waited for.
int zombies(long count) {
  for (long i = 0; i < count; ++i) {
    if (::fork() == 0) ::_exit(0);
  }
  std::puts("made");
  std::fflush(stdout);
  ::usleep(100'000);
  return 4;
}

/// Grandchildren in sessions of their own, without descriptors; the parent ends at once.
int daemons(long count) {
  for (long i = 0; i < count; ++i) {
    if (::fork() != 0) continue;
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    (void)!::chdir("/");
    ::close_range(0, ~0u, 0);
    ::clearenv();
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
    wait_for_ever();
  }
  ::usleep(50'000);
  return 0;
}

/// As many as allowed, but not more than a test's host can stand.
int fork_bomb(long) {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
  void* const shared = ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 12;
  auto& born = *static_cast<std::atomic<int>*>(shared);
  while (born < 400) {
    if (const pid_t pid = ::fork(); pid > 0) ++born;
    ::usleep(3000);
  }
  wait_for_ever();
}

int eat_memory(long mib) {
  for (long i = 0; i < mib; ++i) {
    void* const part = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (part == MAP_FAILED) return 12;
    std::memset(part, 1, 1 << 20);
    ::usleep(2000);
  }
  return 0;
}

/// All in one call.
int grab_memory(long mib) {
  void* const all = ::mmap(nullptr, static_cast<std::size_t>(mib) << 20, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return all == MAP_FAILED ? 12 : 0;
}

int eat_and_keep(long mib) {
  const int trouble = eat_memory(mib);
  if (trouble == 0) ::sleep(600);
  return trouble;
}

/// Memory that many processes share: resident in each, but present only once.
int share_memory(long mib) {
  const auto size = static_cast<std::size_t>(mib) << 20;
  void* const shared = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 12;
  std::memset(shared, 1, size);
  for (int i = 0; i < 10; ++i) {
    if (::fork() != 0) continue;
    long sum = 0;
    for (std::size_t at = 0; at < size; at += 4096) sum += static_cast<char*>(shared)[at];
    ::usleep(800'000);
    ::_exit(sum == 0 ? 1 : 0);
  }
  int bad = 0, status = 0;
  while (::wait(&status) > 0) bad += status != 0;
  return bad;
}

int burn(long) {
  static volatile bool is_burning = true;
  while (is_burning) {
  }
  return 0;
}

void* nothing_to_do(void*) { wait_for_ever(); }

/// The first thread ends, the others go on: the process looks like a zombie but is not.
int leader_thread_ends(long count) {
  for (long i = 0; i < count; ++i) {
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, nothing_to_do, nullptr);
  }
  std::puts("threads");
  std::fflush(stdout);
  ::pthread_exit(nullptr);
}

/// Seizes every process in its /proc except itself and its pid 1; prints how many it got.
int trace_others(long) {
  int seized = 0;
  DIR* const folder = ::opendir("/proc");
  while (const dirent* entry = ::readdir(folder)) {
    const pid_t pid = ::atoi(entry->d_name);
    if (pid <= 1 || pid == ::getpid()) continue;
    seized += ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0;
  }
  ::closedir(folder);
  std::printf("seized %d, pid 1: %s\n", seized,
              ::ptrace(PTRACE_ATTACH, 1, nullptr, nullptr) == 0 ? "yes" : "no");
  return 0;
}

int tiny_pipe(long bytes) {
  ::fcntl(1, F_SETPIPE_SZ, 4096);
  ::fcntl(1, F_SETFL, O_NONBLOCK);
  const std::string part(1000, 'p');
  for (long done = 0; done < bytes;) {
    const ssize_t written = ::write(1, part.data(), part.size());
    if (written > 0) done += written;
    if (written < 0 && errno != EAGAIN) return 1;
    if (written < 0) ::usleep(100);
  }
  return 0;
}

int exec_chain(long left) {
  if (left == 0) return 5;
  const std::string next = std::to_string(left - 1);
  ::execl("/proc/self/exe", "nasty_job", "exec_chain", next.c_str(), nullptr);
  return 1;
}

int end_with(long status) { return static_cast<int>(status); }

int end_by(long number) {
  ::signal(static_cast<int>(number), SIG_DFL);
  ::raise(static_cast<int>(number));
  wait_for_ever();
}

/// A child that outlives its parent and still prints into the pipe.
int print_after_end(long) {
  if (::fork() == 0) {
    for (;;) {
      (void)!::write(1, "late\n", 5);
      ::usleep(1000);
    }
  }
  (void)!::write(1, "main\n", 5);
  return 6;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<int(long)>> deeds = {
      {"ignore_every_signal", ignore_every_signal}, {"single_bytes", single_bytes},
      {"vfork_loop", vfork_loop},     {"zombies", zombies},       {"daemons", daemons},
      {"fork_bomb", fork_bomb},       {"eat_memory", eat_memory}, {"eat_and_keep", eat_and_keep},
      {"share_memory", share_memory}, {"grab_memory", grab_memory},
      {"burn", burn},                 {"leader_thread_ends", leader_thread_ends},
      {"trace_others", trace_others}, {"tiny_pipe", tiny_pipe},   {"exec_chain", exec_chain},
      {"end_by", end_by},             {"end_with", end_with},             {"print_after_end", print_after_end}};
  const auto deed = deeds.find(argc > 1 ? argv[1] : "");
  if (deed == deeds.end()) return 2;
  return deed->second(argc > 2 ? std::atol(argv[2]) : 0);
}
