/** What users, programs and the `rota` command ask a master. Every master answers queries; only the
 * leader makes changes: a follower answers NOT_LEADER with the leader's address, or passes the
 * request on when `head.forward` is set. Every method throws RotaError.
 */
include "attention.thrift"
include "calendar.thrift"
include "common.thrift"
include "family.thrift"
include "freeze.thrift"
include "log.thrift"
include "quota.thrift"
include "notification.thrift"
include "autoscale.thrift"
include "node.thrift"
include "semaphore.thrift"
include "setting.thrift"
include "verify.thrift"
include "why.thrift"
include "worker_info.thrift"

namespace cpp rota.thrift
namespace py rota.job

/** When a job fires. */
struct Schedule {
  /** "none", "once", "fixed_rate", "cron" or "entries". */
  1: string kind = "none",
  /** 5, 6 or 7 fields, or @daily and the like. */
  2: string cron,
  /** "guess", "unix" or "quartz". */
  3: string dialect = "guess",
  4: string time_zone = "UTC",
  /** A local time that spring skips: "run_at_end" or "skip". */
  5: string gap = "run_at_end",
  /** A local time that autumn repeats: "first", "second" or "both". */
  6: string fold = "first",
  /** fixed_rate: duration between ticks, at least 100. */
  7: i64 interval_ms,
  /** First valid moment; for `once` the moment itself; for a fixed rate the anchor. */
  8: optional i64 start_ms,
  /** No tick after it. */
  9: optional i64 end_ms,
  /** kind entries: up to 16 ways to become due, a line each, of clauses that begin with their key:
   * "every 5m; between 09:30-16:00; time_zone America/New_York; name open". The first is `cron`, `every`, `at`,
   * `after_end`, `working_day` or `worker_start`; then come `time`, `between`, `time_zone`, `calendars` (names,
   * separated by commas), `otherwise`, `day`, `jitter`, `dialect`, `skipped_time`, `repeated_time`, `start`, `end`
   * and `name`, where given. All other fields have their defaults then. */
  10: list<string> entries
}

struct Retry {
  1: i32 count,                // attempts after the first
  2: i64 delay_ms = 1000,
  3: double factor = 2.0,
  4: i64 max_delay_ms = 600000,
  5: i64 jitter_ms,            // each delay is longer by up to this
  6: list<string> only,        // ends that are tried again: "timed_out", a reason, "exit 75,100-110", "signal 9"
  7: list<string> never,       // ends that are not
  8: string another_worker = "any",  // "prefer" or "require": another than the last
  9: string again              // ends that are no failure: "exit 75; every 5m; at_most 6h"
}

