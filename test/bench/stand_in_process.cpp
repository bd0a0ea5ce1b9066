#include "test/bench/stand_in_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "test/bench/process_times.h"

extern char** environ;

namespace rota::bench {
namespace {

constexpr std::chrono::seconds kOnlinePatience{60};
constexpr Millis kOnlineLook{100};

}  // namespace

Result<void> StandInProcess::start(const Surroundings& where, const std::string& pool, std::int64_t count,
                                   std::int64_t slots, const std::string& names) {
  std::vector<std::string> words{where.program_folder + "/rota-stand-ins", where.zookeeper, pool,
                                 std::to_string(count), std::to_string(slots)};
  if (!names.empty()) words.push_back(names);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (::posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    pid_ = -1;
    return fail(ErrorCode::NotFound, words[0] + " can not be started");
  }
  return {};
}

void StandInProcess::stop() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

double StandInProcess::cpu_seconds() const { return own_cpu_seconds(pid_); }

Result<std::int64_t> count_online(client::Cluster& cluster, const std::string& pool) {
  const auto workers = cluster.list_workers();
  if (!workers) return fail(workers.error());
  return std::ranges::count_if(*workers, [&](const thrift::WorkerInfo& worker) {
    return worker.pool == pool && worker.state == "online";
  });
}

Result<void> await_online(const Surroundings& where, const std::string& pool, std::int64_t count) {
  client::Cluster cluster(where.client());
  const MonoTime give_up = BootClock::now() + kOnlinePatience;
  std::int64_t online = 0;
  while (BootClock::now() < give_up) {
    const auto found = count_online(cluster, pool);
    if (!found) return fail(found.error());
    online = *found;
    if (online == count) return {};
    std::this_thread::sleep_for(kOnlineLook);
  }
  return fail(ErrorCode::TimedOut, fmt::format("{} of {} stand-ins are online after 60 s", online, count));
}

}  // namespace rota::bench
