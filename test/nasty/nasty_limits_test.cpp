// Programs that use all they can get.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "common/base/file.h"
#include "test/nasty/nasty_worker.h"

namespace rota::testing {

TEST_CASE("nasty: a fork bomb, deaf to every signal, under a limit of processes") {
  NastyWorker it;
  auto item = it.item(nasty("fork_bomb"));
  item.work.limits.__set_processes(50);
  const auto outcome = it.expect(it.start(item), over("processes_exceeded"));
  CHECK(outcome.message.find("50 are allowed") != std::string::npos);
  MESSAGE(outcome.message);
}

TEST_CASE("nasty: allocates everything, under a limit of memory") {
  NastyWorker it;
  auto item = it.item(nasty("eat_memory", 4000));
  item.work.limits.__set_memory_bytes(64 << 20);
  const auto outcome = it.expect(it.start(item), over("memory_exceeded"));
  CHECK(outcome.message.find("64 MiB are allowed") != std::string::npos);
  MESSAGE(outcome.message << " peak_mib=" << (outcome.peak_memory_bytes >> 20));
}

TEST_CASE("nasty: ten that share 48 MiB stay within 200") {
  NastyWorker it;
  auto item = it.item(nasty("share_memory", 48));
  item.work.limits.__set_memory_bytes(200 << 20);
  it.expect(it.start(item), {});
}

TEST_CASE("nasty: its children eat, each below the limit, together above it") {
  NastyWorker it;
  auto item = it.item(by_sh("for i in 1 2 3 4; do " + std::string(NASTY_JOB) +
                            " eat_and_keep 40 & done; wait"));
  item.work.limits.__set_memory_bytes(100 << 20);
  it.expect(it.start(item), over("memory_exceeded"));
}

TEST_CASE("nasty: address space has its own limit") {
  NastyWorker it;
  auto item = it.item(nasty("eat_memory", 4000));
  item.work.limits.__set_address_space_bytes(128 << 20);
  it.expect(it.start(item), exited(12));
}

TEST_CASE("nasty: burns CPU") {
  NastyWorker it;
  SUBCASE("one process, which the kernel ends") {
    auto item = it.item(nasty("burn"));
    item.work.limits.__set_cpu_ms(1000);
    it.expect(it.start(item), over("cpu_exceeded"));
  }
  SUBCASE("many short ones, whose time adds up") {
    auto item = it.item(by_sh("while :; do timeout 0.2 sh -c 'while :; do :; done'; done"));
    item.work.limits.__set_cpu_ms(1000);
    it.expect(it.start(item), over("cpu_exceeded"));
  }
}

TEST_CASE("nasty: the kernel enforces a share of a core, or the worker says that it does not") {
  NastyWorker it;
  const auto held = it.worker().nodes().at(0).kernel_limits;
  auto item = it.item(nasty("burn"));
  item.work.limits.__set_milli_cpus(200);
  item.__set_timeout_ms(2000);
  const auto outcome = it.expect(it.start(item), timed_out());
  if (std::ranges::count(held, std::string("cpus")) > 0) {
    CHECK(outcome.cpu_us < 300 * (outcome.ended_ms - outcome.started_ms));
    CHECK(outcome.message.find("cpus") == std::string::npos);
  } else {
    CHECK(outcome.message.find("cpus: 0.2 was not held") != std::string::npos);
  }
  MESSAGE(outcome.message << " cpu_us=" << outcome.cpu_us);
}

TEST_CASE("nasty: fills its folder") {
  NastyWorker it;
  auto item = it.item(by_sh("i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); sleep 0.02; done"));
  item.work.limits.__set_folder_bytes(8 << 20);
  const auto outcome = it.expect(it.start(item), over("folder_exceeded"));
  CHECK(outcome.message.find("8 MiB are allowed") != std::string::npos);
}

TEST_CASE("nasty: fills a deep tree in its folder") {
  NastyWorker it;
  auto item = it.item(by_python("import os, time\nfor i in range(150): os.mkdir('d'); os.chdir('d')\n"
                                "for i in range(64):\n  open(str(i), 'wb').write(b'x' * 1000000)\n"
                                "  time.sleep(0.02)\ntime.sleep(600)"));
  item.work.limits.__set_folder_bytes(8 << 20);
  it.expect(it.start(item), over("folder_exceeded"));
}

TEST_CASE("nasty: one file too large") {
  NastyWorker it;
  auto item = it.item(by_sh("exec head -c 10000000 /dev/zero > big"));
  item.work.limits.__set_file_size_bytes(1 << 20);
  it.expect(it.start(item), {"failed", "file_size_exceeded", -1, SIGXFSZ});
}

TEST_CASE("nasty: opens more than it may") {
  NastyWorker it;
  auto item = it.item(by_python("import os, sys\nn = 0\ntry:\n  while n < 5000:\n    os.dup(0)\n    n += 1\n"
                                "except OSError: pass\nprint(n)\nsys.exit(3)"));
  item.work.limits.__set_open_files(64);
  const auto run = it.start(item);
  const auto outcome = it.expect(run, exited(3));
  CHECK(std::atoi(it.text(run, 1, outcome.stdout_bytes).c_str()) < 64);
}

TEST_CASE("nasty: nice and umask are the job's") {
  NastyWorker it;
  auto item = it.item(by_sh("nice; umask; ulimit -c; cat /proc/self/oom_score_adj"));
  item.work.__set_nice(7);
  item.work.__set_umask(077);
  const auto run = it.start(item);
  const auto outcome = it.expect(run, {});
  const int nice = std::min(::getpriority(PRIO_PROCESS, 0) + 7, 19);
  // A process that may not lower it keeps a higher one.
  const int score = std::max(500, std::atoi(read_file("/proc/self/oom_score_adj").value_or("0").c_str()));
  const std::string text = it.text(run, 1, outcome.stdout_bytes);
  const std::string most = std::to_string(nice) + "\n0077\n0\n";
  CHECK_MESSAGE((text == most + "500\n" || text == most + std::to_string(score) + "\n"), text);
}

TEST_CASE("nasty: an environment that no kernel accepts") {
  NastyWorker it;
  auto item = it.item({"/bin/true"});
  for (int i = 0; i < 60; ++i) item.work.environment["V" + std::to_string(i)] = std::string(50'000, 'v');
  item.work.__isset.environment = true;
  const auto outcome = it.expect(it.start(item), {"failed", "start_failed", -1, 0});
  CHECK(outcome.message.find("Argument list too long") != std::string::npos);
}

TEST_CASE("nasty: a limit that the proper's own death does not lift") {
  NastyWorker it;
  const std::string go = it.scratch("go");
  auto item = it.item(by_sh("while [ ! -e " + go + " ]; do sleep 0.02; done; exec " + NASTY_JOB + " eat_memory 4000"));
  item.work.limits.__set_memory_bytes(64 << 20);
  item.work.__set_keep_folder("on_failure");
  const auto run = it.start(item);
  CHECK(it.master().wait_started(run));
  it.kill_proper();
  std::ofstream(go) << "go";
  const auto outcome = it.expect(run, over("memory_exceeded"));
  CHECK(outcome.message.find("kept as") != std::string::npos);
}

}  // namespace rota::testing
