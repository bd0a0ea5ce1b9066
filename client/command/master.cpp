// Masters with their figures: each master is asked for its own.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/listing.h"
#include "client/command/node_json.h"
#include "client/command/worker_text.h"

namespace rota::client {
namespace {

using thrift::MasterNode;

template <typename Value>
std::string or_nothing(bool is_set, Value value, std::string_view unit) {
  return is_set ? fmt::format("{} {}", value, unit) : "-";
}

std::string or_nothing(const std::string& text) { return text.empty() ? "-" : text; }

std::string threads_of(const MasterNode& master) {
  return master.__isset.threads ? std::to_string(master.threads) : "-";
}

std::string age_of(const MasterNode& master) {
  return master.__isset.figures_age_ms ? seconds_text(master.figures_age_ms) : "-";
}

std::vector<std::string> cells_of(const MasterNode& master) {
  const auto& has = master.__isset;
  return {master.id, master.state, or_nothing(has.cpu_percent, master.cpu_percent, "%"),
          or_nothing(has.memory_percent, master.memory_percent, "%"),
          or_nothing(has.resident_bytes, master.resident_bytes >> 20, "MiB"),
          or_nothing(has.disk_free_bytes, master.disk_free_bytes >> 20, "MiB"), threads_of(master),
          age_of(master), master.address, or_nothing(master.database), or_nothing(master.version),
          master.why};
}

std::string facts_text(const MasterNode& master) {
  const auto& has = master.__isset;
  Table table({"MASTER", master.id});
  table.add({"state", master.state});
  if (!master.why.empty()) table.add({"why", master.why});
  table.add({"address", master.address});
  table.add({"status page", or_nothing(master.page)});
  table.add({"elector", or_nothing(master.elector)});
  table.add({"database", or_nothing(master.database)});
  if (has.version) table.add({"version", master.version});
  if (has.started_ms) table.add({"started", show_time(master.started_ms)});
  if (has.answered_in_ms) table.add({"answered in", fmt::format("{} ms", master.answered_in_ms)});
  if (!has.figures_age_ms) return table.text();
  table.add({"cpu", or_nothing(has.cpu_percent, master.cpu_percent, "%")});
  table.add({"memory", or_nothing(has.memory_percent, master.memory_percent, "%")});
  table.add({"resident", or_nothing(has.resident_bytes, master.resident_bytes >> 20, "MiB")});
  table.add({"disk free", or_nothing(has.disk_free_bytes, master.disk_free_bytes >> 20, "MiB")});
  table.add({"threads", threads_of(master)});
  table.add({"figures of", age_of(master) + " ago"});
  return table.text();
}

}  // namespace

int master_list(Desk& desk) {
  const auto masters = desk.cluster.list_masters();
  if (!masters) return complain(masters.error());
  Listing list(desk, {"MASTER", "STATE", "CPU", "MEMORY", "RESIDENT", "DISK FREE", "THREADS", "AGE",
                      "ADDRESS", "DATABASE", "VERSION", "WHY"});
  for (const MasterNode& master : *masters) {
    if (!list.add([&] { return to_json(master); }, cells_of(master))) break;
  }
  return list.finish();
}

int master_show(Desk& desk, const std::string& id) {
  const auto masters = desk.cluster.list_masters();
  if (!masters) return complain(masters.error());
  const auto found = std::ranges::find(*masters, id, &MasterNode::id);
  if (found == masters->end()) {
    const std::string words =
        fmt::format("no master '{}' is registered; see `rota master list`", printable(id));
    return complain(Error(ErrorCode::NotFound, words));
  }
  if (desk.prints_data()) {
    print_data(desk.format, to_json(*found));
  } else {
    print_text(facts_text(*found));
  }
  return kOk;
}

}  // namespace rota::client
