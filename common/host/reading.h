// Load and resources of this host and this process, from /proc and the file system. 0 when unreadable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rota::host {

struct CpuTicks {
  std::int64_t busy = 0;
  std::int64_t all = 0;
};
struct MemoryBytes {
  std::int64_t total = 0;
  std::int64_t available = 0;
};

struct HostReading {
  CpuTicks cpu;                       ///< since the boot, all cores together
  MemoryBytes memory;
  std::int64_t disk_total_bytes = 0;  ///< of the file system that holds the folder
  std::int64_t disk_free_bytes = 0;   ///< for this user
};

struct ProcessReading {
  double cpu_seconds = 0;
  std::int64_t resident_bytes = 0;
  std::int32_t threads = 0;
  std::int64_t open_descriptors = 0;
  std::int64_t most_descriptors = 0;
};

/// Thread: any. Reads a few files of /proc: about 0.1 ms.
HostReading read_host(const std::string& folder);
ProcessReading read_process();

/// The share of busy ticks between two readings, 0 to 100; 0 when no tick has passed.
std::int32_t cpu_percent(const CpuTicks& before, const CpuTicks& after);
std::int32_t used_percent(const MemoryBytes& memory);

/// Pure: the first line of /proc/stat; MemTotal and MemAvailable of /proc/meminfo.
CpuTicks parse_cpu(std::string_view stat);
MemoryBytes parse_memory(std::string_view meminfo);

}  // namespace rota::host