/** The rules that decisions follow. */
struct Rules {
  1: Schedule schedule,
  /** "skip", "queue", "allow", "queue_one", "replace" or "terminate". */
  2: string overlap = "skip",
  /** overlap queue: when this many runs wait, further runs are skipped. */
  3: i32 queue_limit = 100,
  /** "fire_once", "skip" or "fire_all". */
  4: string late = "fire_once",
  /** Lateness up to which every tick fires. */
  5: i64 tick_grace_ms = 60000,
  6: string pool = "default",
  /** Which worker: "least_loaded", "named", or another word of docs/routing.md; "consistent_hash" by route_key. */
  7: string route = "least_loaded",
  /** route named: the worker's id. */
  8: string worker,
  9: Retry retry_rule,
  /** Of one attempt; 0: none. */
  10: i64 timeout_ms,
  /** Between TERM and KILL. */
  11: i64 kill_grace_ms = 10000,
  /** After a loss: "after_fence" (also "rerun"), "never", or "confirm" (first the worker is confirmed dead). */
  12: string loss = "after_fence",
  /** How long an attempt may go on when its worker is cut off; at most 7 days. */
  13: i64 disconnect_grace_ms,
  14: i64 keep_logs_ms,  // output after a run's end; 0: as the masters are set, -1: forever
  15: i64 keep_runs_ms,  // a run after its end, with its output; 0: as the masters are set, -1: forever
  16: i32 loss_most = 3, // after so many losses the run ends as lost, 1 to 1000; hand-overs do not count
  17: i32 firings,       // after so many ticks that fired the job is done; 0: no end
  18: string runs_until = "never", // or "success": after its first run that succeeds the job is done
  19: i32 pause_after_failures,    // so many runs in a row that did not succeed pause the job; 0: never
  20: i32 concurrency = 1,
  21: string route_key,
  22: map<string, string> select,  // labels that its worker has; one of several words with commas between them
  23: i64 run_timeout_ms,   // of a run with all of its attempts, from the start of the first; 0: none
  24: i64 queue_timeout_ms, // from the firing to the start of the first attempt; 0: none
  30: map<string, i32> uses, // tokens of semaphores of its namespace that a run holds while it is under way
  31: i32 priority = 50,     // whose runs get free slots first: 0 to 100
  53: list<string> notify,   // receivers of what happens to it; empty: those of the masters' settings
  54: i64 expect_start_within_ms,  // told as late: no attempt so long after the planned moment; 0: never
  55: string expect_finish_by,     // "07:30": told when no run has succeeded by then; empty: never
  56: string expect_longer_than,   // "30m" or "3x": told when a run takes longer; empty: never
  57: map<string, string> prefer,  // labels that its worker should have, as select
  58: i64 prefer_for_ms = 60000,   // how long it waits for one that has them; then it takes any
  70: list<string> on_success, // child jobs: a run of each begins when a run succeeds
  71: list<string> on_failure, // when it fails, times out or is lost
  72: list<string> on_end      // when it ends in any way, except that it was skipped
  59: i32 slots = 1,               // of its worker, that each attempt takes: 1 to 1000
  60: map<string, i64> needs       // named amounts of its worker that each attempt takes; memory in bytes
}

/** What an attempt may use. 0: not limited, except for core files: 0 means none. Processes, memory and CPU
 * time are counted together for everything that the attempt started. */
struct Limits {
  1: i64 memory_bytes,
  /** Of one process. */
  2: i64 address_space_bytes,
  3: i32 processes,
  /** Of one process. */
  4: i32 open_files,
  /** A duration. */
  5: i64 cpu_ms,
  /** Of one file. */
  6: i64 file_size_bytes,
  /** Of the attempt's own work folder. */
  7: i64 folder_bytes,
  8: i64 core_bytes,
  /** How fast CPU time may be used, in thousandths of a core: 500 is half a core. Only the kernel enforces it. */
  9: i32 milli_cpus
}

/** What runs. */
struct Work {
  /** "command", or the name of a handler linked into the worker. */
  1: string handler = "command",
  2: list<string> argv,
  /** A text for the interpreter, instead of argv. */
  3: string script,
  4: string interpreter = "/bin/sh",
  5: map<string, string> environment,
  6: map<string, string> parameters,
  /** Working folder; empty: the attempt's own. */
  7: string folder,
  8: i64 output_cap_bytes = 67108864,
  20: Limits limits,
  /** Added to the worker's own value. */
  21: i32 nice,
  /** As a number: 18 is octal 022. */
  22: i32 umask = 18,
  /** A user that the worker allows; empty: the worker's own. */
  23: string run_as,
  /** When the attempt's own folder is kept: "never", "on_failure" or "always". */
  24: string keep_folder = "never",
  /** Where a handler runs: "worker" (a thread of the worker) or "process" (a process of its own). */
  25: string isolation = "worker",
  /** Run on the worker after each attempt, as words in which {{run}}, {{attempt}} and {{param.X}} stand for
   * their values; empty: nothing. */
  26: list<string> cleanup
}

struct JobDefinition {
  1: string space = "default",
  2: string name,
  3: string description,
  4: string owner,
  5: map<string, string> labels,
  6: Rules rules,
  7: Work work
}

/** A job's newest run, with the fields that a list shows. */
struct LastRun {
  1: i64 id,
  2: string state,
  3: string reason,
  4: i64 scheduled_ms,
  5: optional i64 ended_ms
}

