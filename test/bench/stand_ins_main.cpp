// rota-stand-ins ZOOKEEPER POOL COUNT SLOTS [NAMES]: so many light workers until SIGTERM, or until its parent
// ends. With NAMES, those of an earlier process come back; else they are new.
// exit: 0 told to end, 1 ZooKeeper or the port failed, 2 wrong arguments.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <cstdlib>

#include "common/rpc/process_setup.h"
#include "test/bench/stand_ins.h"

int main(int argc, char** argv) {
  if ((argc != 5 && argc != 6) || std::atoi(argv[3]) < 1 || std::atoi(argv[4]) < 1) {
    fmt::print(stderr, "usage: rota-stand-ins ZOOKEEPER POOL COUNT SLOTS [NAMES]\n");
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t ends;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before there are other threads
  rota::rpc::ignore_sigpipe();
  rota::bench::StandIns all({.zookeeper = argv[1], .pool = argv[2], .count = std::atoi(argv[3]),
                             .slots = std::atoi(argv[4]), .names = argc == 6 ? argv[5] : ""});
  if (auto started = all.start(); !started) {
    fmt::print(stderr, "rota-stand-ins: {}\n", started.error().message);
    return 1;
  }
  int signal = 0;
  ::sigwait(&ends, &signal);
  all.stop();
  return 0;
}
