#include "master/store/expect_zones.h"

#include <set>
#include <string>

namespace rota::master::store {

void find_expect_zones(core::Recovered& recovered, const ZoneSource& zones) {
  std::set<std::string> names;
  const auto note = [&](const core::RulesPtr& rules) {
    if (rules != nullptr && !rules->expect_finish_by.empty()) names.insert(rules->schedule.time_zone);
  };
  for (const core::RecoveredJob& job : recovered.jobs) note(job.rules);
  for (const core::RecoveredRules& older : recovered.older_rules) note(older.rules);
  for (const std::string& name : names) {
    if (auto zone = zones(name)) recovered.expect_zones.push_back(*zone);
  }
}

}  // namespace rota::master::store
