#include "client/schedule_checks.h"

#include <string_view>

namespace rota::client {
namespace {

using config::YamlNode;
using model::EntryKind;

/// Where a key like "calendar.day" stands, or as much of it as is written.
config::Mark place_of(const YamlNode& node, std::string_view key) {
  const auto dot = key.find('.');
  const YamlNode* found = node.find(key.substr(0, dot));
  if (found == nullptr) return node.mark;
  return dot == std::string_view::npos ? found->mark : place_of(*found, key.substr(dot + 1));
}

}  // namespace

void tell_broken_rules(const std::vector<model::EntryProblem>& broken, const YamlNode& node,
                       const std::string& source, const std::string& path, config::Problems& problems) {
  for (const model::EntryProblem& each : broken) {
    problems.add(source, place_of(node, each.key), path + "." + each.key, each.what);
  }
}

void refuse_idle_keys(config::MapReader& map, const model::ScheduleEntry& entry) {
  const bool is_cron = entry.kind == EntryKind::Cron;
  if (!is_cron && map.has("dialect")) map.refuse("dialect", "it goes with cron; remove it");
  if (entry.is_as_quartz && map.has("repeated_time")) {
    map.refuse("repeated_time", "skipped_time: quartz says it already; remove it");
  }
  if (is_cron || entry.kind == EntryKind::WorkingDay || entry.is_as_quartz) return;
  for (const char* key : {"skipped_time", "repeated_time"}) {
    if (map.has(key)) map.refuse(key, "it goes with cron and working_day; remove it");
  }
}

}  // namespace rota::client