/** A saved job in its present state. */
struct JobInfo {
  1: i64 id,
  2: i32 version,
  /** "enabled", "paused" or "deleted". */
  3: string state,
  4: string state_by,
  5: string state_why,
  6: i64 created_ms,
  7: i64 changed_ms,
  8: JobDefinition definition,
  /** The next tick; absent when none is planned. */
  9: optional i64 next_ms,
  /** Set by list_jobs and get_job for a job that has run. */
  10: optional LastRun last_run,
  /** Set by get_job, where the definition does not say it and its namespace does: of an attempt, a run, its wait. */
  11: optional i64 default_timeout_ms,
  12: optional i64 default_run_timeout_ms,
  13: optional i64 default_queue_timeout_ms
}

/** One job to create or edit. */
struct JobEdit {
  1: JobDefinition definition,
  /** The version from which this edit was made; 0: the job must be new; absent: any version. */
  2: optional i32 expected_version,
  /** Calendars of the same plan: a dry run takes them as applied. */
  3: list<calendar.Calendar> planned_calendars
}

struct JobEdited {
  1: i64 id,
  2: i32 version,
  /** "created", "changed" or "unchanged". */
  3: string what,
  4: optional common.RotaError error,
  /** For an undeleted job: since when it was deleted, and its present state. */
  5: optional i64 deleted_ms,
  6: optional string state,
  7: optional list<string> problems  // each by itself, beginning with its place: "schedule[1].cron '...': ..."
}

/** One run to start from a definition that is not saved. */
struct SubmitItem {
  1: JobDefinition definition,
  /** Override the definition's parameters. */
  2: map<string, string> parameters,
  /** The same key gives the same run, once; the same key with other content is a CONFLICT. Empty: none. */
  3: string request_key
}

struct SubmitResult {
  1: i64 run,
  /** The key was used before with the same content: this is that run. */
  2: bool repeated,
  3: optional common.RotaError error
}

struct RunInfo {
  1: i64 id,
  2: i64 job_id,
  3: i32 job_version,
  4: string job_name,
  /** "tick", "manual", "one_off", "after_freeze", "worker_start" or "child". */
  5: string kind,
  6: string state,
  7: string reason,
  8: string detail,
  9: i64 scheduled_ms,
  10: i64 recorded_ms,
  11: optional i64 dispatched_ms,
  12: optional i64 started_ms,
  13: optional i64 ended_ms,
  14: optional i64 not_before_ms,
  15: i32 attempt,
  16: common.WorkerKey worker,
  17: i64 epoch,
  18: common.Outcome outcome,
  19: map<string, string> parameters,
  20: string request_key,
  21: string principal,
  22: bool cancel_asked,
  23: optional i64 tick_ms,
  /** Attempts that were lost with their workers. */
  24: optional i32 losses
}

/** An earlier attempt of a run, or a late result. */
struct AttemptInfo {
  1: common.AttemptKey attempt,
  2: common.WorkerKey worker,
  3: i64 epoch,
  4: optional i64 dispatched_ms,
  5: bool late,
  6: common.Outcome outcome
}

/** What the run's attempts reported about themselves. */
struct RunNote {
  /** The attempt that reported last, and when. */
  1: i32 attempt,
  2: i64 said_ms,
  3: optional i32 percent,
  4: optional string text,
  5: optional binary checkpoint,
  6: i32 checkpoint_attempt,
  7: i64 checkpoint_ms
}

struct RunDetail {
  1: RunInfo run,
  2: list<AttemptInfo> attempts,
  20: optional RunNote note,
  /** What it runs, from the job version of this run. */
  21: optional Work work,
  /** Its loss policy, from the same version: Rules.loss and Rules.loss_most. */
  22: optional string loss,
  23: optional i32 loss_most,
  30: optional i64 parent,  // of a child job's run: whose end began it
  31: optional i64 root,    // and the run at the top of its tree
  32: optional list<family.RunRelative> family,  // all below that root, by depth, parent and job; at most 500
  33: optional RunInfo root_run                  // where it is another run, and still stored
}

/** Ticks of a job that did not fire: `count` of them from `from_ms` to `to_ms`. */
struct GapInfo {
  1: i32 job_version,
  2: i64 from_ms,
  3: i64 to_ms,
  4: i64 count,
  5: string reason,
  /** The run that the reason refers to, or 0. */
  6: i64 run
}

