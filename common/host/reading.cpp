#include "common/host/reading.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "common/base/file.h"

namespace rota::host {
namespace {

constexpr std::size_t kLargestProcFile = 1u << 20;

std::string content_of(const char* path) {
  return read_file(path, kLargestProcFile).value_or(std::string());
}

std::int64_t count_descriptors() {
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  const std::unique_ptr<DIR, Close> folder(::opendir("/proc/self/fd"));
  std::int64_t count = 0;
  while (folder && ::readdir(folder.get()) != nullptr) ++count;
  return std::max<std::int64_t>(count - 3, 0);  // ".", ".." and this folder's own
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

CpuTicks parse_cpu(std::string_view stat) {
  std::istringstream words{std::string(stat.substr(0, stat.find('\n')))};
  std::string name;
  words >> name;
  CpuTicks ticks;
  std::int64_t value = 0;
  for (int column = 0; column < 8 && words >> value; ++column) {
    ticks.all += value;
    const bool is_idle = column == 3 || column == 4;  // idle and waiting for disks
    if (!is_idle) ticks.busy += value;
  }
  return ticks;
}

MemoryBytes parse_memory(std::string_view meminfo) {
  std::istringstream lines{std::string(meminfo)};
  MemoryBytes memory;
  std::string name, rest;
  std::int64_t kib = 0;
  while (lines >> name >> kib && std::getline(lines, rest)) {
    if (name == "MemTotal:") memory.total = kib * 1024;
    if (name == "MemAvailable:") memory.available = kib * 1024;
  }
  return memory;
}

std::int32_t cpu_percent(const CpuTicks& before, const CpuTicks& after) {
  const std::int64_t all = after.all - before.all;
  if (all <= 0) return 0;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(100 * (after.busy - before.busy) / all, 0, 100));
}

std::int32_t used_percent(const MemoryBytes& memory) {
  if (memory.total <= 0) return 0;
  const std::int64_t used = memory.total - memory.available;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(100 * used / memory.total, 0, 100));
}

HostReading read_host(const std::string& folder) {
  HostReading reading;
  reading.cpu = parse_cpu(content_of("/proc/stat"));
  reading.memory = parse_memory(content_of("/proc/meminfo"));
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) == 0) {
    reading.disk_total_bytes = static_cast<std::int64_t>(disk.f_blocks * disk.f_frsize);
    reading.disk_free_bytes = static_cast<std::int64_t>(disk.f_bavail * disk.f_frsize);
  }
  return reading;
}

ProcessReading read_process() {
  ProcessReading reading;
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  reading.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  std::istringstream pages{content_of("/proc/self/statm")};
  std::int64_t all = 0, resident = 0;
  if (pages >> all >> resident) reading.resident_bytes = resident * ::sysconf(_SC_PAGESIZE);
  const std::string status = content_of("/proc/self/status");
  if (const auto at = status.find("\nThreads:"); at != std::string::npos) {
    reading.threads = static_cast<std::int32_t>(std::atoi(status.c_str() + at + 9));
  }
  reading.open_descriptors = count_descriptors();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    reading.most_descriptors = static_cast<std::int64_t>(limit.rlim_cur);
  }
  return reading;
}

}  // namespace rota::host
