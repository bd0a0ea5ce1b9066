// `rota autoscale`: how many workers each pool should have, and what hooks were told.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/listing.h"

namespace rota::client {
namespace {

nlohmann::json change_json(const thrift::ScaleChangeInfo& info) {
  nlohmann::json out = {{"sequence", std::to_string(info.id)},
                        {"pool", info.pool},
                        {"before", info.before},
                        {"wanted", info.wanted},
                        {"present", info.present},
                        {"leaving", info.leaving},
                        {"reason", info.reason},
                        {"hook", info.hook},
                        {"stoppable", info.stoppable},
                        {"made_at_ms", info.made_ms},
                        {"epoch", info.epoch},
                        {"state", info.state},
                        {"attempts", info.attempts},
                        {"last_error", info.last_error}};
  if (info.settled_ms != 0) out["settled_at_ms"] = info.settled_ms;
  return out;
}

nlohmann::json pool_scale_json(const thrift::PoolScaleInfo& info) {
  nlohmann::json out = {{"pool", info.pool},
                        {"wanted", info.wanted},
                        {"reason", info.reason},
                        {"workers", info.here},
                        {"leaving", info.leaving},
                        {"stoppable", info.stoppable},
                        {"demand_slots", info.demand},
                        {"load_percent", info.load_percent},
                        {"min_workers", info.min_workers},
                        {"max_workers", info.max_workers},
                        {"configured", info.is_scaled},
                        {"hook", info.hook},
                        {"changed_at_ms", info.changed_ms},
                        {"call", nullptr}};
  if (info.newest.id != 0) out["call"] = change_json(info.newest);
  return out;
}

std::string text_or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// "0 to 10"; nothing where nobody has set anything.
std::string range_of(const thrift::PoolScaleInfo& info) {
  return info.is_scaled ? fmt::format("{} to {}", info.min_workers, info.max_workers) : "-";
}

}  // namespace

int autoscale_list(Desk& desk, const AutoscaleArguments& arguments) {
  const auto all = desk.cluster.list_scaling(arguments.pool);
  if (!all) return complain(all.error());
  Listing list(desk, {"POOL", "WANTED", "WORKERS", "LEAVING", "LOAD %", "REASON", "ALLOWED", "HOOK", "CALL",
                      wide("CHANGED"), wide("STOPPABLE"), wide("LAST ERROR")});
  for (const auto& info : *all) {
    list.add([&info] { return pool_scale_json(info); },
             {info.pool, std::to_string(info.wanted), std::to_string(info.here), std::to_string(info.leaving),
              fmt::format("{:.0f}", info.load_percent), info.reason, range_of(info), text_or_dash(info.hook),
              text_or_dash(info.newest.state), show_time(info.changed_ms),
              text_or_dash(fmt::format("{}", fmt::join(info.stoppable, " "))), info.newest.last_error});
  }
  return list.finish();
}

int autoscale_changes(Desk& desk, const AutoscaleArguments& arguments) {
  const auto all = desk.cluster.list_scale_changes(arguments.pool, arguments.limit);
  if (!all) return complain(all.error());
  Listing list(desk, {"MADE", "POOL", "BEFORE", "WANTED", "WORKERS", "REASON", "HOOK", "STATE", "TRIES",
                      "LAST ERROR", wide("STOPPABLE"), wide("SEQUENCE"), wide("SETTLED")});
  for (const auto& info : *all) {
    list.add([&info] { return change_json(info); },
             {show_time(info.made_ms), info.pool, std::to_string(info.before), std::to_string(info.wanted),
              std::to_string(info.present), info.reason, text_or_dash(info.hook), info.state,
              std::to_string(info.attempts), info.last_error,
              text_or_dash(fmt::format("{}", fmt::join(info.stoppable, " "))), std::to_string(info.id),
              show_time(info.settled_ms)});
  }
  return list.finish();
}

}  // namespace rota::client
