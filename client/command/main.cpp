// The command line of `rota`: its help, and which command it selects. Only this file, *_commands.cpp,
// common_options.cpp and command_words.cpp use CLI11.
#include <fmt/ranges.h>

#include <clocale>
#include <functional>
#include <memory>

#include "client/command/command_line.h"
#include "client/command/command_words.h"
#include "common/base/log.h"
#include "common/base/spelling.h"
#include "common/base/utf8.h"
#include "common/rpc/process_setup.h"

namespace rota::client {
namespace {

constexpr const char* kWhichCluster =
    "The cluster is found by --masters, else by --zookeeper. What no option says, the environment says\n"
    "(ROTA_MASTERS, ROTA_ZOOKEEPER), else the context: `rota context show` tells what is used, and why.";

std::string footer() {
  std::string out = "Exit status:\n";
  for (const ExitMeaning& one : kExitMeanings) out += fmt::format("  {:2}  {}\n", one.status, one.meaning);
  return out + kWhichCluster;
}

}  // namespace

CLI::App* add(CLI::App& parent, CommandLine& line, const std::string& name,
              const std::string& help, Command command) {
  CLI::App* app = parent.add_subcommand(name, help);
  app->callback([&line, command = std::move(command)] { line.command = command; });
  return app;
}

CLI::App* add_apply(CLI::App& parent, CommandLine& line, const char* help) {
  CLI::App* made = add(parent, line, "apply", help, [&line](Desk& desk) {
    return client::apply(desk, line.apply);
  });
  made->add_option("-f,--file", line.apply.file, "job file (YAML), or a folder; - for standard input")
      ->required();
  made->add_flag("--yes,-y", line.apply.yes, "show the plan but do not ask");
  made->add_flag("--dry-run", line.apply.dry_run, "only show the plan; exit 11 if it has changes");
  return made;
}

namespace {

void add_submit(CLI::App& app, CommandLine& line) {
  CLI::App* submit = add(app, line, "submit", "run a command once: rota submit -- CMD ARG...",
                         [&line](Desk& desk) { return client::submit(desk, line.submit); });
  submit->add_option("--name", line.submit.name, "a name to find its runs by");
  submit->add_option("--pool", line.submit.pool, "pool of workers")->capture_default_str();
  submit->add_option("--worker", line.submit.worker, "only on the worker with this id");
  submit->add_option("--param", line.submit.parameters, "parameter, name=value (repeatable)")
      ->allow_extra_args(false);
  submit->add_option("--env", line.submit.environment, "environment, name=value (repeatable)")
      ->allow_extra_args(false);
  submit->add_option("--timeout", line.submit.timeout, "limit for one attempt, e.g. 90s");
  submit->add_option("--retries", line.submit.retries, "attempts after the first")
      ->check(CLI::Range(0, 1000));
  submit->add_option("--key", line.submit.key,
                     "request key: submits with the same key start only one run");
  submit->add_option("--handler", line.submit.handler, "handler on the worker")
      ->capture_default_str();
  submit->add_flag("--wait", line.submit.wait, "wait for its end; exit 10 unless it succeeded");
  submit->add_option("--wait-at-most", line.submit.wait_at_most, "wait, and exit 6 after this time, e.g. 5m");
  submit->add_flag("--follow,-f", line.submit.follow, "print its output as it comes, and wait");
  submit->add_option("command", line.submit.command, "the command and its arguments, after --");
}

void add_calendar(CLI::App& app, CommandLine& line) {
  CLI::App* calendar = app.add_subcommand("calendar", "working days, for schedules");
  calendar->require_subcommand(1);
  add_apply(*calendar, line, "create or change the calendars of a file")->callback([&line] {
    line.apply.only_calendars = true;
    line.command = [&line](Desk& desk) { return client::apply(desk, line.apply); };
  });
  CLI::App* list = add(*calendar, line, "list", "all calendars, or those whose names begin with PREFIX",
                       [&line](Desk& desk) { return calendar_list(desk, line.name, line.limit); });
  listing(list, line)->add_option("prefix", line.name, "the beginning of names");
  list->add_option("--limit", line.limit, "at most this many rows")
      ->check(CLI::Range(1, 1000))->capture_default_str();
  const auto named = [&](const std::string& name, const std::string& help, Command command) {
    CLI::App* sub = add(*calendar, line, name, help, std::move(command));
    sub->add_option("name", line.name, "the calendar")->required();
    return sub;
  };
  named("show", "one calendar as a job file, with its versions",
        [&line](Desk& desk) { return calendar_show(desk, line.name); });
  CLI::App* remove = named("delete", "end a calendar that no job uses, after asking", [&line](Desk& desk) {
    return calendar_delete(desk, line.name, line.why, line.yes);
  });
  remove->add_option("--why", line.why, "reason, stored");
  remove->add_flag("--yes,-y", line.yes, "do not ask");
  CLI::App* preview = add(*calendar, line, "preview", "which days are open or closed, why, and their hours",
                          [&line](Desk& desk) {
                            if (line.preview.name.empty() == line.preview.file.empty()) {
                              return complain(Error(ErrorCode::InvalidArgument,
                                                    "give the calendar's name, or a file with --file"));
                            }
                            return calendar_preview(desk, line.preview);
                          });
  listing(preview, line)->add_option("name", line.preview.name, "the calendar");
  preview->add_option("-f,--file", line.preview.file, "instead: a job file with one calendar");
  preview->add_option("--days", line.preview.range,
                      "2026, 2026-12, or 2026-12-20..2027-01-06; 30 days from today by default");
  CLI::App* import = add(*calendar, line, "import",
                         "print the days of an iCalendar file (.ics) as a calendar to apply",
                         [&line](Desk&) { return calendar_import(line.import); });
  import->preparse_callback([&line](std::size_t) { line.is_local = true; });
  import->add_option("file", line.import.file, "the .ics file")->required();
  import->add_option("--name", line.import.name, "the calendar's name")->required();
  import->add_option("--covers", line.import.covers, "days to take: 2026, or 2026-01-01..2027-12-31")
      ->required();
  import->add_option("--week", line.import.days, "its open weekdays")->capture_default_str();
  import->add_option("--time-zone", line.import.time_zone, "of its hours")->capture_default_str();
  import->add_flag("--open", line.import.open, "the file's days are open, not closed");
}

void add_nodes(CLI::App& app, CommandLine& line) {
  CLI::App* master = app.add_subcommand("master", "masters");
  master->require_subcommand(1);
  listing(add(*master, line, "list", "all masters, each with its figures", master_list), line);
  watchable(add(*master, line, "show", "one master",
                [&line](Desk& desk) { return master_show(desk, line.name); }), line)
      ->add_option("master", line.name, "the master's id")->required();
  watchable(add(app, line, "capacity", "slots in use in each pool, the reserve, and when they end", capacity),
            line);
}

void add_cluster(CLI::App& app, CommandLine& line) {
  CLI::App* worker = app.add_subcommand("worker", "workers");
  worker->require_subcommand(1);
  const char* const about = "all workers, also those that are gone until they are forgotten";
  CLI::App* list = add(*worker, line, "list", about, [&line](Desk& desk) {
    return line.name.empty() ? worker_list(desk, line.all) : worker_lives(desk, line.name);
  });
  list->add_flag("--all", line.all, "also workers that are dead: offline for ten minutes and more");
  listing(list, line)->add_option("--lives", line.name, "instead: the lives of the worker with this id");
  where_option(list, line, "--state", "state", "only in this state, e.g. online (repeatable)");
  where_option(list, line, "--pool", "pool", "only of this pool (repeatable)");
  CLI::App* show = watchable(
      add(*worker, line, "show", "one worker, what runs there, and its latest lives",
          [&line](Desk& desk) {
            return line.history ? worker_history(desk, line.name) : worker_show(desk, line.name);
          }),
      line);
  show->add_option("worker", line.name, "the worker's id")->required();
  show->add_flag("--history", line.history, "instead: its figures of the last 24 hours, minute by minute");
  CLI::App* drain = add(*worker, line, "drain", "give it no new runs until it is resumed",
                        [&line](Desk& desk) { return worker_drain(desk, line.drain); });
  drain->add_option("worker", line.drain.worker, "the worker's id")->required();
  drain->add_option("--deadline", line.drain.deadline,
                    "hand over to other workers what still runs after this time, e.g. 10m");
  drain->add_option("--why", line.drain.why, "reason, shown with the worker");
  drain->add_flag("--yes,-y,--confirm", line.drain.yes, "do not ask");
  drain->add_flag("--wait", line.drain.wait, "wait until nothing runs there");
  drain->add_option("--wait-at-most", line.drain.wait_at_most, "exit 6 after this time, e.g. 15m");
  CLI::App* resume = add(*worker, line, "resume", "let a drained worker work again",
                         [&line](Desk& desk) { return worker_resume(desk, line.drain); });
  resume->add_option("worker", line.drain.worker, "the worker's id")->required();
  resume->add_option("--why", line.drain.why, "reason, stored");
  add(*worker, line, "forget", "no longer show a worker that is gone, and end its drain",
      [&line](Desk& desk) { return worker_forget(desk, line.name); })
      ->add_option("worker", line.name, "the worker's id")->required();
  CLI::App* dead = add(*worker, line, "confirm-dead",
                       "say that it is dead, so that jobs with `loss: confirm` start again elsewhere",
                       [&line](Desk& desk) { return worker_confirm_dead(desk, line.drain); });
  dead->add_option("worker", line.drain.worker, "the worker's id")->required();
  dead->add_option("--why", line.drain.why, "reason, stored");
  dead->add_flag("--yes,-y", line.drain.yes, "do not ask");
  CLI::App* cluster = app.add_subcommand("cluster", "the cluster");
  cluster->require_subcommand(1);
  watchable(add(*cluster, line, "status", "leader, masters, workers and their health",
                [](Desk& desk) { return cluster_status(desk); }), line);
  CLI::App* verify = add(app, line, "verify",
                         "check the history against the promises; exit 1 if broken, 6 if not all was checked",
                         [&line](Desk& desk) {
                           line.verify.job = line.name;
                           line.verify.since = line.since;
                           return client::verify(desk, line.verify);
                         });
  verify->add_option("--job", line.name, "only this job");
  verify->add_option("--since", line.since, "only ticks since a moment, or e.g. 2h back");
  verify->add_option("--at-most", line.verify.at_most, "after this time say how far it got, and exit 6")
      ->capture_default_str();
  verify->add_option("--from", line.verify.from, "continue at the place that an earlier verify printed");
}

/// When nobody names a namespace, all of them are meant.
FreezeArguments freeze_of(const CommandLine& line) {
  FreezeArguments out = line.freeze;
  if (line.target.is_set("namespace")) out.space = line.target["namespace"];
  return out;
}

void add_freeze(CLI::App& app, CommandLine& line) {
  const char* const about = "fire no ticks until a moment, of --namespace or of all; then make up for them";
  CLI::App* freeze = app.add_subcommand("freeze", about);
  freeze->require_subcommand(0, 1);
  freeze->add_option("--until", line.freeze.until, "a moment, or a duration from now, e.g. 2h");
  freeze->add_option("--why", line.freeze.why, "reason, shown with everything that did not fire");
  freeze->add_flag("--yes,-y", line.freeze.yes, "do not ask");
  freeze->callback([&line, freeze] {
    if (!freeze->get_subcommands().empty()) return;
    line.command = [&line](Desk& desk) { return freeze_begin(desk, freeze_of(line)); };
  });
  CLI::App* list = add(*freeze, line, "list", "freezes of now and of before, the newest first", freeze_list);
  where_option(listing(list, line), line, "--state", "state", "only in this state, e.g. frozen (repeatable)");
  add(*freeze, line, "end", "end it now; frozen ticks are made up for", [&line](Desk& desk) {
    return freeze_end(desk, freeze_of(line));
  })->add_flag("--yes,-y", line.freeze.yes, "do not ask");
}

/// `set`, `list` and `show` of pools or namespaces; gives `set`, which has options of its own.
CLI::App* add_quota(CLI::App& app, CommandLine& line, const std::string& side, const std::string& help) {
  CLI::App* noun = app.add_subcommand(side, help);
  noun->require_subcommand(1);
  const auto with_side = [&line, side](int (*command)(Desk&, const QuotaArguments&)) {
    return [&line, side, command](Desk& desk) {
      line.quota.side = side;
      return command(desk, line.quota);
    };
  };
  CLI::App* set = add(*noun, line, "set", "change limits; what is not named stays", with_side(quota_set));
  set->add_option("name", line.quota.name, side)->required();
  CLI::App* list =
      add(*noun, line, "list", "all, with limits and what is used of them", with_side(quota_list));
  listing(list, line)->add_option("prefix", line.quota.name, "only names that begin so");
  CLI::App* show = add(*noun, line, "show", "limits, and what is used of them", with_side(quota_show));
  show->add_option("name", line.quota.name, side)->required();
  watchable(show, line);
  return set;
}

void add_quotas(CLI::App& app, CommandLine& line) {
  CLI::App* pool = add_quota(app, line, "pool", "how many runs of a pool may be under way at once");
  CLI::Option* limit =
      pool->add_option("--limit", line.quota.slots, "runs under way at once; 0: none starts");
  pool->add_flag("--clear", line.quota.clear, "no limit any more")->excludes(limit);
  pool->add_option("--min-workers", line.quota.min_workers, "workers that it should have at least; or none");
  pool->add_option("--max-workers", line.quota.max_workers, "workers that it should have at most; or none");
  pool->add_option("--hook", line.quota.hook,
                   "hook in the masters' settings that starts and stops its workers; or none");
  CLI::App* space = add_quota(app, line, "namespace", "weight and limits of a namespace");
  space->add_option("--weight", line.quota.weight, "its share of free slots, beside those of others (1)")
      ->check(CLI::Range(1, 1000));
  space->add_option("--max-slots", line.quota.slots, "runs under way at once, in all pools; or none");
  space->add_option("--max-jobs", line.quota.jobs, "saved jobs; or none");
  space->add_option("--max-unfinished", line.quota.unfinished, "unfinished runs; or none");
  space->add_option("--max-firings-per-minute", line.quota.firings, "runs that begin in a minute; or none");
  space->add_option("--timeout", line.quota.timeout, "of an attempt, where its job does not say; or none");
  space->add_option("--run-timeout", line.quota.run_timeout, "of a run, where its job does not say; or none");
  space->add_option("--queue-timeout", line.quota.queue_timeout, "of the wait, likewise; or none");
}

void add_semaphore(CLI::App& app, CommandLine& line) {
  CLI::App* semaphore = app.add_subcommand("semaphore", "tokens that runs of many jobs share");
  semaphore->require_subcommand(1);
  CLI::App* set = add(*semaphore, line, "set", "give it a count, and make it when there is none; 0 closes it",
                      [&line](Desk& desk) { return semaphore_set(desk, line.semaphore); });
  set->add_option("name", line.semaphore.name, "semaphore")->required();
  set->add_option("count", line.semaphore.count, "tokens")->required()->check(CLI::Range(0, 1'000'000));
  CLI::App* list = add(*semaphore, line, "list", "all of a namespace, and how many tokens are held",
                       [&line](Desk& desk) { return semaphore_list(desk, line.semaphore.name); });
  listing(list, line)->add_option("prefix", line.semaphore.name, "only names that begin so");
  where_option(list, line, "--state", "state", "only in this state: free, all held, closed (repeatable)");
  CLI::App* show = add(*semaphore, line, "show", "who holds its tokens, and who waits in which order",
                       [&line](Desk& desk) { return semaphore_show(desk, line.semaphore.name); });
  show->add_option("name", line.semaphore.name, "semaphore")->required();
  watchable(show, line);
  CLI::App* remove = add(*semaphore, line, "delete", "when no job uses it any more",
                         [&line](Desk& desk) { return semaphore_delete(desk, line.semaphore); });
  remove->add_option("name", line.semaphore.name, "semaphore")->required();
  remove->add_flag("--yes,-y", line.semaphore.yes, "do not ask");
}

void add_attention(CLI::App& app, CommandLine& line) {
  const char* const help = "what failed, was missed, is stuck, waits for help or is held now";
  CLI::App* attention = add(app, line, "attention", help, [&line](Desk& desk) {
    return client::attention(desk, line.attention);
  });
  attention
      ->add_option("--since", line.attention.since, "failed runs and missed ticks since: 2h, or a moment")
      ->capture_default_str();
  attention->add_flag("--check", line.attention.check, "exit 1 when there is an error or a warning");
  where_option(listing(attention, line), line, "--level", "level", "error, warning or info (repeatable)");
  where_option(attention, line, "--kind", "kind", "only of this kind (repeatable)");
}

void add_autoscale(CLI::App& app, CommandLine& line) {
  CLI::App* autoscale = app.add_subcommand("autoscale", "how many workers each pool should have");
  autoscale->require_subcommand(1);
  CLI::App* list = add(*autoscale, line, "list", "wanted workers of each pool, and why so many",
                       [&line](Desk& desk) { return autoscale_list(desk, line.autoscale); });
  listing(list, line)->add_option("prefix", line.autoscale.pool, "only pools that begin so");
  CLI::App* changes =
      add(*autoscale, line, "changes", "changes of wanted numbers and calls of hooks, the newest first",
          [&line](Desk& desk) { return autoscale_changes(desk, line.autoscale); });
  changes->add_option("--limit", line.autoscale.limit, "at most so many")->check(CLI::Range(1, 10'000));
  listing(changes, line)->add_option("pool", line.autoscale.pool, "only of this pool");
  where_option(changes, line, "--state", "state", "only in this state, e.g. open (repeatable)");
}

void add_notify(CLI::App& app, CommandLine& line) {
  CLI::App* notify = app.add_subcommand("notify", "who was told what went wrong, and tests of receivers");
  notify->require_subcommand(1);
  CLI::App* list = add(*notify, line, "list", "notifications, the newest first, and how far each is",
                       [&line](Desk& desk) { return notify_list(desk, line.notify); });
  list->add_flag("--undelivered", line.notify.undelivered, "only those that no receiver has accepted yet");
  list->add_option("--limit", line.notify.limit, "at most so many")->check(CLI::Range(1, 10'000));
  where_option(listing(list, line), line, "--receiver", "receiver", "only to this receiver (repeatable)");
  where_option(list, line, "--event", "event", "only of this kind (repeatable)");
  CLI::App* test = add(*notify, line, "test", "send a receiver one for real, and show what it answers",
                       [&line](Desk& desk) { return notify_test(desk, line.notify); });
  test->add_option("receiver", line.notify.receiver, "its name in the masters' settings")->required();
}

void add_lock(CLI::App& app, CommandLine& line) {
  CLI::App* lock = add(app, line, "lock", "run a command while holding a named lock: rota lock NAME -- CMD",
                       [&line](Desk&) {
                         line.lock.zookeeper = line.cluster.zookeeper;
                         line.lock.cluster = line.cluster.cluster;
                         return client::lock(line.lock);
                       });
  lock->add_option("name", line.lock.name, "1 to 64 letters, digits, '-', '_' or '.'")->required();
  lock->add_flag("--wait", line.lock.wait, "wait until it is free; without it: exit 6 when it is taken");
  lock->add_option("--wait-at-most", line.lock.wait_at_most, "wait, and exit 6 after this time, e.g. 5m");
  lock->add_option("--ttl", line.lock.ttl, "others get it this long after its holder has gone")
      ->capture_default_str();
  lock->add_option("command", line.lock.command, "the command and its arguments, after --");
}

void add_completion(CLI::App& app, CommandLine& line) {
  CLI::App* completion = add(app, line, "completion", "print the completion script of a shell",
                             [&line](Desk&) {
                               print_text(completion_script(line.line));
                               return static_cast<int>(kOk);
                             });
  completion->preparse_callback([&line](std::size_t) { line.is_local = true; });
  completion->add_option("shell", line.line, "bash, zsh or fish")
      ->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer("Use it by: source <(rota completion bash), or for fish: rota completion fish | source");
}

/// Names the word that is no command or option of the deepest recognised command; empty: there is none.
std::string complaint_of_unknown(CLI::App& app) {
  CLI::App* deepest = &app;
  std::string path = "rota";
  while (!deepest->get_subcommands().empty()) {
    deepest = deepest->get_subcommands().front();
    path += " " + deepest->get_name();
  }
  const std::vector<std::string> extras = app.remaining(true);
  std::vector<std::string> known;
  for (const CLI::App* sub : deepest->get_subcommands({})) known.push_back(sub->get_name());
  if (known.empty()) return "";
  std::string what = "a command is missing after `" + path + "`";
  if (!extras.empty()) {
    what = fmt::format("'{}' is no command of {}{}", printable(extras.front()), path,
                       did_you_mean(extras.front(), known));
  }
  return fmt::format("{}; the commands are: {}. See {} --help", what, fmt::join(known, ", "), path);
}

/// Names a word of Rota's own part of the line that is not UTF-8; what follows `--` belongs to the command.
std::string complaint_of_bytes(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (is_utf8(argv[i])) continue;
    return fmt::format("word {} of the command line, {}, is not UTF-8", i, quoted_text(argv[i]));
  }
  return "";
}

int command_line(int argc, char** argv) {
  if (const std::string complaint = complaint_of_bytes(argc, argv); !complaint.empty()) {
    return complain(Error(ErrorCode::InvalidArgument, complaint));
  }
  CommandLine line;
  CLI::App app("rota: submit and watch jobs of a Rota cluster", "rota");
  app.set_version_flag("--version", ROTA_VERSION);
  app.require_subcommand(1);
  app.footer(footer());
  add_common(app, line);
  add_submit(app, line);
  add_freeze(app, line);
  add_quotas(app, line);
  add_semaphore(app, line);
  add_setting(app, line);
  add_attention(app, line);
  add_autoscale(app, line);
  add_notify(app, line);
  add_lock(app, line);
  add_job(app, line);
  add_calendar(app, line);
  add_apply(app, line, "create or change the jobs and calendars of a file or folder, in one plan");
  add_run(app, line);
  add_cluster(app, line);
  add_context(app, line);
  add_nodes(app, line);
  add_completion(app, line);
  if (argc > 2 && std::string_view(argv[1]) == "--complete") {
    return complete_words(app, line, std::vector<std::string>(argv + 2, argv + argc));
  }
  if (argc > 1 && std::string_view(argv[1]) == "--describe") return print_command_table(command_words(app));
  if (argc > 2 && std::string_view(argv[1]) == "--man") {
    return write_man_pages(command_words(app), argv[2], std::vector<std::string>(argv + 3, argv + argc));
  }
  fall_through(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    const std::string complaint = complaint_of_unknown(app);
    if (!complaint.empty()) return complain(Error(ErrorCode::InvalidArgument, complaint));
    return app.exit(error) == 0 ? kOk : kUsage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  return perform(line);
}

}  // namespace
}  // namespace rota::client

int main(int argc, char** argv) {
  rota::rpc::ignore_sigpipe();
  std::setlocale(LC_CTYPE, "C.UTF-8");  // screen widths of any text
  rota::LogOptions quiet;
  quiet.process = "rota";
  quiet.level = rota::Severity::Error;
  rota::log_start(quiet);
  return rota::client::command_line(argc, argv);
}
