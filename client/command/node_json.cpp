#include "client/command/node_json.h"

#include <nlohmann/json.hpp>

#include "job_types.h"

namespace rota::client {

using nlohmann::json;

namespace {

template <typename Value>
json or_null(bool is_set, const Value& value) {
  return is_set ? json(value) : json(nullptr);
}

json minute_json(const thrift::NodeMinute& minute) {
  const auto& has = minute.__isset;
  return {{"at_ms", minute.minute_ms},
          {"state", minute.state},
          {"cpu_percent", or_null(has.cpu_percent, minute.cpu_percent)},
          {"cpu_most_percent", or_null(has.cpu_most_percent, minute.cpu_most_percent)},
          {"memory_percent", or_null(has.memory_percent, minute.memory_percent)},
          {"load_percent", or_null(has.load_percent, minute.load_percent)},
          {"disk_free_bytes", or_null(has.disk_free_bytes, minute.disk_free_bytes)},
          {"threads", or_null(has.threads, minute.threads)},
          {"slots", minute.slots},
          {"running", minute.running},
          {"scheduled", minute.scheduled},
          {"succeeded", minute.succeeded},
          {"failed", minute.failed}};
}

json pool_json(const thrift::PoolCapacity& pool) {
  const auto& has = pool.__isset;
  return {{"pool", pool.pool},
          {"workers", pool.workers},
          {"slots", pool.slots},
          {"used", pool.used},
          {"used_most", pool.used_most},
          {"free_percent", pool.free_percent},
          {"below_reserve", pool.below_reserve},
          {"short_since_at_ms", or_null(has.short_since_ms, pool.short_since_ms)},
          {"minutes", pool.minutes},
          {"newest_at_ms", pool.newest_ms},
          {"growth_per_day", or_null(has.growth_per_day, pool.growth_per_day)},
          {"reserve_ends_at_ms", or_null(has.reserve_ends_ms, pool.reserve_ends_ms)},
          {"slots_end_at_ms", or_null(has.slots_end_ms, pool.slots_end_ms)}};
}

}  // namespace

json to_json(const thrift::MasterNode& master) {
  const auto& has = master.__isset;
  return {{"id", master.id},
          {"address", master.address},
          {"leads", master.leads},
          {"state", master.state},
          {"why", master.why},
          {"elector", master.elector},
          {"database", master.database},
          {"page", master.page},
          {"version", or_null(has.version, master.version)},
          {"started_at_ms", or_null(has.started_ms, master.started_ms)},
          {"cpu_percent", or_null(has.cpu_percent, master.cpu_percent)},
          {"memory_percent", or_null(has.memory_percent, master.memory_percent)},
          {"disk_free_bytes", or_null(has.disk_free_bytes, master.disk_free_bytes)},
          {"threads", or_null(has.threads, master.threads)},
          {"resident_bytes", or_null(has.resident_bytes, master.resident_bytes)},
          {"figures_age_ms", or_null(has.figures_age_ms, master.figures_age_ms)},
          {"answered_in_ms", or_null(has.answered_in_ms, master.answered_in_ms)}};
}

json to_json(const thrift::NodeHistory& history) {
  json minutes = json::array();
  for (const thrift::NodeMinute& minute : history.minutes) minutes.push_back(minute_json(minute));
  return {{"id", history.worker}, {"keep_ms", history.keep_ms}, {"minutes", std::move(minutes)}};
}

json to_json(const thrift::CapacityReport& report) {
  json pools = json::array();
  for (const thrift::PoolCapacity& pool : report.pools) pools.push_back(pool_json(pool));
  return {{"reserve_percent", report.reserve_percent},
          {"least_minutes", report.least_minutes},
          {"pools", std::move(pools)}};
}

json to_json(const thrift::Usage& usage) {
  return {{"cpu_us", usage.cpu_us},
          {"cpu_percent", or_null(usage.__isset.cpu_percent, usage.cpu_percent)},
          {"memory_bytes", usage.memory_bytes},
          {"processes", usage.processes},
          {"age_ms", usage.age_ms}};
}

}  // namespace rota::client
