// The command line of `rota job` and `rota run`.
#include <memory>
#include <utility>

#include "client/command/command_line.h"

namespace rota::client {
namespace {

/// What a new run of a saved job takes.
void add_new_run(CLI::App* sub, CommandLine& line) {
  sub->add_option("--param", line.run_now.parameters, "parameter, name=value (repeatable)")
      ->allow_extra_args(false);
  sub->add_option("--key", line.run_now.key, "request key");
  sub->add_flag("--wait", line.run_now.wait, "wait for its end; exit 10 unless it succeeded");
  sub->add_option("--wait-at-most", line.run_now.wait_at_most, "wait, and exit 6 after this time, e.g. 5m");
  sub->add_flag("--follow,-f", line.run_now.follow, "print its output as it comes, and wait");
}

/// Beside the name of one job: labels, and what goes with them.
void add_labels(CLI::App* sub, CommandLine& line, BulkVerb verb, Command one) {
  CLI::Option* name = sub->get_option("name");
  name->required(false);
  CLI::Option* labels = sub->add_option("--label,-l", line.bulk.labels,
                                        "instead of a name: all jobs with this label, k=v (repeatable)");
  labels->allow_extra_args(false)->excludes(name);
  for (const char* of_one : {"--cancel-running", "--key", "--wait", "--wait-at-most", "--follow"}) {
    if (CLI::Option* option = sub->get_option_no_throw(of_one)) labels->excludes(option);
  }
  sub->add_flag("--dry-run", line.bulk.dry_run, "with --label: only show the plan; exit 11 if it changes");
  sub->callback([&line, verb, one = std::move(one)] {
    line.command = [&line, verb, one](Desk& desk) {
      const bool is_bulk = !line.bulk.labels.empty();
      const std::string& given = line.name.empty() ? line.run_now.name : line.name;
      if (is_bulk == !given.empty() || (line.bulk.dry_run && !is_bulk)) {
        return complain(Error(ErrorCode::InvalidArgument,
                              "give the job's name, or --label (with it also --dry-run)"));
      }
      if (!is_bulk) return one(desk);
      line.bulk.verb = verb;
      line.bulk.why = line.why;
      line.bulk.yes = line.yes || line.pause.yes;
      line.bulk.parameters = line.run_now.parameters;
      return bulk(desk, line.bulk);
    };
  });
}

}  // namespace

void add_job(CLI::App& app, CommandLine& line) {
  CLI::App* job = app.add_subcommand("job", "saved jobs");
  job->require_subcommand(1);
  add_apply(*job, line, "create or change the jobs and calendars of a file");
  CLI::App* list = add(*job, line, "list", "all jobs, or those whose names begin with PREFIX",
                       [&line](Desk& desk) { return job_list(desk, line.name, line.limit, line.all); });
  listing(list, line)->add_option("prefix", line.name, "the beginning of names");
  where_option(list, line, "--state", "state", "only enabled or paused ones (repeatable)");
  where_option(list, line, "--pool", "definition.rules.pool", "only of this pool (repeatable)");
  where_option(list, line, "--last", "last_run.state", "only those whose newest run is so (repeatable)");
  CLI::Option* limit = list->add_option("--limit", line.limit, "at most this many rows");
  limit->check(CLI::Range(1, 1'000'000))->capture_default_str();
  list->add_flag("--all", line.all, "all rows, however many")->excludes(limit);
  const auto named = [&](const std::string& name, const std::string& help, Command command) {
    CLI::App* sub = add(*job, line, name, help, std::move(command));
    sub->add_option("name", line.name, "the job")->required();
    return sub;
  };
  CLI::App* schema = add(*job, line, "schema", "a JSON Schema of job files, for editors",
                         [&line](Desk&) { return job_schema(line.as_table); });
  schema->preparse_callback([&line](std::size_t) { line.is_local = true; });
  schema->add_flag("--table", line.as_table, "instead: the table of all keys, in Markdown");
  named("show", "one job as a job file", [&line](Desk& desk) { return job_show(desk, line.name); });
  const Command pause_one = [&line](Desk& desk) { return job_pause(desk, line.name, line.why, line.pause); };
  CLI::App* pause = named("pause", "fire no more ticks until resumed; existing runs go on", pause_one);
  pause->add_option("--why", line.why, "reason, shown with the job");
  pause->add_flag("--cancel-running", line.pause.cancel_running, "end its unfinished runs too, after asking");
  pause->add_flag("--yes,-y", line.pause.yes, "do not ask");
  add_labels(pause, line, BulkVerb::Pause, pause_one);
  const Command resume_one = [&line](Desk& desk) { return job_resume(desk, line.name, line.why); };
  CLI::App* resume = named("resume", "fire ticks again", resume_one);
  resume->add_flag("--yes,-y", line.yes, "with --label: do not ask");
  add_labels(resume, line, BulkVerb::Resume, resume_one);
  const Command delete_one = [&line](Desk& desk) { return job_delete(desk, line.name, line.why, line.yes); };
  CLI::App* remove = named("delete", "end the job, after asking; its history stays", delete_one);
  add_labels(remove, line, BulkVerb::Delete, delete_one);
  remove->add_option("--why", line.why, "reason, kept with the job");
  remove->add_flag("--yes,-y", line.yes, "do not ask");
  named("undelete", "bring back the job of this name that was deleted last",
        [&line](Desk& desk) { return job_undelete(desk, line.name); });
  CLI::App* gaps = named("gaps", "its ticks that did not fire, and why; newest first", [&line](Desk& desk) {
    return job_gaps(desk, line.name, line.limit);
  });
  gaps->add_option("--limit", line.limit, "at most this many rows")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  where_option(listing(gaps, line), line, "--reason", "reason", "only for this reason (repeatable)");
  CLI::App* late = add(*job, line, "late", "what `expect` told of a job, or of all: not met; newest first",
                       [&line](Desk& desk) { return job_late(desk, line.name, line.limit); });
  late->add_option("name", line.name, "the job; all without one");
  late->add_option("--limit", line.limit, "at most this many rows")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  listing(late, line);
  named("why", "what happened at a moment, or will happen; without --at: at the newest one that is known",
        [&line](Desk& desk) { return job_why(desk, line.name, line.at); })
      ->add_option("--at", line.at, "the moment, e.g. 2026-03-29T02:30:00Z");
  const Command run_one = [&line](Desk& desk) { return job_run(desk, line.run_now); };
  CLI::App* run = add(*job, line, "run", "run a saved job now", run_one);
  run->add_option("name", line.run_now.name, "the job")->required();
  add_new_run(run, line);
  run->add_flag("--yes,-y", line.yes, "with --label: do not ask");
  add_labels(run, line, BulkVerb::Run, run_one);
  CLI::App* next = add(*job, line, "next", "the next fire times of a job, or of --schedule",
                       [&line](Desk& desk) {
                         if (line.name.empty() && line.line.empty()) {
                           return complain(Error(ErrorCode::InvalidArgument,
                                                 "give the job's name, or --schedule"));
                         }
                         return job_next(desk, line.name, line.line, line.time_zone, line.after, line.count);
                       });
  next->add_option("name", line.name, "the job");
  next->add_option("--schedule", line.line, "instead: a line such as '*/5 * * * *' or '@every 5s'");
  next->add_option("--time-zone", line.time_zone, "zone for --schedule");
  next->add_option("--after", line.after, "from this moment on, e.g. 2026-03-29T00:00:00Z; else from now on");
  next->add_option("--count,-n", line.count, "how many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

void add_run(CLI::App& app, CommandLine& line) {
  CLI::App* run = app.add_subcommand("run", "runs");
  run->require_subcommand(1);
  CLI::App* list = add(*run, line, "list", "the newest runs",
                       [&line](Desk& desk) { return run_list(desk, line.run_list); });
  listing(list, line);
  list->add_option("--worker", line.run_list.worker, "only runs whose newest attempt is or was there");
  CLI::Option* parent = list->add_option("--parent", line.run_list.parent, "only children of this run");
  list->add_option("--root", line.run_list.root, "only runs of child jobs below this root")->excludes(parent);
  CLI::Option* job = list->add_option("--job", line.run_list.job, "only of this saved job");
  list->add_option("--name", line.run_list.one_off, "only of submits with this name")->excludes(job);
  list->add_option("--state", line.run_list.states, "only in these states (repeatable)")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(CLI::IsMember({"waiting", "queued", "dispatched", "running", "succeeded", "failed", "timed_out",
                             "killed", "kill_failed", "cancelled", "lost", "skipped"}));
  list->add_option("--since", line.run_list.since, "scheduled since a moment, or e.g. 2h back");
  CLI::Option* limit = list->add_option("--limit", line.run_list.limit, "at most this many rows");
  limit->check(CLI::Range(1, 1'000'000))->capture_default_str();
  list->add_flag("--all", line.run_list.all, "all rows, however many")->excludes(limit);
  const auto one = [&](const std::string& name, const std::string& help, Command command) {
    CLI::App* sub = add(*run, line, name, help, std::move(command));
    sub->add_option("run", line.name, "the run's id")->required();
    return sub;
  };
  watchable(one("show", "one run with everything that is known", [&line](Desk& desk) {
    return run_show(desk, line.name);
  }), line);
  CLI::App* wait = add(*run, line, "wait", "wait for its end; exit 10 unless it succeeded",
                       [&line](Desk& desk) { return run_wait(desk, line.wait); });
  wait->add_option("run", line.wait.run, "the run's id")->required();
  wait->add_flag("--follow,-f", line.wait.follow, "print its output as it comes");
  wait->add_option("--wait-at-most,--at-most", line.wait.wait_at_most, "exit 6 after this time, e.g. 5m");
  CLI::App* cancel = one("cancel", "do not start it, or kill it", [&line](Desk& desk) {
    if (line.name.empty() == line.run_list.job.empty()) {
      return complain(Error(ErrorCode::InvalidArgument, "give the run's id, or --job"));
    }
    if (!line.name.empty()) return run_cancel(desk, line.name, line.why);
    return run_cancel_all(desk, line.run_list.job, line.why, line.yes);
  });
  cancel->get_option("run")->required(false);
  cancel->add_option("--job", line.run_list.job,
                     "instead of an id: all unfinished runs of this job, after asking");
  cancel->add_option("--why", line.why, "reason, kept with the run");
  cancel->add_flag("--yes,-y", line.yes, "with --job: do not ask");
  CLI::App* rerun = one("rerun", "run its job once more, with the same parameters", [&line](Desk& desk) {
    return run_rerun(desk, line.name, line.run_now);
  });
  add_new_run(rerun, line);
  watchable(one("why", "why it is in its state: what it passed, what stopped it, what helps",
                [&line](Desk& desk) { return run_why(desk, line.name); }),
            line);
  one("timeline", "when it was due, decided, sent, started, ended and recorded, with the time between",
      [&line](Desk& desk) { return run_timeline(desk, line.name); });
  CLI::App* logs = add(*run, line, "logs", "its output",
                       [&line](Desk& desk) { return run_logs(desk, line.logs); });
  logs->add_option("run", line.logs.run, "the run's id")->required();
  logs->add_flag("-f,--follow", line.logs.follow, "follow the output until the run has ended");
  logs->add_option("--attempt", line.logs.attempt, "of this attempt; the newest by default");
  logs->add_flag("--raw", line.logs.raw,
                 "bytes as they are, also on a terminal; piped output is always raw");
  logs->add_flag("--stdout", line.logs.standard_output_only, "standard output only");
  logs->add_flag("--stderr", line.logs.standard_error_only, "standard error only");
}

}  // namespace rota::client
