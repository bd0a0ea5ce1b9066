#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <string>

#include "common/base/time.h"
#include "test/bench/raw_runs.h"

extern char** environ;

namespace rota::bench {
namespace {

double childrens_cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

Result<Rate> plain_processes(std::int64_t count) {
  const std::string command = "seq " + std::to_string(count) + " | xargs -P2 -n1 /bin/true";
  std::string shell = "sh", flag = "-c", text = command;
  char* const argv[] = {shell.data(), flag.data(), text.data(), nullptr};
  pid_t pid = -1;
  const double cpu_began = childrens_cpu_seconds();
  const MonoTime began = BootClock::now();
  if (::posix_spawn(&pid, "/bin/sh", nullptr, nullptr, argv, environ) != 0) {
    return fail(ErrorCode::Unavailable, "/bin/sh can not be started");
  }
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || status != 0) {
    return fail(ErrorCode::Internal, "xargs failed");
  }
  Rate rate;
  rate.count = count;
  rate.seconds = std::chrono::duration<double>(BootClock::now() - began).count();
  rate.cpu_seconds = childrens_cpu_seconds() - cpu_began;
  return rate;
}

}  // namespace rota::bench
