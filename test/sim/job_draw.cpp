#include "job_draw.h"

#include <string>
#include <vector>

namespace rota::sim {

using model::Overlap;
using std::chrono_literals::operator""ms;

namespace {

/// One to four ways to become due; some never do, and some meet others.
std::vector<std::string> random_entries(Random& random) {
  const char* kinds[] = {"cron */3 * * * * *; name three", "cron 10,40 * * * * *; name forty",
                         "every 2s; name rate", "every 700ms; between 00:00-12:00; name day",
                         "every 900ms; between 12:00-23:59:59; name night",
                         "cron H/20 H(0-59) * * * *; name spread",
                         "cron */5 * * * * ?; skipped_time quartz; name quartz",
                         "working_day -1; time 18:00; name pay", "after_end 3s; name again",
                         "cron 7,37 * * * * *; jitter 4s; name spread_start", "cron 0 9 * * *; between 10:00-11:00; name never"};
  std::vector<std::string> out = {"cron */4 * * * * *; name four"};
  for (const char* kind : kinds) {
    if (random.chance(30) && out.size() < 4) out.emplace_back(kind);
  }
  return out;
}

}  // namespace

model::JobDefinition random_job(Random& random, std::size_t number) {
  model::JobDefinition job;
  job.name = "job" + std::to_string(number);
  model::JobRules& rules = job.rules;
  rules.schedule.kind = model::ScheduleKind::FixedRate;
  rules.schedule.interval = random.between(300ms, 6000ms);
  if (random.chance(25)) {
    rules.schedule.kind = model::ScheduleKind::Cron;
    rules.schedule.cron = random.chance(50) ? "*/3 * * * * *" : "10,40 * * * * *";
  } else if (random.chance(20)) {
    rules.schedule = {};
    rules.schedule.kind = model::ScheduleKind::Entries;
    rules.schedule.entries = random_entries(random);
    if (number % 2 == 0) rules.schedule.entries.emplace_back("worker_start; name boot");
  }
  if (random.chance(8)) rules.firings = static_cast<std::int32_t>(1 + random.below(8));
  if (random.chance(5)) rules.until = model::Until::Success;
  if (random.chance(10)) rules.pause_after_failures = static_cast<std::int32_t>(1 + random.below(3));
  const Overlap overlaps[] = {Overlap::Skip,     Overlap::Queue,   Overlap::Allow,
                              Overlap::QueueOne, Overlap::Replace, Overlap::Terminate};
  rules.overlap = overlaps[random.below(6)];
  if (rules.overlap != Overlap::Allow && random.chance(30)) {
    rules.concurrency = static_cast<std::int32_t>(2 + random.below(2));
  }
  rules.queue_limit = static_cast<std::int32_t>(1 + random.below(4));
  rules.late = random.chance(60) ? model::LatePolicy::FireOnce : model::LatePolicy::Skip;
  const bool is_rare = rules.schedule.kind == model::ScheduleKind::FixedRate && rules.schedule.interval >= 4000ms;
  const bool may_fire_all = rules.overlap == Overlap::Queue || rules.overlap == Overlap::QueueOne ||
                            rules.overlap == Overlap::Allow;
  if (may_fire_all && is_rare) rules.late = model::LatePolicy::FireAll;
  rules.tick_grace = random.between(500ms, 8000ms);
  rules.route = random.chance(50) ? model::RouteKind::RoundRobin : model::RouteKind::LeastLoaded;
  if (random.chance(15)) {
    rules.route = model::RouteKind::Named;
    rules.worker = "w0";
  }
  rules.retry.count = static_cast<std::int32_t>(random.below(3));
  rules.retry.delay = random.between(100ms, 3000ms);
  using model::LossPolicy;
  const LossPolicy policies[] = {LossPolicy::Rerun, LossPolicy::Rerun, LossPolicy::Never, LossPolicy::Confirm};
  rules.loss = policies[random.below(4)];
  rules.loss_most = static_cast<std::int32_t>(1 + random.below(4));
  if (random.chance(30)) rules.disconnect_grace = random.between(1000ms, 8000ms);
  if (random.chance(30)) rules.timeout = random.between(1000ms, 6000ms);
  rules.kill_grace = 500ms;
  if (number % 3 == 1) job.work.cleanup = {"tidy", "{{run}}-{{attempt}}"};
  return job;
}

}  // namespace rota::sim
