#include "common/wire/job_wire.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "common/wire/job_names.h"
#include "common/wire/text_rules.h"

namespace rota::wire {
namespace {

// 1970 to the year 2200: beyond it time zones are not known either.
constexpr std::int64_t kLatestMs = 7'258'118'400'000;

using Problems = std::vector<std::string>;

template <typename Enum>
Enum choose(const char* field, const std::string& value, Problems& problems) {
  if (const auto found = named<Enum>(value)) return *found;
  problems.push_back(fmt::format("{}: {} is none of {}", field, quoted(value),
                                 allowed_names<Enum>()));
  return Enum{};
}

std::optional<WallTime> moment(const char* field, bool is_set, std::int64_t ms,
                               Problems& problems) {
  if (!is_set) return std::nullopt;
  if (ms < 0 || ms > kLatestMs) {
    problems.push_back(fmt::format("{}: {} is no moment between 1970 and 2200", field, ms));
    return std::nullopt;
  }
  return wall_from_ms(ms);
}

model::Schedule read(const thrift::Schedule& in, Problems& problems) {
  model::Schedule out;
  out.kind = choose<model::ScheduleKind>("schedule.kind", in.kind, problems);
  out.cron = in.cron;
  out.dialect = choose<model::CronDialect>("schedule.dialect", in.dialect, problems);
  out.time_zone = in.time_zone;
  out.gap = choose<model::GapRule>("schedule.gap", in.gap, problems);
  out.fold = choose<model::FoldRule>("schedule.fold", in.fold, problems);
  out.interval = Millis{in.interval_ms};
  out.start = moment("schedule.start", in.__isset.start_ms, in.start_ms, problems);
  out.end = moment("schedule.end", in.__isset.end_ms, in.end_ms, problems);
  return out;
}

model::JobRules read(const thrift::Rules& in, Problems& problems) {
  model::JobRules out;
  out.schedule = read(in.schedule, problems);
  out.overlap = choose<model::Overlap>("overlap", in.overlap, problems);
  out.queue_limit = in.queue_limit;
  out.late = choose<model::LatePolicy>("late", in.late, problems);
  out.tick_grace = Millis{in.tick_grace_ms};
  out.pool = in.pool;
  out.route = choose<model::RouteKind>("route", in.route, problems);
  out.worker = in.worker;
  out.retry.count = in.retry_rule.count;
  out.retry.delay = Millis{in.retry_rule.delay_ms};
  out.retry.factor = in.retry_rule.factor;
  out.retry.max_delay = Millis{in.retry_rule.max_delay_ms};
  out.timeout = Millis{in.timeout_ms};
  out.kill_grace = Millis{in.kill_grace_ms};
  out.loss = in.loss == "rerun" ? model::LossPolicy::Rerun
                                : choose<model::LossPolicy>("loss", in.loss, problems);
  out.loss_most = in.loss_most;
  out.disconnect_grace = Millis{in.disconnect_grace_ms};
  out.keep_logs = Millis{in.keep_logs_ms};
  out.keep_runs = Millis{in.keep_runs_ms};
  return out;
}

model::JobLimits read(const thrift::Limits& in) {
  model::JobLimits out;
  out.memory_bytes = in.memory_bytes;
  out.address_space_bytes = in.address_space_bytes;
  out.processes = in.processes;
  out.open_files = in.open_files;
  out.cpu = Millis{in.cpu_ms};
  out.file_size_bytes = in.file_size_bytes;
  out.folder_bytes = in.folder_bytes;
  out.core_bytes = in.core_bytes;
  out.milli_cpus = in.milli_cpus;
  return out;
}

model::JobWork read(const thrift::Work& work, Problems& problems) {
  model::JobWork out;
  out.handler = work.handler;
  out.argv = work.argv;
  out.script = work.script;
  out.interpreter = work.interpreter;
  out.environment = work.environment;
  out.parameters = work.parameters;
  out.folder = work.folder;
  out.output_cap_bytes = work.output_cap_bytes;
  out.limits = read(work.limits);
  out.nice = work.nice;
  out.umask = work.umask;
  out.run_as = work.run_as;
  out.keep_folder = choose<model::KeepFolder>("keep_folder", work.keep_folder, problems);
  out.isolation = choose<model::Isolation>("isolation", work.isolation, problems);
  return out;
}

template <typename T>
Result<T> unless(T value, const Problems& problems) {
  if (problems.empty()) return value;
  return fail(ErrorCode::InvalidArgument, fmt::format("{}", fmt::join(problems, "; ")));
}

}  // namespace

thrift::Schedule to_wire(const model::Schedule& schedule) {
  thrift::Schedule out;
  out.__set_kind(text(name_of(schedule.kind)));
  out.__set_cron(schedule.cron);
  out.__set_dialect(text(name_of(schedule.dialect)));
  out.__set_time_zone(schedule.time_zone);
  out.__set_gap(text(name_of(schedule.gap)));
  out.__set_fold(text(name_of(schedule.fold)));
  out.__set_interval_ms(schedule.interval.count());
  if (schedule.start) out.__set_start_ms(to_ms(*schedule.start));
  if (schedule.end) out.__set_end_ms(to_ms(*schedule.end));
  return out;
}

thrift::Rules to_wire(const model::JobRules& rules) {
  thrift::Rules out;
  out.__set_schedule(to_wire(rules.schedule));
  out.__set_overlap(text(name_of(rules.overlap)));
  out.__set_queue_limit(rules.queue_limit);
  out.__set_late(text(name_of(rules.late)));
  out.__set_tick_grace_ms(rules.tick_grace.count());
  out.__set_pool(rules.pool);
  out.__set_route(text(name_of(rules.route)));
  out.__set_worker(rules.worker);
  thrift::Retry retry;
  retry.__set_count(rules.retry.count);
  retry.__set_delay_ms(rules.retry.delay.count());
  retry.__set_factor(rules.retry.factor);
  retry.__set_max_delay_ms(rules.retry.max_delay.count());
  out.__set_retry_rule(retry);
  out.__set_timeout_ms(rules.timeout.count());
  out.__set_kill_grace_ms(rules.kill_grace.count());
  out.__set_loss(text(name_of(rules.loss)));
  out.__set_loss_most(rules.loss_most);
  out.__set_disconnect_grace_ms(rules.disconnect_grace.count());
  out.__set_keep_logs_ms(rules.keep_logs.count());
  out.__set_keep_runs_ms(rules.keep_runs.count());
  return out;
}

thrift::Limits to_wire(const model::JobLimits& limits) {
  thrift::Limits out;
  out.__set_memory_bytes(limits.memory_bytes);
  out.__set_address_space_bytes(limits.address_space_bytes);
  out.__set_processes(limits.processes);
  out.__set_open_files(limits.open_files);
  out.__set_cpu_ms(limits.cpu.count());
  out.__set_file_size_bytes(limits.file_size_bytes);
  out.__set_folder_bytes(limits.folder_bytes);
  out.__set_core_bytes(limits.core_bytes);
  out.__set_milli_cpus(limits.milli_cpus);
  return out;
}

thrift::Work to_wire(const model::JobWork& work) {
  thrift::Work out;
  out.__set_handler(work.handler);
  out.__set_argv(work.argv);
  out.__set_script(work.script);
  out.__set_interpreter(work.interpreter);
  out.__set_environment(work.environment);
  out.__set_parameters(work.parameters);
  out.__set_folder(work.folder);
  out.__set_output_cap_bytes(work.output_cap_bytes);
  out.__set_limits(to_wire(work.limits));
  out.__set_nice(work.nice);
  out.__set_umask(work.umask);
  out.__set_run_as(work.run_as);
  out.__set_keep_folder(text(name_of(work.keep_folder)));
  out.__set_isolation(text(name_of(work.isolation)));
  return out;
}

thrift::JobDefinition to_wire(const model::JobDefinition& definition) {
  thrift::JobDefinition out;
  out.__set_space(definition.space);
  out.__set_name(definition.name);
  out.__set_description(definition.description);
  out.__set_owner(definition.owner);
  out.__set_labels(definition.labels);
  out.__set_rules(to_wire(definition.rules));
  out.__set_work(to_wire(definition.work));
  return out;
}

Result<model::Schedule> from_wire(const thrift::Schedule& schedule) {
  Problems problems;
  model::Schedule out = read(schedule, problems);
  return unless(std::move(out), problems);
}

Result<model::JobRules> from_wire(const thrift::Rules& rules) {
  Problems problems;
  model::JobRules out = read(rules, problems);
  return unless(std::move(out), problems);
}

model::JobWork from_wire(const thrift::Work& work) {
  Problems problems;  // a choice that is not known here has its default
  return read(work, problems);
}

Result<model::JobDefinition> from_wire(const thrift::JobDefinition& definition) {
  Problems problems;
  model::JobDefinition out;
  out.space = definition.space;
  out.name = definition.name;
  out.description = definition.description;
  out.owner = definition.owner;
  out.labels = definition.labels;
  out.rules = read(definition.rules, problems);
  out.work = read(definition.work, problems);
  return unless(std::move(out), problems);
}

thrift::JobInfo to_wire(const model::Job& job, const model::JobVersionRow& version) {
  thrift::JobInfo out;
  out.__set_id(job.id.value);
  out.__set_version(job.version);
  out.__set_state(text(name_of(job.state)));
  out.__set_state_by(job.state_by);
  out.__set_state_why(job.state_why);
  out.__set_created_ms(to_ms(job.created));
  out.__set_changed_ms(to_ms(job.changed));
  if (version.definition) out.__set_definition(to_wire(*version.definition));
  return out;
}

}  // namespace rota::wire