struct RunFilter {
  1: string space = "default",
  2: string job,
  3: list<string> states,
  4: optional i64 since_ms,
  /** For the next page: only ids below this. */
  5: optional i64 before_run,
  6: i32 limit = 50,  // 1 to 1000
  /** With `job`: true: only runs of one-offs submitted with that name; false: only runs of the saved job. Not
   * set: both. */
  7: optional bool one_off,
  /** Only runs whose newest attempt is or was on the worker with this id. Without `since_ms`, only the newest
   * 200,000 runs are searched. */
  8: optional string worker,
  20: optional i64 parent,  // only children of that run
  21: optional i64 root     // only runs of child jobs below that root
}

struct MasterInfo {
  1: string id,
  2: string address,
  3: bool leads,
  4: string elector,   // what decides whether it takes office; empty: a version that does not say
  5: string database   // host:port of the database server that it uses; empty: not known
}

struct ClusterStatus {
  1: string cluster,
  2: string uuid,
  3: i64 epoch,
  4: string leader,    // host:port; empty when there is no leader
  5: list<MasterInfo> masters,
  6: list<worker_info.WorkerInfo> workers,
  7: i64 jobs,
  8: i64 active_runs,
  9: i64 watermark_ms,
  10: string held,     // why ticks are held; empty: they are not held
  /** One line for each part that this master watches: its name, and "ok" or the problem. */
  11: map<string, string> health,
  12: map<string, i64> counters,
  13: i64 age_ms,
  14: string answered_by,
  15: list<string> plaintext_networks,
  20: list<freeze.FreezeInfo> freezes,                        // in force, or not yet made up for
  21: optional list<calendar.CalendarEnding> calendars_ending  // at most 100; absent: an older master
}

struct NextFires {
  1: list<i64> at_ms,
  /** The names of the entries that are due at each, separated by commas; empty when the schedule has none. */
  2: list<string> entries,
  /** In order, of the time through the last fire; each day of an entry once, at most 100. */
  3: list<calendar.ClosedTime> closed,
  /** When the run of each starts, where an entry has a jitter; else empty. */
  4: optional list<i64> starts_ms
}

