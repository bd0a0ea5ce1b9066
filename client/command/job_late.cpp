// `rota job late`: expectations of jobs that were not met.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/listing.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

nlohmann::json late_json(const thrift::LateInfo& info) {
  nlohmann::json out = {{"namespace", info.space}, {"job", info.job},          {"expected", info.what},
                        {"was", info.was},         {"told_at_ms", info.told_ms}};
  if (info.run != 0) out["run"] = info.run;
  if (info.tick_ms != 0) out["tick_ms"] = info.tick_ms;
  if (info.due_ms != 0) out["due_at_ms"] = info.due_ms;
  if (info.limit_ms != 0) out["limit_ms"] = info.limit_ms;
  return out;
}

}  // namespace

int job_late(Desk& desk, const std::string& name, int limit) {
  const auto all = desk.cluster.list_late(desk.space, name, limit);
  if (!all) return complain(all.error());
  Listing list(desk, {"TOLD", "JOB", "EXPECTED", "DUE", "RUN", "TICK", "WAS"});
  for (const auto& info : *all) {
    const std::string due =
        info.due_ms != 0 ? show_time(info.due_ms) : "after " + format_duration(Millis{info.limit_ms});
    list.add([&info] { return late_json(info); },
             {show_time(info.told_ms), info.job, info.what, due,
              info.run == 0 ? "" : std::to_string(info.run),
              info.tick_ms == 0 ? "" : show_time(info.tick_ms), info.was});
  }
  return list.finish();
}

}  // namespace rota::client
