// The methods that only read the store. Every master answers them.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/utf8.h"
#include "common/time/zones.h"
#include "master/core/time/cron_hash.h"
#include "common/wire/job_wire.h"
#include "common/wire/run_wire.h"
#include "master/api/calendar_intake.h"
#include "master/api/closed_times.h"
#include "master/api/definition_intake.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"
#include "master/verify/verify.h"

namespace rota::master::api {
namespace {

constexpr std::int32_t kMostRows = 1000;
constexpr std::chrono::days kLookedForClosed{60};
constexpr Millis kVerifyDeadline{60'000};

std::int32_t limit_of(std::int32_t asked, std::int32_t standard) {
  return asked <= 0 ? standard : std::min(asked, kMostRows);
}

std::string all_states() {
  std::string out;
  for (int i = 0; i <= static_cast<int>(model::RunState::Skipped); ++i) {
    out += (out.empty() ? "" : ", ") + std::string(model::name_of(static_cast<model::RunState>(i)));
  }
  return out;
}

Result<store::RunQuery> query_of(const thrift::RunFilter& filter) {
  store::RunQuery out;
  out.space = filter.space;
  out.job = filter.job;
  if (filter.__isset.one_off) out.one_off = filter.one_off;
  for (const std::string& name : filter.states) {
    const auto state = model::run_state_named(name);
    if (!state) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("states: {} is no state of a run; there are {}", quoted_text(name),
                              all_states()));
    }
    out.states.push_back(*state);
  }
  if (filter.__isset.since_ms) out.since = wall_from_ms(filter.since_ms);
  if (filter.__isset.before_run) out.before = RunId{filter.before_run};
  if (filter.__isset.worker) out.worker = filter.worker;
  if (filter.__isset.parent) out.parent = RunId{filter.parent};
  if (filter.__isset.root) out.root = RunId{filter.root};
  out.limit = limit_of(filter.limit, 50);
  return out;
}

thrift::JobInfo with_last_run(thrift::JobInfo job, const std::map<JobId, store::RunRow>& newest) {
  const auto found = newest.find(JobId{job.id});
  if (found == newest.end()) return job;
  const model::Run& run = found->second.run;
  thrift::LastRun last;
  last.__set_id(run.id.value);
  last.__set_state(std::string(model::name_of(run.progress.state)));
  last.__set_reason(std::string(model::name_of(run.progress.reason)));
  last.__set_scheduled_ms(to_ms(run.scheduled));
  if (run.progress.ended) last.__set_ended_ms(to_ms(*run.progress.ended));
  job.__set_last_run(std::move(last));
  return job;
}

thrift::Check to_wire(const verify::Check& check) {
  thrift::Check out;
  out.__set_promise(check.promise);
  out.__set_ok(check.ok);
  out.__set_planned(check.planned);
  out.__set_fired(check.fired);
  out.__set_skipped(check.skipped);
  out.__set_missing(check.missing);
  out.__set_doubled(check.doubled);
  out.__set_examples(check.examples);
  return out;
}

thrift::VerifyReport to_wire(const verify::Report& report) {
  thrift::VerifyReport out;
  out.__set_ok(report.ok);
  out.__set_decided_through_ms(to_ms(report.decided_through));
  out.__set_max_lateness_ms(report.max_lateness.count());
  std::vector<thrift::Check> checks;
  for (const auto& check : report.checks) checks.push_back(to_wire(check));
  out.__set_checks(std::move(checks));
  out.__set_complete(report.is_complete);
  if (!report.is_complete) out.__set_next_place(report.next);
  out.__set_jobs_looked_at(report.jobs_looked_at);
  if (report.jobs_in_all > 0) out.__set_jobs_in_all(report.jobs_in_all);
  out.__set_runs_looked_at(report.runs_looked_at);
  if (report.runs_through) out.__set_runs_through_ms(to_ms(*report.runs_through));
  return out;
}

Error too_late(const verify::Report& report) {
  return Error(ErrorCode::TimedOut,
               fmt::format("verify did not end within its deadline: it looked at the ticks of {} of {} jobs, "
                           "and at {} runs; give it more time, or ask for less (job, since)",
                           report.jobs_looked_at, report.jobs_in_all, report.runs_looked_at));
}

Millis time_for(const thrift::RequestHead& head, const thrift::VerifyRequest& request) {
  if (request.at_most_ms > 0) return Millis{request.at_most_ms};
  return head.__isset.deadline_ms && head.deadline_ms > 0 ? Millis{head.deadline_ms} : kVerifyDeadline;
}

}  // namespace

