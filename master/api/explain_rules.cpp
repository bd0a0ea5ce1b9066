#include "master/api/explain_rules.h"

#include <fmt/format.h>

#include "master/core/attempts/loss_rules.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::api {
namespace {

using model::Reason;
using model::RunState;

std::string state_sentence(RunState state) {
  switch (state) {
    case RunState::Waiting: return "It is waiting.";
    case RunState::Queued: return "It could run and waits for a slot.";
    case RunState::Dispatched: return "It has been given to its worker.";
    case RunState::Running: return "It is running.";
    case RunState::Succeeded: return "It succeeded.";
    case RunState::Failed: return "It failed.";
    case RunState::TimedOut: return "It timed out.";
    case RunState::Cancelled: return "It was cancelled before it started.";
    case RunState::Killed: return "It was killed, and is proven dead.";
    case RunState::KillFailed: return "It was to be killed.";
    case RunState::Lost: return "It is lost.";
    case RunState::Skipped: return "It was skipped.";
  }
  return "";
}

/// What happens when its worker does not come back.
std::string what_follows(const core::RunView& run, const model::JobRules& rules) {
  if (run.is_cancelled) return "the run ends, since it was cancelled,";
  switch (core::after_loss(rules, run.losses + 1, false)) {
    case core::AfterLoss::EndLost: return "the run ends as lost (loss: never)";
    case core::AfterLoss::EndAtLimit: return "the run ends as lost, as often as its job allows (loss: most),";
    case core::AfterLoss::Rerun: break;
  }
  return "another attempt starts";
}

std::string away_sentence(const core::RunView& run, const model::JobRules& rules, WallTime now) {
  const std::string since = core::second_text(*run.away_since);
  std::string when = "as soon as ZooKeeper has confirmed that it is gone";
  if (run.fence && *run.fence > now) when = "at about " + core::second_text(*run.fence);
  const bool is_asked = rules.loss == model::LossPolicy::Confirm && !run.is_cancelled;
  if (is_asked) when = "once the worker is confirmed to be dead (loss: confirm)";
  if (run.reason == Reason::WaitsForFence) {
    return fmt::format("Its worker {} is gone since {}; {} {}, when the lost attempt must have ended.",
                       run.worker, since, what_follows(run, rules), when);
  }
  return fmt::format("Its worker {} has not answered since {}, so nobody knows whether it still runs. "
                     "Should the worker stay away, {} {}.",
                     run.worker, since, what_follows(run, rules), when);
}

/// For a run that no worker accepts: the workers that are there, and why each refuses it.
std::string nobody_sentence(Reason reason, const std::vector<core::WorkerView>& workers,
                            const model::JobRules& rules) {
  const bool is_named = rules.route == model::RouteKind::Named;
  const std::string who = core::who_takes_nothing(workers, rules.pool, is_named ? rules.worker : "");
  if (who.empty()) return "";
  const std::string what = is_named ? "The worker that the job names takes nothing new"
                                    : fmt::format("No worker of pool \"{}\" takes new runs", rules.pool);
  if (reason == Reason::WorkersDraining) {
    return fmt::format("{}: {}. Resume one (rota worker resume), or start another.", what, who);
  }
  if (reason == Reason::NoWorkerInPool) {
    return fmt::format("{}: {}. Start one there, or change the job's pool.", what, who);
  }
  if (reason == Reason::NamedWorkerAbsent) {
    return fmt::format("{}: {}. Start it, or change the job's route.", what, who);
  }
  return "";
}

bool is_run(const std::string& detail) {
  return !detail.empty() && detail.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::string reason_sentence(Reason reason, const std::string& pool) {
  switch (reason) {
    case Reason::None: return "";
    case Reason::NoWorkerInPool:
      return fmt::format("No worker is in pool \"{}\"; start one there, or change the job's pool.",
                         pool);
    case Reason::NoWorkerHas:
      return fmt::format("No worker of pool \"{}\" that may take it has what it needs (slots, needs) as a "
                         "whole; let one offer it (slots and offers in worker.yaml), or let the job ask for "
                         "less.", pool);
    case Reason::AllSlotsBusy:
      return fmt::format("All slots of pool \"{}\" are busy; it starts when one is free.", pool);
    case Reason::WaitsForSemaphore:
      return "It waits for tokens of a semaphore that its job uses (rota semaphore show).";
    case Reason::PoolLimit:
      return fmt::format("As many runs of pool \"{}\" are under way as its limit allows (rota pool show).",
                         pool);
    case Reason::NamespaceSlots:
      return "As many runs of its namespace are under way as that may have (rota namespace show).";
    case Reason::NamespaceUnfinished:
      return "As many runs of its namespace were unfinished as that may have (rota namespace show).";
    case Reason::NamespaceFirings:
      return "As many runs of its namespace had begun in that minute as may (rota namespace show).";
    case Reason::WaitsForRun:
      return "It waits for an earlier run of the same job (overlap).";
    case Reason::RetryDelay: return "An attempt failed; the next one starts after the retry delay.";
    case Reason::WorkerUnreconciled:
      return "Its last worker has not said yet what it holds; no other attempt may start before.";
    case Reason::WaitsForFence:
      return "Its last worker is away; another attempt starts when the lost one must have ended.";
    case Reason::NamedWorkerAbsent:
      return "The worker that the job names is not here; start it, or change the job's route.";
    case Reason::WorkersSettling: return "A master has just taken office; workers are being asked.";
    case Reason::ClusterHeld: return "Ticks are held; see the cluster's status for the reason.";
    case Reason::OverlapSkipped: return "An earlier run was still active (overlap: skip).";
    case Reason::QueueFull: return "Too many runs of this job were waiting already (queue_limit).";
    case Reason::CoalescedInto: return "It was late, and one run stands for all late ticks.";
    case Reason::LateSkipped: return "It was later than its grace allows (late: skip).";
    case Reason::ExitStatus: return "The command ended with an exit status other than 0.";
    case Reason::Signalled: return "A signal ended the command.";
    case Reason::StartFailed:
      return "The command could not be started; check its path and its permissions.";
    case Reason::AttemptTimeout: return "It ran longer than its timeout allows.";
    case Reason::RunTimeout: return "It took longer with all of its attempts than its job allows.";
    case Reason::QueueTimeout:
      return "It waited longer for its first attempt than its job allows; add workers or slots, or allow "
             "more.";
    case Reason::CancelledByUser: return "It was cancelled.";
    case Reason::ReplacedBy: return "A newer run of the same job took its place (overlap).";
    case Reason::WorkerLost: return "Its worker went away with it.";
    case Reason::AttemptDied: return "Its worker or warden died, and the attempt with it.";
    case Reason::KillUnproven:
      return "It was told to die and could not be proven dead; look at the worker's host.";
    case Reason::CleanupFailed:
      return "What its job runs after each attempt (cleanup) failed; look at the worker's host before "
             "you run it again.";
    case Reason::HandlerFailed: return "The handler reported a failure.";
    case Reason::HandlerUnknown:
      return "No worker that it may go to knows its handler; start one that has it linked in.";
    case Reason::RefusedByWorker: return "The worker refused it.";
    case Reason::OutputLost: return "Part of its output was lost.";
    case Reason::MemoryExceeded: return "It used more memory than the job's limits allow.";
    case Reason::ProcessesExceeded: return "It had more processes than the job's limits allow.";
    case Reason::CpuExceeded: return "It used more CPU time than the job's limits allow.";
    case Reason::FolderExceeded: return "It put more into its work folder than the job's limits allow.";
    case Reason::FileSizeExceeded: return "It wrote a larger file than the job's limits allow.";
    case Reason::WorkersDraining:
      return fmt::format("No worker of pool \"{}\" takes new runs, those that are here are drained; resume "
                         "one (rota worker resume), or start another.", pool);
    case Reason::WorkerUnseen:
      return "Its last worker was never seen in the ZooKeeper that is in use now, so nothing tells whether "
             "the attempt lives: let that worker come back, or, when it is over for sure: rota-master "
             "--accept-new-zookeeper --workers-gone --config FILE";
    case Reason::LossLimit:
      return "It was lost with its workers as often as its job allows (loss: most); look whether it harms "
             "them before you run it again.";
    case Reason::WaitsForConfirmation:
      return "Its worker is gone, and its job asks for a confirmation before another attempt (loss: "
             "confirm): let the worker come back, or, when it is dead for sure, confirm that.";
    case Reason::Missed:
      return "Nobody led, or ticks were held, at its moment; when it could have been made up for, a run of "
             "the job was unfinished.";
    case Reason::CaughtUp:
      return "It stands for late ticks; such runs start one by one, and after all that is live.";
    case Reason::LateBounded:
      return "More ticks were late than late: fire_all makes up for; the newest of them fired.";
    case Reason::Jitter:
      return "Its schedule spreads the start (jitter); it begins at the moment that is shown.";
    case Reason::CalendarEdited: return "An edit of a calendar moved it to a time that was over by then.";
    case Reason::Frozen: return "A freeze was in force at its moment (rota freeze list).";
    case Reason::WorkerStartOver:
      return "It belongs to one start of its worker (@worker_start), and that start was over before it could "
             "run.";
    case Reason::JobPaused:
      return "Its job was paused when its parent ended; resume the job, and run it by hand if it matters.";
    case Reason::NoSuchJob: return "There was no job of that name when its parent ended.";
    case Reason::ChildTooDeep:
      return "Too many runs stand above it, so child jobs go in a circle; take a name out of on_success, "
             "on_failure or on_end.";
    case Reason::HandedOver: return "It was ended at the deadline of its worker's drain.";
  }
  return "";
}

std::string sentence_now(const core::RunView& run, const std::vector<core::WorkerView>& workers,
                         const model::JobRules& rules, WallTime now) {
  const bool no_other_reason = run.reason == Reason::None || run.reason == Reason::WaitsForFence;
  if (run.away_since && no_other_reason) return away_sentence(run, rules, now);
  const std::string nobody = nobody_sentence(run.reason, workers, rules);
  if (nobody.empty()) return sentence_for(run.state, run.reason, run.detail, rules.pool);
  return nobody + (run.detail.empty() ? "" : " (" + run.detail + ")");
}

std::string sentence_for(RunState state, Reason reason, const std::string& detail,
                         const std::string& pool) {
  const bool is_out_of_sight = reason == Reason::WaitsForConfirmation || reason == Reason::WorkerUnseen;
  const bool may_run = state == RunState::Running || state == RunState::Dispatched;
  std::string out = state_sentence(state);
  if (may_run && is_out_of_sight) out = "Nobody knows whether it still runs.";
  if (may_run && is_run(detail)) out += " It is being ended, and a newer run of its job takes its place";
  // Where state and reason say the same, one sentence is enough.
  const bool says_it_all = state == RunState::Cancelled && reason == Reason::CancelledByUser;
  if (const std::string why = reason_sentence(reason, pool); !why.empty() && !says_it_all) {
    out += " " + why;
  }
  // The detail of a skipped run is the id of the run that was in its way.
  if (!detail.empty()) out += (is_run(detail) ? " (run " : " (") + detail + ")";
  return out;
}

}  // namespace rota::master::api
