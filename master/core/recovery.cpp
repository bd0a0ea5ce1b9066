#include "master/core/recovery.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "common/base/caller.h"
#include "common/base/check.h"
#include "common/model/retry_text.h"
#include "master/core/attempts/end_rules.h"
#include "master/core/attempts/confirm_rules.h"
#include "master/core/workers/conduct_rules.h"
#include "master/core/workers/departed_rules.h"
#include "master/core/attempts/limit_rules.h"
#include "master/core/attempts/loss_rules.h"
#include "master/core/attempts/retry.h"
#include "master/core/memory_rules.h"
#include "master/core/notify/expect_rules.h"
#include "master/core/setting_rules.h"
#include "master/core/workers/scale_desk.h"
#include "master/core/time/calendar_rules.h"
#include "master/core/time/cron_hash.h"
#include "master/core/time/schedule_needs.h"
#include "master/core/time/time_rules.h"

namespace rota::master::core {

using model::Reason;
using model::RunState;

namespace {

/// What jobs with the same cron or entries share: their rules come as one object, those with the same ticks
/// have one schedule, and nearly all of them ask for the next tick from one moment on. Calendars are those of
/// the job's namespace.
class KnownRules {
 public:
  struct Known {
    RulesPtr rules;                    ///< as they came: stays, so that no others get its address
    bool is_shared = false;            ///< the schedule does not depend on the job
    bool has_calendars = false;
    std::map<std::string, Known, std::less<>> of_spaces;  ///< has_calendars: its schedule in each namespace
    model::Zones zone;
    Plan plan;
    WallTime after{};
    std::optional<WallTime> next;      ///< what is recorded first, later than `after`
  };

  explicit KnownRules(State& state) : state_(state) {}

  /// It was accepted once. If this program cannot read it, the job does not fire; all others go on.
  Plan plan_of(const RecoveredJob& job) {
    Known* const known = find(job.rules, job.job.space);
    if (known == nullptr) return make_plan(job);
    if (known->plan.schedule == nullptr || known->zone != job.zone) {
      known->zone = job.zone;
      known->plan = make_plan(job);
      known->after = WallTime::max();
    }
    return known->plan;
  }

  /// What is recorded next of a job with this plan.
  std::optional<WallTime> next_after(const RulesPtr& came, std::string_view space,
                                     const CompiledSchedule& schedule, WallTime at) {
    Known* const known = find(came, space);
    if (known == nullptr) return next_of_shared(schedule, at);
    if (known->plan.schedule.get() != &schedule) return schedule.next_recorded(at);
    if (known->after != at) {
      known->after = at;
      known->next = schedule.next_recorded(at);
    }
    return known->next;
  }

 private:
  /// Jobs with equal rules that add the same to them have one schedule, though others with these rules have
  /// another one.
  std::optional<WallTime> next_of_shared(const CompiledSchedule& schedule, WallTime at) {
    if (next_of_.size() == kNextKept) next_of_.clear();
    const auto [known, is_new] = next_of_.try_emplace(&schedule);
    if (is_new || known->second.after != at) known->second = {at, schedule.next_recorded(at)};
    return known->second.next;
  }

  Plan make_plan(const RecoveredJob& job) {
    auto made = state_.jobs().plan_of(job.rules, job.zone, job.anchor, job_hash(job.job.space, job.job.name),
                                      calendars_in(state_, job.job.space));
    return made ? std::move(*made) : Plan{state_.jobs().share(job.rules), nullptr};
  }

  /// Nothing: each job has a schedule of its own.
  Known* find(const RulesPtr& rules, std::string_view space) {
    const model::ScheduleKind kind = rules->schedule.kind;
    if (kind != model::ScheduleKind::Cron && kind != model::ScheduleKind::Entries) return nullptr;
    if (last_ == nullptr || last_->rules != rules) {
      last_ = &known_[rules.get()];
      if (last_->rules == nullptr) {
        const ScheduleNeeds needs(rules->schedule);
        last_->is_shared = !needs.depends_on_job();
        last_->has_calendars = !needs.calendars().empty();
      }
      last_->rules = rules;
    }
    if (!last_->is_shared) return nullptr;
    return last_->has_calendars ? &in_space(*last_, space) : last_;
  }

  static Known& in_space(Known& known, std::string_view space) {
    const auto found = known.of_spaces.find(space);
    return found != known.of_spaces.end() ? found->second : known.of_spaces[std::string(space)];
  }

  static constexpr std::size_t kNextKept = 100'000;
  struct Next {
    WallTime after{};
    std::optional<WallTime> next;
  };