/// Ticks up to here are recorded and do not fire again, even when the clock is not there yet.
WallTime JobServiceHandler::recorded_through() const {
  const auto snapshot = parts_.leader.snapshot();
  return snapshot ? snapshot->watermark : WallTime{};
}

thrift::JobInfo JobServiceHandler::info_of(const store::JobRow& row, StoredCalendars& calendars) const {
  thrift::JobInfo out = wire::to_wire(row.job, row.version);
  if (row.job.state != model::JobState::Enabled || !row.version.definition) return out;
  const auto next = next_ticks(row.version.definition->rules.schedule,
                               core::job_hash(row.job.space, row.job.name), row.version.anchor,
                               std::max(parts_.clock.wall(), recorded_through()), 1,
                               calendars.in(row.job.space));
  std::optional<WallTime> at = row.job.memory.due;
  if (next && !next->at.empty() && (!at || next->at.front() < *at)) at = next->at.front();
  if (at) out.__set_next_ms(to_ms(*at));
  return out;
}

void JobServiceHandler::add_default_times(thrift::JobInfo& job) const {
  const auto versions =
      value_or_throw(parts_.reader.quota_versions(model::QuotaOf::Space, job.definition.space));
  if (versions.empty()) return;
  const model::Quota& quota = versions.back().quota;
  const thrift::Rules& own = job.definition.rules;
  if (own.timeout_ms == 0 && quota.timeout > Millis{0}) job.__set_default_timeout_ms(quota.timeout.count());
  if (own.run_timeout_ms == 0 && quota.run_timeout > Millis{0}) {
    job.__set_default_run_timeout_ms(quota.run_timeout.count());
  }
  if (own.queue_timeout_ms == 0 && quota.queue_timeout > Millis{0}) {
    job.__set_default_queue_timeout_ms(quota.queue_timeout.count());
  }
}

void JobServiceHandler::list_jobs(const Caller&, std::vector<thrift::JobInfo>& out, const Head&,
                                  const std::string& space, const std::string& prefix,
                                  std::int32_t limit, const std::string& after) {
  const auto rows = value_or_throw(parts_.reader.list_jobs(space, prefix, limit_of(limit, 100), after));
  std::vector<JobId> ids;
  for (const auto& row : rows) ids.push_back(row.job.id);
  const auto newest = value_or_throw(parts_.reader.newest_runs_of(ids));
  StoredCalendars calendars(parts_.reader);
  for (const auto& row : rows) out.push_back(with_last_run(info_of(row, calendars), newest));
}

void JobServiceHandler::get_job(const Caller&, thrift::JobInfo& out, const Head&,
                                const std::string& space, const std::string& name) {
  const auto row = value_or_throw(parts_.reader.get_job(space, name));
  StoredCalendars calendars(parts_.reader);
  out = with_last_run(info_of(row, calendars), value_or_throw(parts_.reader.newest_runs_of({row.job.id})));
  add_default_times(out);
}

void JobServiceHandler::list_gaps(const Caller&, std::vector<thrift::GapInfo>& out, const Head&,
                                  const std::string& space, const std::string& name,
                                  std::int32_t limit) {
  const auto row = value_or_throw(parts_.reader.get_job(space, name));
  const auto gaps = value_or_throw(parts_.reader.newest_gaps_of(row.job.id, limit_of(limit, 50)));
  for (const model::Gap& gap : gaps) {
    thrift::GapInfo info;
    info.__set_job_version(gap.version);
    info.__set_from_ms(to_ms(gap.from));
    info.__set_to_ms(to_ms(gap.to));
    info.__set_count(gap.count);
    info.__set_reason(std::string(model::name_of(gap.reason)));
    info.__set_run(gap.reference);
    out.push_back(std::move(info));
  }
}

void JobServiceHandler::list_runs(const Caller&, std::vector<thrift::RunInfo>& out, const Head&,
                                  const thrift::RunFilter& filter) {
  const auto query = value_or_throw(query_of(filter));
  const auto rows = value_or_throw(parts_.reader.list_runs(query));
  for (const auto& row : rows) out.push_back(wire::to_wire(row.run, row.job_name));
}

