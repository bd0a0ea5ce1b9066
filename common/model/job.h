// Jobs: what the user defined. JobRules is the part that decisions need; the leader keeps it in memory.
// JobWork is what runs: an immutable row that only the dispatcher reads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/zone.h"

namespace rota::model {

/// Entries: all that is in `entries`, and nothing else of the schedule.
enum class ScheduleKind { None, Once, FixedRate, Cron, Entries };
/// What becomes of one more run when as many as `concurrency` says are under way. QueueOne: it waits, and at
/// most one does. Replace: it waits too, and the oldest one is ended for it. Terminate: the same, by KILL.
enum class Overlap { Skip, Queue, Allow, QueueOne, Replace, Terminate };
enum class LatePolicy { FireOnce, Skip, FireAll };
/// What ends a job for good. Success: its first run that succeeds.
enum class Until { Never, Success };
/// Which of the workers that may take a run gets it (docs/routing.md).
enum class RouteKind {
  RoundRobin,
  LeastLoaded,
  Named,
  First,
  Last,
  Random,
  ConsistentHash,
  LeastFrequentlyUsed,
  LeastRecentlyUsed,
  Failover,
  Busyover,
  WeightedRoundRobin,
  LeastConnections,
  FastestResponse
};
/// What follows when an attempt is lost with its worker. Rerun: another attempt once this one must have ended
/// (the fence). Never: no other. Confirm: another once its worker or the operator said that this one is over.
enum class LossPolicy { Rerun, Never, Confirm };
/// How a cron's fields are read. Guess: Quartz when it has a '?', else Unix.
enum class CronDialect { Guess, Unix, Quartz };
/// What happens at a local time that does not exist (spring), or exists twice (autumn).
enum class SkippedTime { RunAtEnd, Skip };
enum class RepeatedTime { First, Second, Both };

struct Schedule {
  ScheduleKind kind = ScheduleKind::None;
  std::string cron;                  ///< Cron: 5 or 6 fields
  CronDialect dialect = CronDialect::Guess;
  std::string time_zone = "UTC";
  SkippedTime skipped_time = SkippedTime::RunAtEnd;
  RepeatedTime repeated_time = RepeatedTime::First;
  Millis interval{0};                ///< FixedRate: >= 100 ms
  std::optional<WallTime> start;     ///< first valid moment; Once: the moment; FixedRate: the anchor
  std::optional<WallTime> end;       ///< no tick after it
  std::vector<std::string> entries;  ///< Entries: a line each (entry_text.h)
  bool operator==(const Schedule&) const = default;
};

/// JobRules::keep_logs, keep_runs: never deleted.
inline constexpr Millis kKeepForEver{-1};

/// JobRules::loss_most of a job that does not say.
inline constexpr std::int32_t kLossMost = 3;

/// Whether another attempt goes to another worker than the one before. Prefer: if another can take it now.
enum class AnotherWorker { Any, Prefer, Require };

struct RetryRule {
  std::int32_t count = 0;            ///< attempts after the first
  Millis delay{1000};                ///< before the second attempt
  double factor = 2.0;               ///< >= 1; each further delay = the last * factor
  Millis max_delay{600'000};
  Millis jitter{0};                  ///< each delay is longer by up to this
  std::vector<std::string> only;     ///< ends that are tried again, a line each (retry_text.h); empty: all
  std::vector<std::string> never;    ///< ends that are not
  AnotherWorker another_worker = AnotherWorker::Any;
  std::string again;                 ///< ends that say "not ready yet" (retry_text.h); empty: none
  bool operator==(const RetryRule&) const = default;
};

struct JobRules {
  Schedule schedule;
  Overlap overlap = Overlap::Skip;
  std::int32_t concurrency = 1;      ///< runs that may be under way at once; Overlap::Allow knows no bound
  std::int32_t queue_limit = 100;    ///< Overlap::Queue: waiting runs beyond it are skipped ("queue_full")
  LatePolicy late = LatePolicy::FireOnce;
  Millis tick_grace{60'000};         ///< lateness up to which every tick fires
  std::string pool = "default";
  RouteKind route = RouteKind::LeastLoaded;
  std::string worker;                ///< RouteKind::Named: the worker's id
  std::string route_key;             ///< ConsistentHash: what it goes by; empty: the job
  std::map<std::string, std::string> prefer;  ///< labels that its worker should have, for a while
  Millis prefer_for{60'000};
  std::map<std::string, std::string> select;  ///< labels that its worker has; see worker_labels.h
  std::map<std::string, std::int32_t> uses;  ///< semaphores of its namespace, and how many tokens of each
  std::int32_t priority = 50;        ///< 0 to 100; whose turn it is (master/core/admission/turn_rules.h)
  std::int32_t slots = 1;            ///< of its worker, that each attempt takes
  std::map<std::string, std::int64_t> needs;  ///< named amounts that it takes beside them (demand.h)
  RetryRule retry;
  Millis timeout{0};                 ///< of one attempt; 0: none
  Millis run_timeout{0};             ///< from the start of the first attempt to the end of the last; 0: none
  Millis queue_timeout{0};           ///< from the firing to the start of the first attempt; 0: none
  Millis kill_grace{10'000};         ///< between TERM and KILL
  LossPolicy loss = LossPolicy::Rerun;
  std::int32_t loss_most = kLossMost;  ///< this many losses end a run as lost; hand-overs do not count
  Millis disconnect_grace{0};        ///< at most 7 days
  Millis keep_logs{0};               ///< output, after the run's end; 0: the cluster's default
  Millis keep_runs{0};               ///< runs with their output; the same rule
  std::int32_t firings = 0;          ///< after so many ticks that fired it is done; 0: no end
  Until until = Until::Never;
  std::int32_t pause_after_failures = 0;  ///< so many failed runs in a row pause it; 0: never
  std::vector<std::string> on_success;  ///< child jobs (child.h): a run of each begins when a run succeeds
  std::vector<std::string> on_failure;  ///< when it fails, times out or is lost
  std::vector<std::string> on_end;   ///< when it ends in any way, except that it was skipped
  std::vector<std::string> notify;   ///< receivers; empty: those of the masters' settings
  Millis expect_start_within{0};     ///< from the planned moment to the first attempt; 0: not expected
  std::string expect_finish_by;      ///< "07:30": success by the next such local time; empty: likewise
  std::string expect_longer_than;    ///< expect.h: told when it takes longer; empty: likewise
  bool operator==(const JobRules&) const = default;
};

/// Whether runs of other jobs begin at the ends of its own.
inline bool names_children(const JobRules& rules) {
  return !rules.on_success.empty() || !rules.on_failure.empty() || !rules.on_end.empty();
}

/// Whether an attempt's own work folder is kept when the attempt has ended.
enum class KeepFolder { Never, OnFailure, Always };

/// Where a handler runs: on a thread of the worker, or alone in a process as a command does.
enum class Isolation { Worker, Process };

/// What an attempt may use. 0: not limited, except for core files: 0 means none. Processes, memory and CPU
/// time are counted together for everything that the attempt started.
struct JobLimits {
  std::int64_t memory_bytes = 0;         ///< proportional: shared pages count in part
  std::int64_t address_space_bytes = 0;  ///< of one process
  std::int32_t processes = 0;
  std::int32_t open_files = 0;           ///< of one process
  Millis cpu{0};
  std::int64_t file_size_bytes = 0;      ///< of one file
  std::int64_t folder_bytes = 0;         ///< of the attempt's own work folder
  std::int64_t core_bytes = 0;
  std::int32_t milli_cpus = 0;           ///< CPU time a second: 500 is half a core; only by the kernel
  bool operator==(const JobLimits&) const = default;
};

struct JobWork {
  std::string handler = "command";   ///< "command", or the name of a handler linked to the worker
  std::vector<std::string> argv;     ///< command: the program and its arguments
  std::string script;                ///< command: a text for the interpreter, instead of argv
  std::string interpreter = "/bin/sh";
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> parameters;  ///< defaults; a run may override them
  std::string folder;                ///< empty: the attempt's own work folder
  std::int64_t output_cap_bytes = 64ll << 20;
  JobLimits limits;
  std::int32_t nice = 0;             ///< added to the worker's own
  std::int32_t umask = 022;
  std::string run_as;                ///< a user that the worker allows; empty: the worker's own
  KeepFolder keep_folder = KeepFolder::Never;
  Isolation isolation = Isolation::Worker;  ///< of a handler; a command has a process in any case
  std::vector<std::string> cleanup;  ///< runs behind each attempt (template_text.h); empty: nothing
  bool operator==(const JobWork&) const = default;
};

/// Whether it runs in a process of its own, under the warden.
inline bool has_own_process(const JobWork& work) {
  return work.handler == "command" || work.isolation == Isolation::Process;
}

struct JobDefinition {
  std::string space = "default";     ///< namespace
  std::string name;
  std::string description;
  std::string owner;
  std::map<std::string, std::string> labels;
  JobRules rules;
  JobWork work;
  bool operator==(const JobDefinition&) const = default;
};

enum class JobState { Enabled, Paused, Deleted };

/// What a job's rules remember beyond its runs, which may be deleted. Since it was last enabled by hand.
struct JobMemory {
  std::int32_t fired = 0;            ///< ticks that fired; counted where `firings` is given
  std::int32_t failures = 0;         ///< runs in a row that did not succeed; with `pause_after_failures`
  std::optional<WallTime> due;       ///< by an entry `after_end`
  /// A run ended then by which its rules end the job, while ticks were held: what comes after it is no tick.
  std::optional<WallTime> over_since;
  bool operator==(const JobMemory&) const = default;
};

/// The row `job`: the newest version and whether it fires.
struct Job {
  JobId id;
  std::string space = "default";
  std::string name;
  JobVersion version = 0;
  JobState state = JobState::Enabled;
  bool one_off = false;              ///< made by a submit; never listed among the saved jobs
  std::string state_by;              ///< who paused or deleted it
  std::string state_why;
  WallTime created{};
  WallTime changed{};
  /// Its ticks are recorded at least up to here. Set when that is ahead of the watermark of all jobs; a
  /// value before the watermark has no meaning.
  std::optional<WallTime> ticks_through;
  JobMemory memory;
};

/// The row `job_version`: immutable, except for valid_to being set once. Its ticks are those in
/// (valid_from, valid_to]. A paused stretch belongs to no version: pausing closes the version's row
/// and resuming opens a new version with the same definition.
struct JobVersionRow {
  JobId job;
  JobVersion version = 0;
  WallTime valid_from{};
  std::optional<WallTime> valid_to;
  WallTime anchor{};                 ///< of a fixed rate: tick k is at anchor + k * interval
  bool enabled = true;               ///< false: no ticks are planned while this version is valid
  std::string principal;             ///< who made it (Caller::principal)
  /// Null in a change that pauses, resumes or closes: the store keeps, or copies, the definition of
  /// the previous version.
  std::shared_ptr<const JobDefinition> definition;
};

}  // namespace rota::model
