#include "master/core/time/zone_hours.h"

#include <algorithm>

#include "common/model/day_text.h"
#include "master/core/time/local_times.h"

namespace rota::master::core {
namespace {

constexpr std::int64_t kFarthest = 2 * model::kMillisOfDay;  // local times and their moments lie nearer

/// A part of a zone's time with one offset.
struct Even {
  std::int64_t from_ms = 0, to_ms = 0, offset_ms = 0;
  std::int64_t before_ms = 0;  ///< the offset until then; the same where nothing changes
};

/// All that may show these local times, or in which these moments may lie.
std::vector<Even> parts_near(const model::ZoneRules& zone, const LocalSpan& span) {
  const std::int64_t low = span.from_ms - kFarthest, high = span.to_ms + kFarthest;
  std::vector<Even> out;
  for (std::size_t i = stretch_at(zone, low / 1000); i < zone.changes.size(); ++i) {
    const bool is_first = out.empty();
    const std::int64_t end_s = end_of_stretch(zone, i);
    Even part;
    part.from_ms = is_first ? low : zone.changes[i].from_utc_s * 1000;
    part.to_ms = end_s > high / 1000 ? high : end_s * 1000;
    part.offset_ms = zone.changes[i].offset_s * std::int64_t{1000};
    part.before_ms = is_first ? part.offset_ms : out.back().offset_ms;
    if (part.from_ms >= high) break;
    out.push_back(part);
  }
  return out;
}

void add(std::vector<LocalSpan>& out, std::int64_t from, std::int64_t to) {
  if (from >= to) return;
  if (!out.empty() && out.back().to_ms >= from) {
    out.back().to_ms = std::max(out.back().to_ms, to);
  } else {
    out.push_back({from, to});
  }
}

std::vector<LocalSpan> moments_of(const model::ZoneRules& zone, const LocalSpan& hours) {
  std::vector<LocalSpan> out;
  for (const Even& part : parts_near(zone, hours)) {
    add(out, std::max(part.from_ms, hours.from_ms - part.offset_ms),
        std::min(part.to_ms, hours.to_ms - part.offset_ms));
  }
  return out;
}

/// The local times whose first moment lies there.
void add_times(const model::ZoneRules& zone, const LocalSpan& moments, std::vector<LocalSpan>& out) {
  for (const Even& part : parts_near(zone, moments)) {
    std::int64_t from = std::max(part.from_ms, moments.from_ms);
    const std::int64_t to = std::min(part.to_ms, moments.to_ms);
    if (from >= to) continue;
    const std::int64_t shown_before = part.from_ms + part.before_ms;
    const bool skips = part.before_ms < part.offset_ms && from == part.from_ms;
    from += part.offset_ms;
    if (skips) from = shown_before;  // with what the clocks passed over
    if (part.before_ms > part.offset_ms) from = std::max(from, shown_before);
    add(out, from, to + part.offset_ms);
  }
}

}  // namespace

std::vector<LocalSpan> told_in_zone(const model::ZoneRules& there, const LocalSpan& hours,
                                    const model::ZoneRules& here) {
  std::vector<LocalSpan> out;
  for (const LocalSpan& moments : moments_of(there, hours)) add_times(here, moments, out);
  return out;
}

}  // namespace rota::master::core
