// Settings on which parts of a master beside the core act. test/unit/core proves the others, test/unit/master these.
#pragma once

#include <set>
#include <string>

namespace rota::test {

inline const std::set<std::string> kSettingsBesideCore = {"runs.keep_ms", "logs.keep_ms", "logs.limit_bytes",
                                                          "notify.no_leader_after_ms", "inbox_events"};

}  // namespace rota::test