void JobServiceHandler::get_run(const Caller&, thrift::RunDetail& out, const Head&,
                                std::int64_t run) {
  const auto row = value_or_throw(parts_.reader.get_run(RunId{run}));
  const auto attempts = value_or_throw(parts_.reader.attempts_of(RunId{run}));
  const auto note = value_or_throw(parts_.reader.note_of(RunId{run}));
  out.__set_run(wire::to_wire(row.run, row.job_name));
  if (note) out.__set_note(wire::to_wire(*note));
  // An older master or a restored database may have left a run without its definition.
  const auto definition = parts_.reader.definition_of(row.run.job, row.run.version);
  put_family(out, row, definition ? definition->get() : nullptr);
  if (definition) {
    out.__set_work(wire::to_wire((*definition)->work));
    const thrift::Rules rules = wire::to_wire((*definition)->rules);
    out.__set_loss(rules.loss);
    out.__set_loss_most(rules.loss_most);
  }
  std::vector<thrift::AttemptInfo> earlier;
  for (const auto& attempt : attempts) earlier.push_back(wire::to_wire(attempt));
  out.__set_attempts(std::move(earlier));
}

void JobServiceHandler::read_log(const Caller&, thrift::LogSlice& out, const Head& head,
                                 const thrift::LogRequest& request) {
  // A wait is part of the request: the deadline never cuts it short.
  const MonoTime deadline = deadline_of(head) + Millis{std::clamp(request.wait_ms, 0, 10'000)};
  out = value_or_throw(tail_.read(request, deadline));
}

void JobServiceHandler::next_fires(const Caller&, thrift::NextFires& out, const Head&,
                                   const thrift::Schedule& schedule, std::int64_t after_ms,
                                   std::int32_t count, const std::string& space, const std::string& name) {
  auto converted = value_or_throw(wire::from_wire(schedule));
  const WallTime after = after_ms > 0 ? wall_from_ms(after_ms) : parts_.clock.wall();
  const WallTime anchor = converted.start.value_or(after);
  if (converted.kind == model::ScheduleKind::Entries) converted.start.reset();  // each has its own
  StoredCalendars calendars(parts_.reader);
  const auto ticks =
      value_or_throw(next_ticks(converted, core::job_hash(space, name), anchor, after,
                                std::clamp(count, 1, kMostRows), calendars.in(space)));
  std::vector<std::int64_t> at_ms;
  for (const WallTime tick : ticks.at) at_ms.push_back(to_ms(tick));
  out.__set_at_ms(std::move(at_ms));
  out.__set_entries(ticks.entries);
  if (!ticks.starts.empty()) {
    std::vector<std::int64_t> starts_ms;
    for (const WallTime start : ticks.starts) starts_ms.push_back(to_ms(start));
    out.__set_starts_ms(std::move(starts_ms));
  }
  const WallTime through = ticks.at.empty() ? after + kLookedForClosed : ticks.at.back();
  std::vector<thrift::ClosedTime> closed;
  const std::uint64_t hash = core::job_hash(space, name);
  for (const auto& each : closed_times(converted, anchor, hash, calendars.in(space), after, through)) {
    closed.emplace_back().__set_at_ms(to_ms(each.at));
    closed.back().__set_why(each.why);
  }
  out.__set_closed(std::move(closed));
}

void JobServiceHandler::verify(const Caller&, thrift::VerifyReport& out, const Head& head,
                               const thrift::VerifyRequest& request) {
  verify::Request wanted;
  wanted.space = request.space;
  wanted.job = request.job;
  wanted.from = request.place;
  if (request.__isset.since_ms) wanted.since = wall_from_ms(request.since_ms);
  wanted.now = parts_.clock.wall();
  verify::Sources sources{parts_.reader, &parts_.logs, &timezone::load_zone};
  // A follower may be a second behind, or more when it stood still.
  if (parts_.settings && desk_.leads()) sources.settings = [this] { return parts_.settings().rows; };
  const auto report =
      value_or_throw(verify::verify(sources, wanted, BootClock::now() + time_for(head, request)));
  if (!report.is_complete && !request.partial) throw rpc::to_wire(too_late(report));
  out = to_wire(report);
}

}  // namespace rota::master::api
