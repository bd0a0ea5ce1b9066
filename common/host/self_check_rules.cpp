#include "common/host/self_check_rules.h"

#include <fmt/format.h>

namespace rota::host {
namespace {

std::int64_t percent_of(std::int64_t part, std::int64_t whole) { return whole > 0 ? 100 * part / whole : 0; }

}  // namespace

std::vector<std::string> host_troubles(const HostReading& host, const ProcessReading& process,
                                       const std::string& folder, const CheckLimits& limits) {
  std::vector<std::string> out;
  const std::int64_t free_percent = percent_of(host.disk_free_bytes, host.disk_total_bytes);
  const bool is_short = free_percent < limits.disk_free_least_percent &&
                        host.disk_free_bytes < limits.disk_free_enough_bytes;
  if (host.disk_total_bytes > 0 && (host.disk_free_bytes < limits.disk_free_least_bytes || is_short)) {
    out.push_back(fmt::format("disk: {} MiB free ({} %) at {}", host.disk_free_bytes >> 20, free_percent,
                              folder));
  }
  const std::int64_t available = percent_of(host.memory.available, host.memory.total);
  if (host.memory.total > 0 && available < limits.memory_available_least_percent) {
    out.push_back(fmt::format("memory: {} MiB available ({} %)", host.memory.available >> 20, available));
  }
  const std::int64_t open = percent_of(process.open_descriptors, process.most_descriptors);
  if (open > limits.descriptors_most_percent) {
    out.push_back(fmt::format("descriptors: {} of {} open; raise the limit (ulimit -n)",
                              process.open_descriptors, process.most_descriptors));
  }
  return out;
}

std::string backlog_trouble(const std::string& what, std::int64_t held, std::int64_t most,
                            const CheckLimits& limits) {
  const std::int64_t full = percent_of(held, most);
  if (most <= 0 || full <= limits.backlog_most_percent) return "";
  return fmt::format("backlog: {} {} % full ({} of {})", what, full, held, most);
}

std::string verdict_of(const std::vector<std::string>& troubles,
                       const std::vector<std::string>& awaited, Millis up) {
  std::string out;
  bool is_degraded = false;
  const auto add = [&](const std::vector<std::string>& lines, bool is_trouble) {
    for (const std::string& line : lines) {
      if (line.empty()) continue;
      out += (out.empty() ? "" : "; ") + line;
      is_degraded = is_degraded || is_trouble;
    }
  };
  add(troubles, true);
  add(awaited, up >= kStartTime);
  if (out.empty()) return "ok";
  return (is_degraded ? "degraded: " : "starting: ") + out;
}

}  // namespace rota::host
