// The commands of `rota`, one function each. Each prints its result and returns the exit status. Only
// main.cpp and job_commands.cpp know the command line.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cluster.h"
#include "client/command/row_filter.h"
#include "client/command/screen.h"
#include "client/target.h"

namespace rota::client {

/// What every command gets.
struct Desk {
  Cluster& cluster;
  Format format = Format::Table;
  std::string space = "default";
  std::vector<RowCondition> where = {};  ///< of a list's rows
  std::string target = "";               ///< the cluster that is meant, in words

  /// For programs: JSON, YAML or CSV.
  bool prints_data() const { return format != Format::Table && format != Format::Wide; }
};

struct ContextArguments {
  std::string name;
  SaidSettings options;                  ///< --masters and the like, and --context
  std::vector<std::string> unset;
  bool yes = false;
};
int context_list(Desk& desk, const std::string& prefix);
/// Without a name: what a command would use, and why.
int context_show(Desk& desk, const ContextArguments& arguments);
int context_use(Desk& desk, const ContextArguments& arguments);
int context_set(Desk& desk, const ContextArguments& arguments);
int context_delete(Desk& desk, const ContextArguments& arguments);

struct SubmitArguments {
  std::string name;
  std::string pool = "default";
  std::string worker;
  std::vector<std::string> parameters;   ///< k=v
  std::vector<std::string> environment;  ///< k=v
  std::string timeout;                   ///< "30s"; empty: none
  int retries = 0;
  std::string key;
  std::string handler = "command";
  bool wait = false;
  bool follow = false;
  std::string wait_at_most;              ///< empty: no limit; when set, it waits
  std::vector<std::string> command;
};
int submit(Desk& desk, const SubmitArguments& arguments);

struct ApplyArguments {
  std::string file;                      ///< or a folder; "-": standard input
  bool yes = false;
  bool dry_run = false;                  ///< show the plan alone; returns 11 when it has changes
  bool only_calendars = false;
};
int apply(Desk& desk, const ApplyArguments& arguments);
int calendar_list(Desk& desk, const std::string& prefix, int limit);
int calendar_show(Desk& desk, const std::string& name);
int calendar_delete(Desk& desk, const std::string& name, const std::string& why, bool yes);
struct PreviewArguments {
  std::string name;                      ///< a saved calendar, or
  std::string file;                      ///< a job file with one
  std::string range;                     ///< days, a month or a year; empty: from today on
};
int calendar_preview(Desk& desk, const PreviewArguments& arguments);
struct ImportArguments {
  std::string file, name;
  std::string covers;                    ///< as PreviewArguments::range
  std::string days = "mon-fri";
  std::string time_zone = "UTC";
  bool open = false;                     ///< the file's days are open, not closed
};
/// Prints a job file with the calendar. Asks no master.
int calendar_import(const ImportArguments& arguments);
int job_list(Desk& desk, const std::string& prefix, int limit, bool all);
int job_show(Desk& desk, const std::string& name);
/// A JSON Schema of job files, or the table of their keys. Asks no master.
int job_schema(bool as_table);
struct PauseArguments {
  bool cancel_running = false;           ///< also ends unfinished runs
  bool yes = false;
};
int job_pause(Desk& desk, const std::string& name, const std::string& why, const PauseArguments& arguments);
int job_resume(Desk& desk, const std::string& name, const std::string& why);
int job_undelete(Desk& desk, const std::string& name);
int job_delete(Desk& desk, const std::string& name, const std::string& why, bool yes);
enum class BulkVerb { Pause, Resume, Run, Delete };
/// For all saved jobs that have these labels.
struct BulkArguments {
  BulkVerb verb = BulkVerb::Pause;
  std::vector<std::string> labels;       ///< k=v; a job has all of them
  std::vector<std::string> parameters;   ///< k=v, of runs
  std::string why;
  bool yes = false;
  bool dry_run = false;                  ///< show the plan alone; returns 11 when it has changes
};
int bulk(Desk& desk, const BulkArguments& arguments);
struct RunNowArguments {
  std::string name;
  std::vector<std::string> parameters;
  std::string key;
  bool wait = false;
  bool follow = false;
  std::string wait_at_most;              ///< empty: no limit; when set, it waits
};
int job_gaps(Desk& desk, const std::string& name, int limit);
int job_late(Desk& desk, const std::string& name, int limit);
int job_run(Desk& desk, const RunNowArguments& arguments);
int job_next(Desk& desk, const std::string& name, const std::string& line,
             const std::string& time_zone, const std::string& after, int count);

struct RunListArguments {
  std::string job;                       ///< a saved job
  std::string one_off;                   ///< or the name of submits
  std::vector<std::string> states;
  std::string since;                     ///< a moment, or a duration back from now
  std::string worker;                    ///< runs whose newest attempt is or was there
  std::string parent, root;              ///< children of that run, or all below that root
  int limit = 50;
  bool all = false;                      ///< no limit
};
int run_list(Desk& desk, const RunListArguments& arguments);
int run_show(Desk& desk, const std::string& run);
struct LogsArguments {
  std::string run;
  int attempt = 0;
  bool follow = false;
  bool standard_error_only = false;
  bool standard_output_only = false;
  bool raw = false;                      ///< bytes unchanged, also on a terminal
};
int run_logs(Desk& desk, const LogsArguments& arguments);
struct WaitArguments {
  std::string run;
  bool follow = false;
  std::string wait_at_most;              ///< empty: forever
};
int run_wait(Desk& desk, const WaitArguments& arguments);
int run_cancel(Desk& desk, const std::string& run, const std::string& why);
/// All unfinished runs of a saved job.
int run_cancel_all(Desk& desk, const std::string& job, const std::string& why, bool yes);
/// The job of that run once more, with its parameters; those given here replace them. The name is not read.
int run_rerun(Desk& desk, const std::string& run, const RunNowArguments& arguments);
int run_why(Desk& desk, const std::string& run);

/// The moments of one run, attempt by attempt, with the time between.
int run_timeline(Desk& desk, const std::string& run);

int worker_list(Desk& desk, bool all);
int worker_show(Desk& desk, const std::string& worker);
int worker_history(Desk& desk, const std::string& worker);
int worker_lives(Desk& desk, const std::string& worker);
int master_list(Desk& desk);
int master_show(Desk& desk, const std::string& master);
int capacity(Desk& desk);
struct DrainArguments {
  std::string worker;
  std::string deadline;                  ///< empty: running attempts may finish
  std::string why;
  bool yes = false;
  bool wait = false;
  std::string wait_at_most;              ///< empty: forever
};
int worker_drain(Desk& desk, const DrainArguments& arguments);
int worker_resume(Desk& desk, const DrainArguments& arguments);
int worker_forget(Desk& desk, const std::string& worker);
struct FreezeArguments {
  std::string space;                     ///< empty: all
  std::string until, why;
  bool yes = false;
};
int freeze_begin(Desk& desk, const FreezeArguments& arguments);
int freeze_end(Desk& desk, const FreezeArguments& arguments);
int freeze_list(Desk& desk);
/// "ticks of all namespaces are frozen until ...".
std::string freeze_line(const thrift::FreezeInfo& freeze);
struct QuotaArguments {
  std::string side;                    ///< "pool" or "namespace"
  std::string name;                    ///< list: what it begins with
  std::string slots, jobs, unfinished, firings;  ///< a number or "none"; empty: not given
  std::string timeout, run_timeout, queue_timeout;  ///< a duration or "none"; empty: not given
  std::string min_workers, max_workers;  ///< a number or "none"; empty: not given
  std::string hook;                    ///< a name or "none"; empty: not given
  std::int64_t weight = 0;             ///< 0: not given
  bool clear = false;
};
int quota_set(Desk& desk, const QuotaArguments& arguments);
int quota_list(Desk& desk, const QuotaArguments& arguments);
int quota_show(Desk& desk, const QuotaArguments& arguments);
struct AutoscaleArguments {
  std::string pool;                    ///< list: what it begins with; changes: empty: of all
  std::int32_t limit = 100;
};
int autoscale_list(Desk& desk, const AutoscaleArguments& arguments);
int autoscale_changes(Desk& desk, const AutoscaleArguments& arguments);
struct NotifyArguments {
  std::string receiver;
  bool undelivered = false;
  std::int32_t limit = 100;
};
int notify_list(Desk& desk, const NotifyArguments& arguments);
int notify_test(Desk& desk, const NotifyArguments& arguments);
struct SettingArguments {
  std::string name, value, why;
  std::int32_t if_version = -1;        ///< -1: any
  std::int32_t to = -1;                ///< -1: the version before
  bool here = false;
};
int setting_get(Desk& desk, const SettingArguments& arguments);
int setting_set(Desk& desk, const SettingArguments& arguments);
int setting_history(Desk& desk, const SettingArguments& arguments);
int setting_rollback(Desk& desk, const SettingArguments& arguments);
struct SemaphoreArguments {
  std::string name;
  std::int32_t count = 0;
  bool yes = false;
};
int semaphore_set(Desk& desk, const SemaphoreArguments& arguments);
int semaphore_delete(Desk& desk, const SemaphoreArguments& arguments);
int semaphore_list(Desk& desk, const std::string& prefix);
int semaphore_show(Desk& desk, const std::string& name);
/// What happened, or will happen, at that moment; empty: the newest of which something is known.
int job_why(Desk& desk, const std::string& name, const std::string& at);
int worker_confirm_dead(Desk& desk, const DrainArguments& arguments);
int cluster_status(Desk& desk);
struct AttentionArguments {
  std::string since = "24h";             ///< a moment, or a duration back from now
  bool check = false;                    ///< exit 1 when something more than information is told
};
int attention(Desk& desk, const AttentionArguments& arguments);
struct LockArguments {
  std::string zookeeper, cluster;        ///< where the locks are kept
  std::string name;
  std::string ttl = "30s";               ///< others get it this long after its holder has gone
  bool wait = false;
  std::string wait_at_most;              ///< empty: forever, or not at all
  std::vector<std::string> command;
};
/// Returns the command's exit status, or 128 plus the signal that ended it; 6 when another has the lock.
int lock(const LockArguments& arguments);
struct VerifyWords {
  std::string job;
  std::string since;
  std::string from;               ///< where an earlier verification stopped
  std::string at_most = "10m";
};
/// Returns 0 when every promise is kept, 1 when one is broken, 6 when time was too short and none is broken.
int verify(Desk& desk, const VerifyWords& words);

// --- shared by the commands ---------------------------------------------------------------------

/// Performs a command again and again until Ctrl-C, which ends the program with 0. On a terminal a table is
/// drawn over the one before; else output is printed when it differs from the one before (but for ages), JSON
/// as one line. When the command cannot succeed later either, returns its status; when nobody reads, 0.
int watch(Desk& desk, const std::function<int(Desk&)>& command, Millis interval);
/// Of this person; empty: the environment names no folder for it.
std::string context_file_path();
/// InvalidArgument when the file is wrong. No file is an empty one.
Result<ContextFile> stored_contexts();
SaidSettings said_by_environment();
/// By options, environment and file.
Result<Target> target_of(const SaidSettings& options);
/// "*/5 * * * * UTC", "every 10s", "once 2026-...", or "-".
std::string schedule_line(const thrift::JobDefinition& definition);
/// Unfinished runs of the saved job, the newest first.
Result<std::vector<std::int64_t>> unfinished_runs(Desk& desk, const std::string& job);
/// Says how many it ended. A run that has just ended by itself is not an error.
int cancel_all(Desk& desk, const std::vector<std::int64_t>& runs, const std::string& why);
/// Asks a person at a terminal; false when there is none, or the answer is not yes.
bool confirmed(const std::string& question);
/// The same before something of the cluster is changed: the question names the cluster.
bool confirmed(const Desk& desk, const std::string& question);
/// Waits until the run is final; with `follow` it writes the run's output to stdout and stderr meanwhile.
/// Returns 0 when the run succeeded, 10 when not, 6 when `at_most` passed (zero: no limit). On a terminal,
/// control bytes are shown escaped, unless `raw`. `only_while_read`: returns 0 when nobody reads stdout.
int await_run(Desk& desk, std::int64_t run, bool follow, Millis at_most, bool raw = false,
              bool only_while_read = false);
/// Reads --wait-at-most; zero for an empty text. InvalidArgument when it is not a duration.
Result<Millis> wait_limit_of(const std::string& text);
/// "k=v" texts as a map; InvalidArgument names the text that has no such form.
Result<std::map<std::string, std::string>> pairs_from(const std::vector<std::string>& texts);
/// A moment ("2026-03-29T02:30:00Z") or a duration back from now ("2h").
Result<WallTime> since_from(const std::string& text);

}  // namespace rota::client
