#include <doctest/doctest.h>

#include <limits>

#include "common/wire/worker_wire.h"

using namespace rota;

TEST_CASE("worker wire: figures that no host can have are brought into their bounds and named") {
  thrift::WorkerVitals bad;
  bad.__set_cpu_percent(250);
  bad.__set_memory_percent(-1);
  bad.__set_load_percent(100);
  bad.__set_disk_free_bytes(std::numeric_limits<std::int64_t>::max());
  bad.__set_threads(-5);
  bad.__set_doubt("what a worker says about doubt counts for nothing");
  const model::WorkerVitals vitals = wire::from_wire(bad);
  CHECK(vitals.cpu_percent == 100);
  CHECK(vitals.memory_percent == 0);
  CHECK(vitals.load_percent == 100);
  CHECK(vitals.threads == 0);
  CHECK(vitals.doubt == "cpu_percent 250, memory_percent -1, disk_free_bytes 9223372036854775807, threads -5");
  CHECK(wire::to_wire(vitals).doubt == vitals.doubt);
}

TEST_CASE("worker wire: good figures leave no doubt") {
  thrift::WorkerVitals good;
  good.__set_cpu_percent(100);
  good.__set_threads(3);
  CHECK(wire::from_wire(good).doubt.empty());
  CHECK_FALSE(bool{wire::to_wire(wire::from_wire(good)).__isset.doubt});
}

TEST_CASE("worker wire: what an attempt uses is bounded, and its rate is not known when it is not said") {
  thrift::AttemptUsage in;
  in.usage.__set_cpu_us(-1);
  in.usage.__set_memory_bytes(std::numeric_limits<std::int64_t>::max());
  in.usage.__set_processes(-3);
  model::AttemptUsage usage = wire::from_wire(in);
  CHECK(usage.cpu_us == 0);
  CHECK(usage.memory_bytes == std::int64_t{1} << 60);
  CHECK(usage.processes == 0);
  CHECK_FALSE(usage.cpu_percent);
  in.usage.__set_cpu_percent(std::numeric_limits<std::int32_t>::min());
  CHECK(wire::from_wire(in).cpu_percent == 0);
  in.usage.__set_cpu_percent(123);
  CHECK(wire::to_wire(wire::from_wire(in)).usage.cpu_percent == 123);
}
