// The moments of one run.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/table.h"
#include "client/timeline.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

nlohmann::json to_json(const TimelineRow& row) {
  return {{"attempt", row.attempt},
          {"what", row.what},
          {"at_ms", row.at_ms ? nlohmann::json(*row.at_ms) : nlohmann::json(nullptr)},
          {"after_ms", row.after_ms ? nlohmann::json(*row.after_ms) : nlohmann::json(nullptr)},
          {"note", row.note}};
}

std::string after_text(const TimelineRow& row) {
  if (!row.after_ms) return "-";
  const std::string sign = *row.after_ms < 0 ? "-" : "+";
  return sign + format_duration(Millis{*row.after_ms < 0 ? -*row.after_ms : *row.after_ms});
}

}  // namespace

int run_timeline(Desk& desk, const std::string& run) {
  const auto id = run_id_from(run);
  if (!id) return complain(id.error());
  const auto detail = desk.cluster.get_run(*id);
  if (!detail) return complain(detail.error());
  const std::vector<TimelineRow> rows = timeline_of(*detail);
  if (desk.prints_data()) {
    nlohmann::json out = nlohmann::json::array();
    for (const TimelineRow& row : rows) out.push_back(to_json(row));
    print_data(
        desk.format,
        {{"run", run}, {"job", detail->run.job_name}, {"state", detail->run.state}, {"timeline", out}});
    return kOk;
  }
  Table table({"ATTEMPT", "WHAT", "AT", "AFTER", ""});
  for (const TimelineRow& row : rows) {
    table.add({row.attempt == 0 ? "" : std::to_string(row.attempt), row.what,
               row.at_ms ? show_time(*row.at_ms) : "not known", after_text(row), row.note});
  }
  print_text(table.text());
  return kOk;
}

}  // namespace rota::client
