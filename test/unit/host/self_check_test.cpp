#include <doctest/doctest.h>

#include "common/host/reading.h"
#include "common/host/self_check_rules.h"

using namespace rota::host;

TEST_CASE("host reading: reads busy and idle ticks, and memory, from the texts of /proc") {
  const CpuTicks cpu = parse_cpu("cpu  10 20 30 400 50 6 7 8 900 1000\ncpu0 1 2 3 4\n");
  CHECK(cpu.busy == 10 + 20 + 30 + 6 + 7 + 8);
  CHECK(cpu.all == cpu.busy + 450);
  const MemoryBytes memory = parse_memory("MemTotal:   1000 kB\nMemFree: 5 kB\nMemAvailable:    250 kB\n");
  CHECK(used_percent(memory) == 75);
  CHECK(cpu_percent({10, 100}, {60, 200}) == 50);
  CHECK(cpu_percent({10, 100}, {10, 100}) == 0);
  CHECK(parse_cpu("").all == 0);
  CHECK(used_percent(parse_memory("nonsense")) == 0);
}

TEST_CASE("host reading: this host has memory, a disk and descriptors") {
  const HostReading host = read_host("/");
  CHECK(host.memory.total > 0);
  CHECK(host.disk_total_bytes > 0);
  CHECK(host.cpu.all > 0);
  const ProcessReading process = read_process();
  CHECK(process.open_descriptors >= 3);
  CHECK(process.threads >= 1);
  CHECK(process.resident_bytes > 0);
  CHECK(read_host("/no/such/folder").disk_total_bytes == 0);
}

TEST_CASE("self check: names each problem with its figures, and nothing else") {
  HostReading host;
  host.memory = {1000, 500};
  host.disk_total_bytes = 100ll << 30;
  host.disk_free_bytes = 50ll << 30;
  ProcessReading process;
  process.open_descriptors = 10;
  process.most_descriptors = 100;
  CHECK(host_troubles(host, process, "/d").empty());
  host.disk_free_bytes = 1ll << 30;
  host.memory.available = 10;
  process.open_descriptors = 90;
  const auto troubles = host_troubles(host, process, "/d");
  REQUIRE(troubles.size() == 3);
  CHECK(troubles[0] == "disk: 1024 MiB free (1 %) at /d");
  CHECK(verdict_of(troubles).starts_with("degraded: disk: 1024 MiB free (1 %) at /d; memory: "));
  CHECK(verdict_of({"", ""}) == "ok");
}

TEST_CASE("self check: a process that still waits for its start is starting, not degraded") {
  const std::vector<std::string> awaited = {"zookeeper: not registered", "", "leader: no word yet"};
  CHECK(verdict_of({""}, awaited, rota::Millis{1000}) == "starting: zookeeper: not registered; leader: no word yet");
  CHECK(verdict_of({}, awaited, kStartTime) == "degraded: zookeeper: not registered; leader: no word yet");
  CHECK(verdict_of({"disk: full"}, awaited, rota::Millis{0}) ==
        "degraded: disk: full; zookeeper: not registered; leader: no word yet");
  CHECK(verdict_of({}, {""}, rota::Millis{0}) == "ok");
}

TEST_CASE("self check: five percent of a very large disk is plenty") {
  HostReading host;
  host.disk_total_bytes = 1000ll << 30;
  host.disk_free_bytes = 20ll << 30;
  CHECK(host_troubles(host, {}, "/d").empty());
  host.disk_free_bytes = 100ll << 20;
  CHECK(host_troubles(host, {}, "/d").size() == 1);
}

TEST_CASE("self check: a queue that is nearly full is a backlog") {
  CHECK(backlog_trouble("inbox", 80, 100) == "");
  CHECK(backlog_trouble("inbox", 81, 100) == "backlog: inbox 81 % full (81 of 100)");
  CHECK(backlog_trouble("inbox", 5, 0) == "");
}
