#include "master/core/scheduler.h"

#include <algorithm>

#include "common/base/check.h"
#include "master/core/attempts/attempt_rules.h"
#include "master/core/batch_rows.h"
#include "master/core/time/calendar_rules.h"
#include "master/core/attempts/confirm_rules.h"
#include "master/core/workers/departed_rules.h"
#include "master/core/admission/catch_up_rules.h"
#include "master/core/admission/dispatch_rules.h"
#include "master/core/workers/drain_rules.h"
#include "master/core/attempts/fence_rules.h"
#include "master/core/graph/child_rules.h"
#include "master/core/invariants.h"
#include "master/core/job_rules.h"
#include "master/core/memory_rules.h"
#include "master/core/notify/expect_rules.h"
#include "master/core/notify/notify_rules.h"
#include "master/core/recovery.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/admission/request_rules.h"
#include "master/core/admission/semaphore_rules.h"
#include "master/core/setting_rules.h"
#include "master/core/state.h"
#include "master/core/time/freeze_rules.h"
#include "master/core/time/time_rules.h"
#include "master/core/views.h"
#include "master/core/workers/scale_desk.h"
#include "master/core/workers/start_rules.h"
#include "master/core/workers/worker_rules.h"

namespace rota::master::core {
namespace {

/// The table of cases: one line for each kind of event.
struct Cases {
  Context& ctx;

  void operator()(const TimePassed& e) const {
    replan_jobs(ctx, true);
    handle_time_passed(ctx, e);
    look_at_calendars(ctx);
  }
  void operator()(const MastersSeen& e) const { ctx.state.ticks().set_all_know_slices(e.all_know_slices); }
  void operator()(const LateRowsKnown&) const { ctx.state.ticks().set_may_store_late_rows(true); }
  void operator()(const WorkerStartsKnown&) const { ctx.state.starts().set_may_fire(true); }
  void operator()(const ChildRunsKnown&) const { ctx.state.children().set_may_begin(true); }
  void operator()(const WorkerSeen& e) const { handle_worker_seen(ctx, e); }
  void operator()(const WorkerGone& e) const { handle_worker_gone(ctx, e); }
  void operator()(const BeatsEnded& e) const { handle_beats_ended(ctx, e); }
  void operator()(const WorkersListed& e) const { handle_workers_listed(ctx, e); }
  void operator()(const HelloAnswered& e) const { handle_hello_answered(ctx, e); }
  void operator()(const HelloFailed& e) const { handle_hello_failed(ctx, e); }
  void operator()(const EpochRefused& e) const { handle_epoch_refused(ctx, e); }
  void operator()(const RenewAsked& e) const { handle_renew_asked(ctx, e); }
  void operator()(const DispatchAnswered& e) const { handle_dispatch_answered(ctx, e); }
  void operator()(const Reported& e) const { handle_reported(ctx, e); }
  void operator()(const ApplyJob& e) const { handle_apply_job(ctx, e); }
  void operator()(const SetPaused& e) const { handle_set_paused(ctx, e); }
  void operator()(const DeleteJob& e) const { handle_delete_job(ctx, e); }
  void operator()(const UndeleteJob& e) const { handle_undelete_job(ctx, e); }
  void operator()(const ApplyCalendar& e) const { handle_apply_calendar(ctx, e); }
  void operator()(const DeleteCalendar& e) const { handle_delete_calendar(ctx, e); }
  void operator()(const SetSemaphore& e) const { handle_set_semaphore(ctx, e); }
  void operator()(const DeleteSemaphore& e) const { handle_delete_semaphore(ctx, e); }
  void operator()(const SetQuota& e) const { handle_set_quota(ctx, e); }
  void operator()(const SetSetting& e) const { handle_set_setting(ctx, e); }
  void operator()(const RunNow& e) const { handle_run_now(ctx, e); }
  void operator()(const SubmitRuns& e) const { handle_submit_runs(ctx, e); }
  void operator()(const CancelRun& e) const { handle_cancel_run(ctx, e); }
  void operator()(const DrainWorker& e) const { handle_drain_worker(ctx, e); }
  void operator()(const ForgetWorker& e) const { handle_forget_worker(ctx, e); }
  void operator()(const ConfirmDead& e) const { handle_confirm_dead(ctx, e); }
  void operator()(const BeginFreeze& e) const { handle_begin_freeze(ctx, e); }
  void operator()(const EndFreeze& e) const { handle_end_freeze(ctx, e); }
  void operator()(const HoldTicks& e) const { handle_hold_ticks(ctx, e); }
  void operator()(const ZookeeperReplaced& e) const { handle_zookeeper_replaced(ctx, e); }
  void operator()(const UnseenGone&) const { handle_unseen_gone(ctx); }
  void operator()(const NotificationTried& e) const { handle_notification_tried(ctx, e); }
  void operator()(const HookCalled& e) const { handle_hook_called(ctx, e); }
  void operator()(const CapacityLow& e) const {
    notify_of_cluster(ctx, model::Happening::LowCapacity, "", e.words);
  }
};

}  // namespace

Scheduler::Scheduler(Epoch epoch, const CoreOptions& options, Recovered recovered, Now now)
    : state_(recover_state(epoch, options, std::move(recovered), now)) {}

Scheduler::~Scheduler() = default;

void Scheduler::handle(const Event& event, Now now, Effects& effects) {
  state_->advance_core_time(now.wall);
  Context ctx{*state_, now, state_->core_time(), effects};
  begin_to_notify(ctx);
  replan_jobs(ctx, false);
  settle_ends_of_before(ctx);
  std::visit(Cases{ctx}, event);
  fire_worker_starts(ctx);
  make_children(ctx);  // may end runs that make way, which their jobs remember
  settle_memories(ctx);
  scale_pools(ctx);
  pump_slot_queues(ctx);
  start_caught_up(ctx);
  store_owed_children(ctx);
  mark_expecting_term(ctx);
  send_notifications(ctx);
  write_touched(ctx);
}

std::optional<Millis> Scheduler::next_wake(Now now) const { return core::next_wake(*state_, now); }

Snapshot Scheduler::snapshot(Now now) const { return view_state(*state_, now); }

const model::Settings& Scheduler::settings() const { return state_->options(); }

std::vector<Violation> Scheduler::sample_invariants() { return sample_.look(*state_); }

void Scheduler::check_invariants() const {
  const std::string broken = broken_invariant(*state_);
  CHECK_OR_DIE(broken.empty(), broken.c_str());
}

}  // namespace rota::master::core
