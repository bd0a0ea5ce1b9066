// Definitions that touch every field that existed when their fingerprints, ids and JSON were written down.
// Stored rows hang on these values: a change of the code must never change them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/model/job.h"

namespace rota::testing {

/// A command that fires by a cron, in which each of the changes below can be seen.
inline model::JobDefinition plain_definition() {
  model::JobDefinition out;
  out.name = "nightly";
  out.rules.schedule.kind = model::ScheduleKind::Cron;
  out.rules.schedule.cron = "30 2 * * *";
  out.work.argv = {"/bin/echo", "a b"};
  return out;
}

using NamedDefinition = std::pair<std::string, model::JobDefinition>;

/// One definition for each field, with that field alone changed; then some with several.
inline std::vector<NamedDefinition> golden_definitions() {
  std::vector<NamedDefinition> out;
  model::JobDefinition all = plain_definition();
  const auto add = [&](const char* name, auto change) {
    model::JobDefinition one = plain_definition();
    change(one, one.rules, one.work);
    out.emplace_back(name, std::move(one));
    change(all, all.rules, all.work);
  };
#define ROTA_CHANGED(what) \
  [](model::JobDefinition & job, model::JobRules & rules, model::JobWork & work) { \
    (void)job, (void)rules, (void)work; \
    what; \
  }
  out.emplace_back("default", model::JobDefinition{});
  out.emplace_back("plain", plain_definition());
  add("space", ROTA_CHANGED(job.space = "team"));
  add("name", ROTA_CHANGED(job.name = "n\"'\\\n\xF0\x9F\xA6\x84"));
  add("description", ROTA_CHANGED(job.description = std::string("a\0b", 3)));
  add("owner", ROTA_CHANGED(job.owner = "me"));
  add("labels", ROTA_CHANGED((job.labels = {{"k", "v"}, {"", ""}})));
  add("schedule.kind", ROTA_CHANGED(rules.schedule.kind = model::ScheduleKind::FixedRate));
  add("schedule.cron", ROTA_CHANGED(rules.schedule.cron = "0 0 7 ? * MON-FRI"));
  add("schedule.dialect", ROTA_CHANGED(rules.schedule.dialect = model::CronDialect::Quartz));
  add("schedule.time_zone", ROTA_CHANGED(rules.schedule.time_zone = "Europe/Berlin"));
  add("schedule.skipped_time", ROTA_CHANGED(rules.schedule.skipped_time = model::SkippedTime::Skip));
  add("schedule.repeated_time", ROTA_CHANGED(rules.schedule.repeated_time = model::RepeatedTime::Both));
  add("schedule.interval", ROTA_CHANGED(rules.schedule.interval = Millis{1234}));
  add("schedule.start", ROTA_CHANGED(rules.schedule.start = wall_from_ms(-5)));
  add("schedule.end", ROTA_CHANGED(rules.schedule.end = wall_from_ms(1ll << 42)));
  add("overlap", ROTA_CHANGED(rules.overlap = model::Overlap::Allow));
  add("queue_limit", ROTA_CHANGED(rules.queue_limit = 7));
  add("late", ROTA_CHANGED(rules.late = model::LatePolicy::Skip));
  add("tick_grace", ROTA_CHANGED(rules.tick_grace = Millis{9}));
  add("pool", ROTA_CHANGED(rules.pool = "gpu"));
  add("route", ROTA_CHANGED(rules.route = model::RouteKind::RoundRobin));
  add("worker", ROTA_CHANGED((rules.route = model::RouteKind::Named, rules.worker = "w9")));
  add("retry.count", ROTA_CHANGED(rules.retry.count = 4));
  add("retry.delay", ROTA_CHANGED(rules.retry.delay = Millis{11}));
  add("retry.factor", ROTA_CHANGED(rules.retry.factor = 1.5));
  add("retry.max_delay", ROTA_CHANGED(rules.retry.max_delay = Millis{13}));
  add("timeout", ROTA_CHANGED(rules.timeout = Millis{17}));
  add("kill_grace", ROTA_CHANGED(rules.kill_grace = Millis{19}));
  add("loss never", ROTA_CHANGED(rules.loss = model::LossPolicy::Never));
  add("loss confirm", ROTA_CHANGED(rules.loss = model::LossPolicy::Confirm));
  add("disconnect_grace", ROTA_CHANGED(rules.disconnect_grace = Millis{23}));
  add("keep_logs", ROTA_CHANGED(rules.keep_logs = Millis{60'000}));
  add("keep_logs forever", ROTA_CHANGED(rules.keep_logs = Millis{-1}));
  add("keep_runs", ROTA_CHANGED(rules.keep_runs = Millis{60'000}));
  add("loss_most", ROTA_CHANGED(rules.loss_most = 21));
  add("handler", ROTA_CHANGED(work.handler = "report"));
  add("argv", ROTA_CHANGED((work.argv = {"", "a b", "c"})));
  add("script", ROTA_CHANGED(work.script = "echo one\necho two\n"));
  add("interpreter", ROTA_CHANGED(work.interpreter = "/bin/bash"));
  add("environment", ROTA_CHANGED((work.environment = {{"A", "1"}, {"B", ""}})));
  add("parameters", ROTA_CHANGED((work.parameters = {{"P", "2"}})));
  add("folder", ROTA_CHANGED(work.folder = "/srv/data"));
  add("output_cap", ROTA_CHANGED(work.output_cap_bytes = 1ll << 34));
  add("limits.memory", ROTA_CHANGED(work.limits.memory_bytes = 1ll << 30));
  add("limits.address_space", ROTA_CHANGED(work.limits.address_space_bytes = 1ll << 31));
  add("limits.processes", ROTA_CHANGED(work.limits.processes = 3));
  add("limits.open_files", ROTA_CHANGED(work.limits.open_files = 64));
  add("limits.cpu", ROTA_CHANGED(work.limits.cpu = Millis{5000}));
  add("limits.file_size", ROTA_CHANGED(work.limits.file_size_bytes = 6));
  add("limits.folder", ROTA_CHANGED(work.limits.folder_bytes = 7777));
  add("limits.core", ROTA_CHANGED(work.limits.core_bytes = 8));
  add("limits.cpus", ROTA_CHANGED(work.limits.milli_cpus = 250));
  add("nice", ROTA_CHANGED(work.nice = -3));
  add("umask", ROTA_CHANGED(work.umask = 077));
  add("run_as", ROTA_CHANGED(work.run_as = "deploy"));
  add("keep_folder", ROTA_CHANGED(work.keep_folder = model::KeepFolder::OnFailure));
  add("isolation", ROTA_CHANGED(work.isolation = model::Isolation::Process));
#undef ROTA_CHANGED
  out.emplace_back("all", all);
  auto some = plain_definition();
  some.rules.keep_runs = some.rules.keep_logs = model::kKeepForEver;
  some.rules.loss_most = 1;
  out.emplace_back("keep_logs, keep_runs, loss_most", some);
  some.work.limits.milli_cpus = 500;
  some.work.isolation = model::Isolation::Process;
  out.emplace_back("keep, loss_most, cpus, isolation", some);
  some.work.limits.memory_bytes = 1 << 20;
  some.work.umask = 027;
  out.emplace_back("keep, loss_most, cpus, memory, umask, isolation", some);
  return out;
}

}  // namespace rota::testing
