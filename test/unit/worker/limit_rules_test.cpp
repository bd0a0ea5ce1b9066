#include "worker/run/limit_rules.h"

#include <doctest/doctest.h>

namespace rota::worker::run {

using warden::KilledBy;

TEST_CASE("limit_rules: each limit is told by its name, and only when it is passed") {
  model::JobLimits limits;
  limits.memory_bytes = 64 << 20;
  limits.processes = 10;
  limits.cpu = Millis{2000};
  limits.folder_bytes = 1 << 20;
  CHECK_FALSE(excess_of(limits, {64 << 20, 10, Millis{2000}, 1 << 20}));
  CHECK_FALSE(excess_of({}, {1ll << 40, 100'000, Millis{1ll << 40}, 1ll << 40}));
  const auto memory = excess_of(limits, {(64 << 20) + 1, 0, Millis{0}, 0});
  REQUIRE(memory);
  CHECK(memory->by == KilledBy::Memory);
  CHECK(memory->text == "used 65 MiB of memory, 64 MiB are allowed");
  CHECK_FALSE(memory->is_wild);
  CHECK(excess_of(limits, {97 << 20, 0, Millis{0}, 0})->is_wild);
  CHECK(excess_of(limits, {0, 11, Millis{0}, 0})->by == KilledBy::Processes);
  CHECK(excess_of(limits, {0, 0, Millis{2001}, 0})->by == KilledBy::Cpu);
  CHECK(excess_of(limits, {0, 0, Millis{0}, (1 << 20) + 1})->by == KilledBy::Folder);
}

TEST_CASE("limit_rules: who looks is needed only for what the kernel does not hold") {
  model::JobLimits limits;
  limits.open_files = 5;
  limits.core_bytes = limits.file_size_bytes = limits.address_space_bytes = 5;
  CHECK_FALSE(needs_looks(limits));
  limits.folder_bytes = 1;
  CHECK(needs_looks(limits));
  limits.memory_bytes = 100;
  CHECK(pause_before_next(limits, {40, 0, Millis{0}, 0}) == Millis{250});
  CHECK(pause_before_next(limits, {60, 0, Millis{0}, 0}) < Millis{100});
}

}  // namespace rota::worker::run
