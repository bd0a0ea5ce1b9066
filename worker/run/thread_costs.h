// What the calling thread has used since it began, as the kernel counts it. Memory is not counted by thread.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <ctime>
#include <optional>

namespace rota::worker::run {

struct ThreadCosts {
  std::optional<std::int64_t> cpu_us;
  std::optional<std::int64_t> read_bytes;     ///< from disks
  std::optional<std::int64_t> written_bytes;  ///< towards disks

  static ThreadCosts now() {
    constexpr std::int64_t kBlockBytes = 512;
    ThreadCosts out;
    timespec used{};
    if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0) {
      out.cpu_us = used.tv_sec * std::int64_t{1'000'000} + used.tv_nsec / 1000;
    }
    ::rusage usage{};
    if (::getrusage(RUSAGE_THREAD, &usage) == 0) {
      out.read_bytes = usage.ru_inblock * kBlockBytes;
      out.written_bytes = usage.ru_oublock * kBlockBytes;
    }
    return out;
  }

  /// What came since then; unset where either is not known.
  ThreadCosts since(const ThreadCosts& then) const {
    const auto between = [](std::optional<std::int64_t> from, std::optional<std::int64_t> to) {
      return from && to ? std::optional(*to - *from) : std::nullopt;
    };
    return {between(then.cpu_us, cpu_us), between(then.read_bytes, read_bytes),
            between(then.written_bytes, written_bytes)};
  }
};

}  // namespace rota::worker::run
