// How much of the slots is in use, and when they end.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/node_json.h"

namespace rota::client {
namespace {

std::string name_of(const thrift::PoolCapacity& pool) { return pool.pool.empty() ? "(all)" : pool.pool; }

std::string reserve_of(const thrift::PoolCapacity& pool) {
  if (pool.slots <= 0) return "no slots";
  if (pool.__isset.short_since_ms) return "short since " + show_time(pool.short_since_ms);
  return pool.below_reserve ? "short now" : "ok";
}

std::string growth_of(const thrift::PoolCapacity& pool) {
  return pool.__isset.growth_per_day ? fmt::format("{:+.1f} a day", pool.growth_per_day)
                                     : "not enough history";
}

std::string end_of(const thrift::PoolCapacity& pool, bool is_known, std::int64_t at_ms) {
  if (is_known) return at_ms <= pool.newest_ms ? "now" : show_time(at_ms);
  return pool.__isset.growth_per_day ? "not within a year" : "-";
}

std::string capacity_text(const thrift::CapacityReport& report) {
  Table table({"POOL", "WORKERS", "SLOTS", "USED", "MOST USED", "FREE", "RESERVE", "GROWTH", "RESERVE ENDS",
               "SLOTS END", "MINUTES"});
  for (const thrift::PoolCapacity& pool : report.pools) {
    table.add({name_of(pool), std::to_string(pool.workers), fmt::format("{:g}", pool.slots),
               fmt::format("{:.1f}", pool.used), std::to_string(pool.used_most),
               pool.slots > 0 ? fmt::format("{:.0f} %", pool.free_percent) : "-", reserve_of(pool),
               growth_of(pool), end_of(pool, pool.__isset.reserve_ends_ms, pool.reserve_ends_ms),
               end_of(pool, pool.__isset.slots_end_ms, pool.slots_end_ms), std::to_string(pool.minutes)});
  }
  return table.text();
}

}  // namespace

int capacity(Desk& desk) {
  const auto report = desk.cluster.capacity();
  if (!report) return complain(report.error());
  if (desk.prints_data()) {
    print_data(desk.format, to_json(*report));
    return kOk;
  }
  print_text(capacity_text(*report));
  note(fmt::format("{} % of the slots should be free; growth is told from {} minutes on, by the line through "
                   "the last 24 hours",
                   report->reserve_percent, report->least_minutes));
  return kOk;
}

}  // namespace rota::client
