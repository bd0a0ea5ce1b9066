#include "test/bench/leader.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "test/bench/rows.h"

namespace rota::bench {
namespace {

using master::store::Connection;
using master::store::Row;

constexpr Millis kTakeoverPatience{120'000};
constexpr Millis kReturnPatience{60'000};
constexpr Millis kReturnLook{50};
constexpr Millis kSettledLife{3500};  // the watchdog then starts it again at once

int pid_of(const Surroundings& where, const std::string& name) {
  int pid = 0;
  std::ifstream(where.cluster_folder + "/" + name + "/" + name + ".pid") >> pid;
  return pid;
}

/// How many masters stand, by the word of any; 0 when nobody answers.
std::size_t count_masters(const Surroundings& where) {
  client::Cluster cluster(where.client());
  const auto status = cluster.cluster_status();
  return status && !status->leader.empty() ? status->masters.size() : 0;
}

}  // namespace

Result<Leader> find_leader(const Surroundings& where, Connection& connection) {
  Leader leader;
  std::string address;
  auto asked = connection.stream("SELECT value, address FROM epoch WHERE partition_no = 1",
                                 [&](Row& row) -> Result<void> {
                                   leader.epoch = row.integer();
                                   address = row.text();
                                   return {};
                                 });
  if (!asked) return fail(asked.error());
  const auto at = std::ranges::find(where.masters, address);
  if (at == where.masters.end())
    return fail(ErrorCode::NotFound, "nobody of this cluster leads: " + address);
  leader.name = fmt::format("master-{}", at - where.masters.begin() + 1);
  leader.pid = pid_of(where, leader.name);
  if (leader.pid <= 0) return fail(ErrorCode::NotFound, "no pid file of " + leader.name);
  return leader;
}

Result<int> find_follower(const Surroundings& where, const Leader& leader) {
  for (std::size_t i = 1; i <= where.masters.size(); ++i) {
    const std::string name = fmt::format("master-{}", i);
    const int pid = name == leader.name ? 0 : pid_of(where, name);
    if (pid > 0) return pid;
  }
  return fail(ErrorCode::NotFound, "no other master runs");
}

Result<Leader> kill_leader(const Surroundings& where, Connection& connection,
                           const Leader& leader) {
  if (::kill(leader.pid, SIGKILL) != 0)
    return fail(ErrorCode::NotFound, leader.name + " does not run");
  auto epoch = await_number(connection, "SELECT value FROM epoch WHERE partition_no = 1",
                            leader.epoch, kTakeoverPatience);
  if (!epoch) return fail(epoch.error());
  return find_leader(where, connection);
}

Result<void> await_return(const Surroundings& where, const Leader& killed) {
  const MonoTime give_up = BootClock::now() + kReturnPatience;
  while (BootClock::now() < give_up) {
    const int pid = pid_of(where, killed.name);
    if (pid > 0 && pid != killed.pid && count_masters(where) == where.masters.size()) {
      std::this_thread::sleep_for(kSettledLife);
      return {};
    }
    std::this_thread::sleep_for(kReturnLook);
  }
  return fail(ErrorCode::TimedOut, killed.name + " is not back after 60 s");
}

Result<Leader> change_leader(const Surroundings& where, Connection& connection) {
  auto old = find_leader(where, connection);
  if (!old) return old;
  auto next = kill_leader(where, connection, *old);
  if (!next) return next;
  if (auto back = await_return(where, *old); !back) return fail(back.error());
  return next;
}

}  // namespace rota::bench