service JobService {
  /** One run of an unsaved definition. */
  SubmitResult submit(1: common.RequestHead head, 2: SubmitItem item) throws (1: common.RotaError error),
  /** Up to 1,000 at once; each has its own answer, in order. */
  list<SubmitResult> submit_many(1: common.RequestHead head, 2: list<SubmitItem> items) throws (1: common.RotaError error),
  /** Creates or edits saved jobs, up to 1,000, each with its own answer. `dry_run` changes nothing. */
  list<JobEdited> apply_jobs(1: common.RequestHead head, 2: list<JobEdit> edits, 3: bool dry_run) throws (1: common.RotaError error),
  /** By name; limit 1 to 1000. For the next page: only names after `after`; older masters pass over it. */
  list<JobInfo> list_jobs(1: common.RequestHead head, 2: string space, 3: string prefix, 4: i32 limit, 5: string after) throws (1: common.RotaError error),
  JobInfo get_job(1: common.RequestHead head, 2: string space, 3: string name) throws (1: common.RotaError error),
  JobEdited set_paused(1: common.RequestHead head, 2: string space, 3: string name, 4: bool paused, 5: string why) throws (1: common.RotaError error),
  JobEdited delete_job(1: common.RequestHead head, 2: string space, 3: string name, 4: string why) throws (1: common.RotaError error),
  /** Brings back the latest deleted job of that name, as a new version, paused if it was paused. Ticks of the
   * time between are not made up for. CONFLICT when another job has that name. */
  JobEdited undelete_job(1: common.RequestHead head, 2: string space, 3: string name) throws (1: common.RotaError error),
  /** Runs a saved job now. */
  SubmitResult run_now(1: common.RequestHead head, 2: string space, 3: string name, 4: map<string, string> parameters, 5: string request_key) throws (1: common.RotaError error),
  /** Ticks of a saved job that did not fire, newest first; limit 1 to 1000. */
  list<GapInfo> list_gaps(1: common.RequestHead head, 2: string space, 3: string name, 4: i32 limit) throws (1: common.RotaError error),
  list<RunInfo> list_runs(1: common.RequestHead head, 2: RunFilter filter) throws (1: common.RotaError error),
  RunDetail get_run(1: common.RequestHead head, 2: i64 run) throws (1: common.RotaError error),
  log.LogSlice read_log(1: common.RequestHead head, 2: log.LogRequest request) throws (1: common.RotaError error),
  /** Returns the state after the request. A run that is already final is a CONFLICT. */
  string cancel_run(1: common.RequestHead head, 2: i64 run, 3: string why) throws (1: common.RotaError error),
  /** Why a run is in its state. */
  why.Explanation explain(1: common.RequestHead head, 2: i64 run) throws (1: common.RotaError error),
  list<worker_info.WorkerInfo> list_workers(1: common.RequestHead head) throws (1: common.RotaError error),
  /** This worker gets nothing new, in any life, until it is resumed. `deadline_ms` is a duration; after it,
   * attempts that still run are handed over; 0: they may finish. */
  worker_info.DrainAnswer drain_worker(1: common.RequestHead head, 2: string worker, 3: i64 deadline_ms, 4: string why) throws (1: common.RotaError error),
  worker_info.DrainAnswer resume_worker(1: common.RequestHead head, 2: string worker, 3: string why) throws (1: common.RotaError error),
  /** No longer shows a worker that is away, and ends its drain. CONFLICT when it is here, or when its attempts
   * may still be alive. */
  void forget_worker(1: common.RequestHead head, 2: string worker) throws (1: common.RotaError error),
  /** The operator confirms that a worker is dead: runs of jobs with loss "confirm" may start again. CONFLICT
   * while it is registered. `dry_run` changes nothing. */
  worker_info.DeathAnswer confirm_dead(1: common.RequestHead head, 2: string worker, 3: string why, 4: bool dry_run) throws (1: common.RotaError error),
  /** Lives of a worker, newest first; limit 1 to 1000. */
  list<worker_info.WorkerLife> list_lives(1: common.RequestHead head, 2: string worker, 3: i32 limit) throws (1: common.RotaError error),
  /** All masters that are registered, each asked for its own figures. */
  list<node.MasterNode> list_masters(1: common.RequestHead head) throws (1: common.RotaError error),
  node.NodeHistory worker_history(1: common.RequestHead head, 2: node.HistoryQuery query) throws (1: common.RotaError error),
  /** What runs on that worker, with figures of a few seconds ago. */
  list<node.RunUsage> worker_usage(1: common.RequestHead head, 2: string worker) throws (1: common.RotaError error),
  node.CapacityReport capacity(1: common.RequestHead head) throws (1: common.RotaError error),
  /** What failed, was missed, is stuck, waits for help or is held, with what to do. */
  attention.AttentionReport attention(1: common.RequestHead head, 2: attention.AttentionRequest request) throws (1: common.RotaError error),
  ClusterStatus cluster_status(1: common.RequestHead head) throws (1: common.RotaError error),
  /** Checks the stored history against the promises. May take seconds. */
  verify.VerifyReport verify(1: common.RequestHead head, 2: verify.VerifyRequest request) throws (1: common.RotaError error),
  /** Ticks of the namespace (empty: of all) do not fire until then; its end makes up for them. Where exactly
   * that is frozen already, it lasts longer. CONFLICT when another freeze meets it. */
  freeze.FreezeInfo begin_freeze(1: common.RequestHead head, 2: string space, 3: i64 until_ms, 4: string why) throws (1: common.RotaError error),
  freeze.FreezeInfo end_freeze(1: common.RequestHead head, 2: string space) throws (1: common.RotaError error),
  /** The newest first. */
  list<freeze.FreezeInfo> list_freezes(1: common.RequestHead head) throws (1: common.RotaError error),
  /** What happened, or will happen, at this moment of a saved job. */
  why.TickAnswer explain_tick(1: common.RequestHead head, 2: string space, 3: string name, 4: i64 at_ms) throws (1: common.RotaError error),
  /** The next fire times of an unsaved schedule. */
  NextFires next_fires(1: common.RequestHead head, 2: Schedule schedule, 3: i64 after_ms, 4: i32 count, 5: string space, 6: string name) throws (1: common.RotaError error),
  /** Creates or edits calendars, up to 1,000, each with its own answer. `dry_run` changes nothing. */
  list<calendar.CalendarEdited> apply_calendars(1: common.RequestHead head, 2: list<calendar.CalendarEdit> edits, 3: bool dry_run) throws (1: common.RotaError error),
  /** CONFLICT while a job uses it. */
  calendar.CalendarEdited delete_calendar(1: common.RequestHead head, 2: string space, 3: string name, 4: string why) throws (1: common.RotaError error),
  list<calendar.CalendarInfo> list_calendars(1: common.RequestHead head, 2: string space, 3: string prefix, 4: i32 limit) throws (1: common.RotaError error),
  calendar.CalendarInfo get_calendar(1: common.RequestHead head, 2: string space, 3: string name) throws (1: common.RotaError error),
  /** Which days of a range are open, and why, by the versions as they come into force. */
  list<calendar.CalendarDay> preview_calendar(1: common.RequestHead head, 2: calendar.PreviewRequest request) throws (1: common.RotaError error),
  /** Creates a semaphore, or gives it another count. Who holds a token keeps it. */
  semaphore.SemaphoreEdited set_semaphore(1: common.RequestHead head, 2: semaphore.SemaphoreEdit edit) throws (1: common.RotaError error),
  /** CONFLICT while a job uses it, or a run holds or waits for a token of it. */
  semaphore.SemaphoreEdited delete_semaphore(1: common.RequestHead head, 2: string space, 3: string name) throws (1: common.RotaError error),
  /** By name, without holders and lines; limit 0: as many as there are. */
  list<semaphore.SemaphoreInfo> list_semaphores(1: common.RequestHead head, 2: string space, 3: string prefix, 4: i32 limit) throws (1: common.RotaError error),
  semaphore.SemaphoreInfo get_semaphore(1: common.RequestHead head, 2: string space, 3: string name) throws (1: common.RotaError error),
  /** Gives a pool or a namespace other limits. Runs that are under way go on. */
  quota.LimitsEdited set_limits(1: common.RequestHead head, 2: quota.LimitsEdit edit) throws (1: common.RotaError error),
  /** By name, those whose name begins so, with limits, runs, jobs or workers; `side` is "pool" or "namespace". */
  list<quota.LimitsInfo> list_limits(1: common.RequestHead head, 2: string side, 3: string prefix) throws (1: common.RotaError error),
  /** Expectations of jobs that were not met, the newest first. */
  list<notification.LateInfo> list_late(1: common.RequestHead head, 2: notification.LateQuery query) throws (1: common.RotaError error),
  /** By name: how many workers each pool should have. */
  list<autoscale.PoolScaleInfo> list_scaling(1: common.RequestHead head, 2: string prefix) throws (1: common.RotaError error),
  /** Changes of these numbers, and calls of hooks, the newest first. */
  list<autoscale.ScaleChangeInfo> list_scale_changes(1: common.RequestHead head, 2: autoscale.ScaleQuery query) throws (1: common.RotaError error),
  /** Notifications that were made, the newest first. */
  list<notification.NotificationInfo> list_notifications(1: common.RequestHead head, 2: notification.NotificationQuery query) throws (1: common.RotaError error),
  /** Sends one for real and gives what the receiver answered; it is not stored. NOT_FOUND: there is no such receiver. */
  string test_receiver(1: common.RequestHead head, 2: string receiver) throws (1: common.RotaError error),
  /** In force on all masters within a second. INVALID_ARGUMENT names setting, value and range. */
  setting.SettingEdited set_setting(1: common.RequestHead head, 2: setting.SettingEdit edit) throws (1: common.RotaError error),
  /** That one, or all with an empty name, as the leader has them; `here`: as the master that is asked has them. */
  list<setting.SettingInfo> list_settings(1: common.RequestHead head, 2: string name, 3: bool here) throws (1: common.RotaError error),
  /** Of that one, or of all with an empty name, the oldest first. */
  list<setting.SettingVersion> setting_history(1: common.RequestHead head, 2: string name) throws (1: common.RotaError error)
}
