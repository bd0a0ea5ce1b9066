#include "master/core/admission/stuck_rules.h"

#include <algorithm>
#include <string>

#include "master/core/notices.h"
#include "master/core/notify/notify_rules.h"

namespace rota::master::core {

void note_skipped(Context& ctx, JobEntry& job, RunId behind, model::Reason reason, std::int64_t count) {
  const bool was_in_its_way = reason == model::Reason::OverlapSkipped || reason == model::Reason::QueueFull;
  if (!was_in_its_way || behind == RunId{}) return;
  const std::int64_t before = job.skipped_behind(behind);
  const std::int64_t now = std::min(before + count, kStuckTicks);
  job.note_skipped(behind, now);
  if (before >= kStuckTicks || now < kStuckTicks) return;
  ++ctx.state.counters().stuck;
  warn(ctx, "job is stuck: ticks are skipped behind one run",
       {{"job", job.row.space() + "/" + job.row.name},
        {"run", std::to_string(behind.value)},
        {"ticks", std::to_string(now)},
        {"why", std::string(name_of(reason))}});
  notify_of_job(ctx, model::Happening::Stuck, job,
                {behind, {}, std::to_string(now) + " ticks in a row were skipped behind run " +
                                 std::to_string(behind.value) + ", which does not end"});
}

}  // namespace rota::master::core
