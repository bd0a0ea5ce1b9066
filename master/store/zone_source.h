// How the store resolves a job's time zone when a Term starts: common/time's load_zone in production,
// something small in tests.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "common/base/result.h"
#include "common/model/entry_text.h"
#include "common/model/zone.h"

namespace rota::master::store {

using ZoneSource =
    std::function<Result<std::shared_ptr<const model::ZoneRules>>(std::string_view name)>;

/// All zones that a schedule needs. The source's error for one that it does not know.
inline Result<model::Zones> zones_of(const model::Schedule& schedule, const ZoneSource& source) {
  auto own = source(schedule.time_zone);
  if (!own && schedule.kind == model::ScheduleKind::Cron) return fail(own.error());
  model::Zones out(own ? *own : nullptr);
  for (const std::string& line : schedule.entries) {
    const auto entry = model::entry_from_text(line);
    if (!entry || out.named(entry->time_zone) != nullptr) continue;  // who compiles it tells what is wrong
    auto zone = source(entry->time_zone);
    if (!zone) return fail(zone.error());
    out.others.push_back(*zone);
  }
  return out;
}

}  // namespace rota::master::store
