#include "master/core/job_rules.h"

#include <utility>

#include "common/base/caller.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/admission/semaphore_rules.h"
#include "master/core/attempts/end_rules.h"
#include "master/core/batch_rows.h"
#include "master/core/definition_hash.h"
#include "master/core/graph/child_rules.h"
#include "master/core/memory_rules.h"
#include "master/core/time/calendar_rules.h"
#include "master/core/time/cron_hash.h"
#include "master/core/time/hold_rules.h"
#include "master/core/notices.h"
#include "master/core/notify/expect_rules.h"
#include "master/core/notify/notify_rules.h"
#include "master/core/time/time_rules.h"
#include "master/core/workers/start_rules.h"

namespace rota::master::core {

using model::JobState;

namespace {

void refuse(Context& ctx, Token token, ErrorCode code, std::string message) {
  reply(ctx, token, Error(code, std::move(message)));
}

void reply_applied(Context& ctx, Token token, const JobEntry& job, bool changed) {
  reply(ctx, token, JobApplied{job.row.id, job.row.version, changed});
}

std::string named(const std::string& space, const std::string& name) {
  return "job '" + space + "/" + name + "'";
}

void tell_job(Context& ctx, std::string_view sentence, const JobEntry& job, const std::string& by,
              const std::string& why = {}) {
  NoticeKeys keys = {{"job", job.row.space() + "/" + job.row.name},
                     {"version", std::to_string(job.row.version)},
                     {"by", by}};
  if (!why.empty()) keys.emplace_back("why", why);
  tell(ctx, sentence, std::move(keys));
}

/// An edit closes a version, so the ticks of that version must be recorded first. That is impossible while
/// ticks are held. Where they are recorded ahead of the clock, an edit would only take effect later.
bool refuse_held(Context& ctx, Token token) {
  const TickTable& ticks = ctx.state.ticks();
  const std::string why = hold_text(ticks.hold(), ticks.watermark().reaching, ctx.now.wall);
  if (why.empty()) return false;
  refuse(ctx, token, ErrorCode::Unavailable, "jobs cannot be changed while ticks are held: " + why);
  return true;
}

/// Apart from the definition, which is needed no longer than until it is stored.
RulesPtr rules_of(const std::shared_ptr<const model::JobDefinition>& definition) {
  return std::make_shared<const KeptRules>(*definition);
}

/// A fixed rate keeps its anchor when an edit does not change interval and start.
WallTime anchor_of(const model::Schedule& schedule, const JobEntry* before, WallTime at) {
  if (schedule.start) return *schedule.start;
  if (before == nullptr) return at;
  const model::Schedule& old = before->rules().schedule;
  const bool kept = old.kind == schedule.kind && old.interval == schedule.interval &&
                    old.entries == schedule.entries && !old.start;
  return kept ? before->anchor : at;
}

/// All its ticks up to there are recorded.
void close_version_at(Context& ctx, JobEntry& job, WallTime end) {
  model::JobVersionRow row;
  row.job = job.row.id;
  row.version = job.row.version;
  row.valid_from = job.valid_from;
  row.valid_to = end;
  row.anchor = job.anchor;
  row.enabled = job.row.state == JobState::Enabled;
  ctx.out.changes.versions.push_back(std::move(row));
}

/// The version that is valid now ends at the present core time; or when a run ended it by its rules, while
/// ticks were held; or at its last tick, where its rules say that one of those that were due was the last.
void close_version(Context& ctx, JobEntry& job) {
  const WallTime end = over_since(ctx.state, job).value_or(ctx.at);
  record_ticks_through(ctx, job, end);
  const auto over = ctx.state.jobs().over().find(job.row.id);
  const bool was_last = over != ctx.state.jobs().over().end() && over->second;
  close_version_at(ctx, job, was_last ? *over->second : end);
  if (was_last) over->second.reset();  // that version is closed by it
}

bool same_counts(const model::JobRules& a, const model::JobRules& b) {
  return a.firings == b.firings && a.until == b.until && a.pause_after_failures == b.pause_after_failures;
}

void open_version(Context& ctx, JobEntry& job, const std::string& principal,
                  std::shared_ptr<const model::JobDefinition> definition) {
  job.valid_from = ctx.at;
  job.row.changed = ctx.at;
  model::JobVersionRow row;
  row.job = job.row.id;
  row.version = job.row.version;
  row.valid_from = ctx.at;
  row.anchor = job.anchor;
  row.enabled = job.row.state == JobState::Enabled && !job.row.one_off;
  row.principal = principal;
  row.definition = std::move(definition);
  plan_after_end(ctx.state, job);
  write_job(ctx, job);
  ctx.out.changes.versions.push_back(std::move(row));
  plan_next_tick(ctx.state, job);
  expect_paused(ctx.state, job);
}

JobEntry entry_of(Context& ctx, JobId id, const model::JobDefinition& definition, Plan plan) {
  model::Job row;
  row.id = id;
  row.space = definition.space;
  row.name = definition.name;
  row.version = 1;
  row.created = ctx.at;
  JobEntry job(std::move(row), std::move(plan));
  job.definition_hash = definition_hash(definition);
  job.anchor = anchor_of(definition.rules.schedule, nullptr, ctx.at);
  return job;
}

void create_job(Context& ctx, const ApplyJob& event, Plan plan) {
  JobEntry entry = entry_of(ctx, ctx.state.new_job_id(), *event.definition, std::move(plan));
  JobEntry& job = ctx.state.jobs().add(std::move(entry));
  open_version(ctx, job, event.principal, event.definition);
  tell_job(ctx, "job created", job, event.principal);
  reply_applied(ctx, event.token, job, true);
}

void edit_job(Context& ctx, const ApplyJob& event, JobEntry& job, Plan plan, WallTime anchor) {
  close_version(ctx, job);
  ++job.row.version;
  if (!same_counts(job.rules(), *plan.rules)) forget_counts(ctx, job);
  if (job.rules().schedule.entries != plan.rules->schedule.entries) forget_due(ctx, job);
  ctx.state.jobs().set_plan(job, std::move(plan));
  ctx.state.reprioritize(job);
  job.anchor = anchor;
  job.definition_hash = definition_hash(*event.definition);
  open_version(ctx, job, event.principal, event.definition);
  promote_waiting(ctx.state, job, ctx.now.mono);
  tell_job(ctx, "job changed", job, event.principal);
  reply_applied(ctx, event.token, job, true);
}

bool refuse_stale(Context& ctx, const ApplyJob& event, const JobEntry* job) {
  const JobVersion present = job == nullptr ? 0 : job->row.version;
  if (!event.expected_version || *event.expected_version == present) return false;
  const std::string what = named(event.definition->space, event.definition->name);
  std::string message = what + " has version " + std::to_string(present) +
                        ", the edit was made from version " +
                        std::to_string(*event.expected_version);
  if (*event.expected_version == 0) {
    message = what + " exists already, with version " + std::to_string(present) +
              "; a new one (version 0) was expected";
  }
  refuse(ctx, event.token, ErrorCode::Conflict, std::move(message));
  return true;
}

}  // namespace

void handle_apply_job(Context& ctx, const ApplyJob& event) {
  if (refuse_held(ctx, event.token)) return;
  const model::JobDefinition& definition = *event.definition;
  JobEntry* job = ctx.state.jobs().find_named(definition.space, definition.name);
  if (refuse_stale(ctx, event, job)) return;
  if (job != nullptr && job->definition_hash == definition_hash(definition)) {
    reply_applied(ctx, event.token, *job, false);
    return;
  }
  const WallTime anchor = anchor_of(definition.rules.schedule, job, ctx.at);
  if (!definition.rules.expect_finish_by.empty()) ctx.state.expects().know_zone(event.zone.own);
  auto plan = ctx.state.jobs().plan_of(rules_of(event.definition), event.zone, anchor,
                                       job_hash(definition.space, definition.name),
                                       calendars_in(ctx.state, definition.space));
  if (!plan) {
    refuse(ctx, event.token, ErrorCode::InvalidArgument, plan.error().message);
  } else if (const auto why = why_no_start_job(ctx.state, job, *plan)) {
    refuse(ctx, event.token, why->code, why->message);
  } else if (const auto none = why_no_uses(ctx.state, definition.space, definition.rules)) {
    refuse(ctx, event.token, none->code, none->message);
  } else if (const auto lost = why_no_children(ctx.state, definition, job)) {
    refuse(ctx, event.token, lost->code, lost->message);
  } else if (const auto full = job == nullptr ? why_no_job(ctx.state, definition.space) : std::nullopt) {
    refuse(ctx, event.token, full->code, full->message);
  } else if (const std::string who = unknown_receiver(ctx.state, definition.rules); !who.empty()) {
    refuse(ctx, event.token, ErrorCode::InvalidArgument,
           "notify: the leader knows no receiver '" + who +
               "'; name it under receivers in the masters' settings");
  } else if (job == nullptr) {
    create_job(ctx, event, std::move(*plan));
  } else {
    edit_job(ctx, event, *job, std::move(*plan), anchor);
  }
}

void handle_set_paused(Context& ctx, const SetPaused& event) {
  if (refuse_held(ctx, event.token)) return;
  JobEntry* job = ctx.state.jobs().find_named(event.space, event.name);
  if (job == nullptr) {
    refuse(ctx, event.token, ErrorCode::NotFound, "no " + named(event.space, event.name));
    return;
  }
  const JobState wanted = event.paused ? JobState::Paused : JobState::Enabled;
  if (job->row.state == wanted) {
    reply_applied(ctx, event.token, *job, false);
    return;
  }
  close_version(ctx, *job);
  ++job->row.version;
  job->row.set_state(wanted, event.paused ? event.principal : "", event.paused ? event.why : "");
  if (!event.paused) forget_counts(ctx, *job);
  open_version(ctx, *job, event.principal, nullptr);
  tell_job(ctx, event.paused ? "job paused" : "job resumed", *job, event.principal, event.why);
  reply_applied(ctx, event.token, *job, true);
}

void pause_by_rules(Context& ctx, JobEntry& job, const std::string& why, std::optional<WallTime> tick) {
  tick ? close_version_at(ctx, job, *tick) : close_version(ctx, job);
  ++job.row.version;
  job.row.set_state(JobState::Paused, "rota", why);
  open_version(ctx, job, "rota", nullptr);
  tell_job(ctx, "job paused", job, "rota", why);
  if (is_paused_by_failures(job)) {
    notify_of_job(ctx, model::Happening::SelfPaused, job, {{}, {}, "the job has paused itself: " + why});
  }
}

void handle_delete_job(Context& ctx, const DeleteJob& event) {
  if (refuse_held(ctx, event.token)) return;
  JobEntry* job = ctx.state.jobs().find_named(event.space, event.name);
  if (job == nullptr) {
    refuse(ctx, event.token, ErrorCode::NotFound, "no " + named(event.space, event.name));
    return;
  }
  if (const std::string parents = named_by(ctx.state, event.space, event.name); !parents.empty()) {
    refuse(ctx, event.token, ErrorCode::Conflict,
           named(event.space, event.name) + " is a child job of " + parents +
               "; take it out of their on_success, on_failure and on_end first");
    return;
  }
  close_version(ctx, *job);
  job->row.set_state(JobState::Deleted, event.principal, event.why);
  job->row.changed = ctx.at;
  write_job(ctx, *job);
  ctx.state.jobs().release_name(*job);
  ctx.state.jobs().note_deleted(*job);
  plan_next_tick(ctx.state, *job);
  tell_job(ctx, "job deleted", *job, event.principal, event.why);
  reply_applied(ctx, event.token, *job, true);
  ctx.state.jobs().forget_if_done(job->row.id);
}

namespace {

/// True when it was refused: another job has the name, or the job's rows changed after they had been read.
bool refuse_undelete(Context& ctx, const UndeleteJob& event) {
  const State& state = ctx.state;
  const std::string what = named(event.job.space, event.job.name);
  if (state.jobs().has_name(event.job.space, event.job.name)) {
    refuse(ctx, event.token, ErrorCode::Conflict, what + " exists; delete or rename that one first");
    return true;
  }
  // Its last version ends by the clock of the leader of that time, which may have been ahead.
  if (ctx.at < event.version.valid_to.value_or(event.job.changed)) {
    refuse(ctx, event.token, ErrorCode::Unavailable, what + " was deleted a moment ago, by a clock that was "
           "ahead of this leader's; try again in a moment");
    return true;
  }
  if (!state.jobs().was_deleted_later(event.job.id, event.job.version)) return false;
  refuse(ctx, event.token, ErrorCode::Conflict, what + " was changed meanwhile; try again");
  return true;
}

/// By what its calendars say now. An error when this program cannot read its schedule, or a calendar is gone.
Result<Plan> plan_of_deleted(Context& ctx, const UndeleteJob& event) {
  return ctx.state.jobs().plan_of(rules_of(event.version.definition), event.zone, event.version.anchor,
                                  job_hash(event.job.space, event.job.name),
                                  calendars_in(ctx.state, event.job.space));
}

/// The job as it was when it was deleted.
JobEntry entry_of_deleted(const UndeleteJob& event, Plan plan) {
  JobEntry entry(event.job, std::move(plan));
  entry.anchor = event.version.anchor;
  entry.definition_hash = definition_hash(*event.version.definition);
  return entry;
}

}  // namespace

void handle_undelete_job(Context& ctx, const UndeleteJob& event) {
  if (refuse_held(ctx, event.token) || refuse_undelete(ctx, event)) return;
  ctx.state.expects().know_zone(event.zone.own);
  auto plan = plan_of_deleted(ctx, event);
  if (!plan) return refuse(ctx, event.token, plan.error().code, plan.error().message);
  if (const auto none = why_no_uses(ctx.state, event.job.space, *plan->rules)) {
    return refuse(ctx, event.token, none->code, none->message);
  }
  if (const auto lost = why_no_children(ctx.state, *event.version.definition, nullptr)) {
    return refuse(ctx, event.token, lost->code, lost->message);
  }
  if (const auto full = why_no_job(ctx.state, event.job.space)) {
    return refuse(ctx, event.token, full->code, full->message);
  }
  JobEntry* job = ctx.state.find_job(event.job.id);  // there while runs of it are unfinished
  if (job == nullptr) {
    job = &ctx.state.jobs().add(entry_of_deleted(event, std::move(*plan)));
  } else {
    ctx.state.jobs().set_plan(*job, std::move(*plan));  // edits of calendars pass deleted jobs over
    ctx.state.reprioritize(*job);
  }
  ++job->row.version;
  forget_due(ctx, *job);  // ends of its runs did not count meanwhile
  if (event.version.enabled) {
    job->row.set_state(JobState::Enabled, "", "");
  } else {
    job->row.set_state(JobState::Paused, event.principal, "it was paused when it was deleted");
  }
  ctx.state.jobs().give_name(*job);
  open_version(ctx, *job, event.principal, nullptr);
  tell_job(ctx, "job undeleted", *job, event.principal);
  reply_applied(ctx, event.token, *job, true);
}

JobEntry& one_off_job(Context& ctx, const SubmitItem& item, const std::string& principal) {
  if (JobEntry* known = ctx.state.find_job(item.job)) return *known;
  JobEntry entry = entry_of(ctx, item.job, *item.definition, Plan{rules_of(item.definition), nullptr});
  entry.row.one_off = true;
  if (principal != kEveryone) entry.row.set_asked_by(principal);
  JobEntry& job = ctx.state.jobs().add(std::move(entry));
  open_version(ctx, job, principal, item.definition);
  return job;
}

}  // namespace rota::master::core
