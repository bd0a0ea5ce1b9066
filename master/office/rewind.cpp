#include "master/office/rewind.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/duration_text.h"
#include "master/core/time/cron_hash.h"
#include "master/core/time/hold_rules.h"
#include "master/core/time/time_rules.h"
#include "master/store/calendars.h"

namespace rota::master {
namespace {

constexpr int kTries = 10;
constexpr Millis kTick{1};
constexpr Millis kClocksApart{2000};

Result<store::Rewind> plan_at(const store::Office::Marks& marks, WallTime now) {
  const Millis apart = marks.database_now - now;
  if (std::chrono::abs(apart) > kClocksApart) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("the database's clock is {} s {} this host's; set the clocks right first",
                            std::chrono::abs(apart).count() / 1000,
                            apart > Millis{0} ? "ahead of" : "behind"));
  }
  if (!marks.watermark || !core::is_ahead(marks.watermark->reaching, now)) {
    return fail(ErrorCode::InvalidArgument, "no ticks are recorded ahead of the clock; nothing was rewound");
  }
  store::Rewind plan;
  plan.from = marks.watermark->reaching;
  plan.from_through = marks.watermark->through;
  plan.to = std::min(now, marks.watermark->through);  // of a slice under way some jobs are recorded less far
  return plan;
}

Result<core::CompiledSchedule> schedule_of(const RewindParts& parts, const model::Gap& gap) {
  auto versions = parts.reader.versions_of(gap.job);
  if (!versions) return fail(versions.error());
  for (const model::JobVersionRow& version : *versions) {
    if (version.version != gap.version || !version.definition) continue;
    const model::Schedule& schedule = version.definition->rules.schedule;
    const auto zones = store::zones_of(schedule, parts.zones);
    if (!zones) return fail(zones.error());
    const std::string& space = version.definition->space;
    return core::compile(schedule, *zones, version.anchor, core::job_hash(space, version.definition->name),
                         [&](std::string_view name) -> core::CalendarHistoryPtr {
                           const auto rows = parts.reader.calendar_versions(space, std::string(name));
                           if (!rows) return nullptr;
                           return store::history_known_at(*rows, version.valid_from, parts.zones);
                         });
  }
  return fail(ErrorCode::Corrupt, fmt::format("a gap row of job {} names version {}, which is not stored",
                                              gap.job.value, gap.version));
}

/// Gap rows that reach beyond the new watermark: cut, or gone.
Result<void> plan_gaps(const RewindParts& parts, store::Rewind& plan) {
  const auto beyond = parts.office.gaps_beyond(plan.to);
  if (!beyond) return fail(beyond.error());
  for (const model::Gap& gap : *beyond) {
    if (gap.from > plan.to) {
      plan.erased.push_back(gap);
      continue;
    }
    const auto schedule = schedule_of(parts, gap);
    if (!schedule) return fail(schedule.error());
    if (const auto part = part_of_gap_until(gap, *schedule, plan.to)) {
      plan.cut.push_back(*part);
    } else {
      plan.erased.push_back(gap);
    }
  }
  return {};
}

Result<store::Rewind> try_once(const RewindParts& parts, const Candidate& candidate, WallTime now) {
  const auto marks = parts.office.read_marks();
  if (!marks) return fail(marks.error());
  auto plan = plan_at(*marks, now);
  if (!plan) return plan;
  if (auto gaps = plan_gaps(parts, *plan); !gaps) return fail(gaps.error());
  const auto office = enter_office(parts.client, parts.paths, parts.office, candidate);
  if (!office) return fail(office.error());
  plan->epoch = office->epoch;
  if (auto done = parts.office.rewind(*plan); !done) return fail(done.error());
  return plan;
}

}  // namespace

std::optional<model::Gap> part_of_gap_until(const model::Gap& gap, const core::CompiledSchedule& schedule,
                                            WallTime to) {
  if (gap.from > to) return std::nullopt;
  model::Gap part = gap;
  if (gap.reason == model::Reason::CalendarEdited) {  // of these it counts all, and no tick
    part.count = 0;
    for (auto at = schedule.next_edited_away(gap.from - kTick); at && *at <= to && *at <= gap.to;
         at = schedule.next_edited_away(*at)) {
      part.to = *at;
      ++part.count;
    }
    return part.count > 0 ? std::optional(part) : std::nullopt;
  }
  part.to = core::newest_tick(schedule, gap.from, to);
  part.count = schedule.count_between(gap.from - kTick, part.to);
  return part;
}

Result<store::Rewind> rewind_ticks(const RewindParts& parts, const Candidate& candidate, WallTime now) {
  Result<store::Rewind> done = fail(ErrorCode::Conflict, "not tried");
  for (int left = kTries; left > 0; --left) {
    done = try_once(parts, candidate, now);
    if (done || done.error().code != ErrorCode::Conflict) break;
  }
  return done;
}

}  // namespace rota::master