  State& state_;
  std::unordered_map<const model::JobRules*, Known> known_;
  std::unordered_map<const CompiledSchedule*, Next> next_of_;  ///< the jobs of this Term keep them alive
  Known* last_ = nullptr;
};

void recover_job(State& state, RecoveredJob from, KnownRules& known) {
  const RulesPtr came = from.rules;
  const std::string space = from.job.space;
  const WallTime valid_from = from.valid_from, anchor = from.anchor;
  const std::uint64_t hash = from.definition_hash;
  Plan plan = known.plan_of(from);
  JobEntry& job = state.jobs().add(JobEntry(std::move(from.job), std::move(plan)));
  job.valid_from = valid_from;
  job.anchor = anchor;
  job.definition_hash = hash;
  state.advance_core_time(std::max(valid_from, job.row.ticks_through.value_or(WallTime{})));
  if (!is_planned(job)) return;
  if (job.row.memory().due) return plan_next_tick(state, job);
  state.jobs().set_next_tick(job, known.next_after(came, space, job.schedule(), state.recorded_through(job)));
}

void recover_jobs(State& state, std::vector<RecoveredJob> jobs) {
  KnownRules known(state);
  state.jobs().expect(jobs.size());
  for (RecoveredJob& job : jobs) recover_job(state, std::move(job), known);
}

void recover_held(State& state, RunEntry& run) {
  stop_asking(run);
  run.set_reason(Reason::WorkerUnreconciled);
  state.restore_held(run);
  // As it was when the attempt was sent: so the limit is the same that its worker was told.
  const auto sent = run.progress().dispatched();
  if (sent) run.set_times(state.quotas().times_at(run.job().row.space(), *sent).version);
}

/// The rest of the pause is counted by the core's time, as it was when it was written: this leader's clock
/// may be far behind. It is never longer than the rule says: the clock of then may have been far ahead.
void recover_waiting(State& state, RunEntry& run, Now now) {
  const auto not_before = run.progress().not_before();
  const Reason reason = run.progress().reason;
  const bool is_delayed = reason == Reason::RetryDelay || reason == Reason::Jitter;
  if (is_delayed && not_before && *not_before > state.core_time()) {
    const Millis by_rule = longest_pause(run.rules().retry, run.progress().failures);
    const Millis by_jitter = std::clamp(*not_before - run.row().recorded, Millis{0}, kLongestJitter);
    const Millis most =
        reason == Reason::Jitter ? by_jitter : std::max(by_rule, loss_delay(run.progress().losses));
    const Millis left = std::min<Millis>(*not_before - state.core_time(), most);
    state.runs().timers().set(run.id(), RunTimer::RetryDelay, now.mono + left);
    return;
  }
  if (run.progress().reason == Reason::WaitsForRun) {
    state.restore_behind(run);
    return;
  }
  if (run.waits_to_catch_up()) {
    state.restore_catch_up(run);
    return;
  }
  state.enter_slot_queue(run, run.row().recorded);
}

void recover_calendar(State& state, RecoveredCalendar from) {
  state.advance_core_time(from.row.changed);
  CalendarPtr compiled;
  if (from.zone != nullptr && !from.row.deleted) {
    auto made = compile_calendar(*from.row.calendar, std::move(from.zone));
    if (made) compiled = std::make_shared<const CompiledCalendar>(std::move(*made));
  }
  state.calendars().put(std::move(from.row), std::move(compiled), WallTime{});
}

void recover_quota(State& state, model::QuotaRow row) {
  if (row.of == model::QuotaOf::Space) state.reweigh(row.name, row.quota.weight);
  state.quotas().put(std::move(row));
}

using OlderRules = std::map<std::pair<JobId, JobVersion>, RulesPtr>;

/// By the exit statuses of its failed attempts: those that said "not ready yet" are no failures.
using FailedExits = std::map<RunId, std::vector<RecoveredExits>>;

void leave_out_not_ready(model::Run& row, const KeptRules& rules, const FailedExits& exits) {
  const auto found = exits.find(row.id);
  if (found == exits.end() || rules.retry.again.empty()) return;
  const auto again = model::again_from_text(rules.retry.again);
  for (const RecoveredExits& each : found->second) {
    const bool is_none = again && model::is_not_ready(*again, RunState::Failed, each.exit_status);
    if (is_none) row.progress.failures -= each.count;
  }
}

void recover_run(State& state, model::Run row, const OlderRules& older, const FailedExits& exits, Now now) {
  JobEntry* job = state.find_job(row.job);
  CHECK_OR_DIE(job != nullptr, "the store gave an unfinished run without its job");
  if (job->row.one_off && row.principal != kEveryone) job->row.set_asked_by(row.principal);
  const auto own = older.find({row.job, row.version});
  RulesPtr rules = own == older.end() ? job->shared_rules() : own->second;
  leave_out_not_ready(row, *rules, exits);
  RunEntry& run = state.add_run(RunEntry(std::move(row), std::move(rules)));
  state.quotas().count_firing(job->row.space(), run.row().tick ? *run.row().tick : run.row().recorded);
  if (run.is_held()) {
    recover_held(state, run);
  } else {
    recover_waiting(state, run, now);
    watch_limit(state, run, state.core_time(), now.mono);
  }
  expect_run(state, run);
}

/// Children that a Term before did not come to, and where the unfinished ones stand in their trees.
void recover_children(State& state, const std::vector<model::ChildRow>& children,
                      std::vector<model::OwedChildren> owed) {
  for (const model::ChildRow& row : children) {
    if (RunEntry* run = state.find_run(row.run)) run->set_parentage(row.parentage());
  }
  for (model::OwedChildren& row : owed) state.children().owe(std::move(row), true);
}

/// A job that its rules end, but for a hold; one whose due moment after an end was lost.
void recover_memory(State& state, JobEntry& job) {
  if (!is_planned(job)) return;
  const bool has_memory = !(job.row.memory() == model::JobMemory{});
  if (has_memory && !why_over(job).empty()) state.jobs().over().try_emplace(job.row.id);
  if (job.schedule().after_end() == nullptr) return;
  plan_after_end(state, job);
  plan_next_tick(state, job);
}

/// Runs that wait, though those before them had ended when the previous Term stopped; or that Term knew of no
/// `concurrency` but 1.
void promote_orphans(State& state, MonoTime now) {
  for (auto& [id, job] : state.jobs().all()) {
    recover_memory(state, job);
    expect_paused(state, job);
    promote_waiting(state, job, now);
  }
}

}  // namespace

std::unique_ptr<State> recover_state(Epoch epoch, const CoreOptions& options, Recovered recovered,
                                     Now now) {
  auto state = std::make_unique<State>(epoch, options, now.mono);
  recover_settings(*state, std::move(recovered.settings));
  state->ticks().begin(recovered.watermark, now);
  state->advance_core_time(std::max(now.wall, state->ticks().watermark().reaching));
  state->set_awaits_inventories(recovered.database_went_back);
  state->ticks().set_hold(options.tick_hold);
  state->notifications().set_receivers(options.receivers);
  state->ticks().set_may_store_late_rows(recovered.late_rows_known);
  state->starts().set_may_fire(recovered.worker_starts_known);
  state->children().set_may_begin(recovered.child_runs_known);
  state->starts().set_doubtful(recovered.database_went_back);
  for (model::WorkerStart& start : recovered.starts) state->starts().accept(std::move(start));
  if (recovered.database_went_back && !state->ticks().are_held()) {
    state->ticks().set_hold("the database is older than the cluster; see: rota-master --accept-restore");
  }
  for (model::ZonePtr& zone : recovered.expect_zones) state->expects().know_zone(std::move(zone));
  for (model::JobPace& pace : recovered.paces) state->expects().put_pace(std::move(pace));
  state->listings().set_zookeeper_number(recovered.zookeeper_number);
  for (const model::WorkerKey& key : recovered.unseen) state->workers().life_of(key).unseen = true;
  for (RecoveredCalendar& each : recovered.calendars) recover_calendar(*state, std::move(each));
  for (model::SemaphoreRow& each : recovered.semaphores) state->tokens().put(std::move(each));
  for (model::QuotaRow& each : recovered.quotas) recover_quota(*state, std::move(each));
  recover_jobs(*state, std::move(recovered.jobs));
  OlderRules older;
  for (RecoveredRules& each : recovered.older_rules) {
    older.insert_or_assign({each.job, each.version}, std::move(each.rules));
  }
  FailedExits exits;
  for (const RecoveredExits& each : recovered.failed_exits) exits[each.run].push_back(each);
  for (model::Run& run : recovered.runs) recover_run(*state, std::move(run), older, exits, now);
  recover_children(*state, recovered.children, std::move(recovered.children_owed));
  for (const auto& [job, tick] : recovered.taken) state->jobs().note_taken(job, tick);
  for (const model::AttemptKey key : recovered.given_up) state->given_up().add(key);
  for (model::WorkerDrain& drain : recovered.drains) {
    if (drain.draining) state->workers().begin_drain(std::move(drain));
  }
  for (model::Freeze& freeze : recovered.freezes) state->freezes().put(std::move(freeze));
  recover_told(*state, recovered.told);
  recover_departed(*state, std::move(recovered.newest_lives));
  for (const model::WorkerDeath& death : recovered.confirmed) state->workers().confirm_death(death);
  recover_holds(*state, recovered.holds, now);
  for (model::Notification& row : recovered.notifications) {
    state->notifications().add(std::move(row), now.mono);
  }
  recover_scaling(*state, std::move(recovered.scaling), now);
  promote_orphans(*state, now.mono);
  return state;
}

}  // namespace rota::master::core
