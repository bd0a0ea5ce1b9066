// rota-master: reads its configuration, starts the Master, waits for signals.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>
#include <thread>

#include "common/base/duration_text.h"
#include "common/base/folder_lock.h"
#include "common/base/log.h"
#include "common/config/load.h"
#include "common/rpc/process_setup.h"
#include "common/time/zones.h"
#include "common/zk/paths.h"
#include "common/zk/real_client.h"
#include "common/zk/session_file.h"
#include "master/upkeep/clock_acceptance.h"
#include "master/master.h"
#include "master/office/rewind.h"
#include "master/office/set_elector.h"
#include "master/services.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/mysql_office.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/schema.h"
#include "master/office/takeover.h"
#include "master/office/zookeeper_word.h"

namespace rota::master {
namespace {

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kWrongConfiguration = 2;
constexpr Millis kEndSessionWithin{3000};
constexpr Millis kAcceptFor{1500};  // a master notices a step within half a second of another
constexpr Millis kAcceptAgain{250};

struct Arguments {
  std::string config;
  std::string state_dir;
  bool check = false;
  bool print_defaults = false;
  bool end_session = false;
  bool accept_restore = false;
  bool accept_clock = false;
  bool accept_new_zookeeper = false;
  bool workers_gone = false;
  bool rewind_ticks = false;
  std::string set_elector;
  bool yes = false;
};

/// A large request, or a table that grows, needs some MiB for a moment. From the first such block that is
/// freed the allocator would learn to keep them, each thread its own, forever. So they go back to the system.
void give_back_large_blocks() {
  constexpr int kLargeBytes = 512 << 10;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  ::mallopt(M_TRIM_THRESHOLD, kLargeBytes);
}

/// Signals are taken by main alone: every thread inherits the block.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

/// Not by fmt::print, which throws when the file behind it is on a full disk.
void say(std::FILE* where, const std::string& text) {
  std::fputs((text.ends_with('\n') ? text : text + '\n').c_str(), where);
}

int complain(const std::string& text) {
  say(stderr, text);
  return kWrongConfiguration;
}

Result<std::string> database_password(const config::MasterOptions& options) {
  if (options.database.password_file.empty()) return std::string();
  auto secret = config::read_secret(options.database.password_file);
  if (!secret) return fail(ErrorCode::InvalidArgument, "database.password_file: " + secret.error().message);
  return *secret;
}

/// The watchdog's call after the master's death: its ephemeral nodes go now and not after the session.
int end_session(const std::string& state_dir) {
  auto ended = zk::end_dead_session(state_dir + "/session", zk::DeathProof::Identity,
                                    zk::make_real_client, kEndSessionWithin);
  if (!ended) {
    say(stderr, "rota-master: " + ended.error().message);
    return kFailed;
  }
  say(stdout, fmt::format("ended {} session(s)", *ended));
  return kOk;
}

int complain_of(const Error& error) {
  say(stderr, "rota-master: " + error.message);
  return kFailed;
}

Result<std::unique_ptr<zk::Client>> zookeeper_of(const config::MasterOptions& options) {
  zk::ClientOptions wanted;
  wanted.addresses = options.zookeeper.connect;
  wanted.session_timeout = options.zookeeper.session_timeout;
  wanted.operation_deadline = kEndSessionWithin;
  return zk::connect_once(wanted);
}

/// The operator's word that the ZooKeeper of this configuration is the database's from now on; masters, those
/// that run and those that start later, hear it by themselves.
int accept_zookeeper(const config::MasterOptions& options, bool workers_gone) {
  auto password = database_password(options);
  if (!password) return complain(password.error().message);
  auto client = zookeeper_of(options);
  store::MysqlOffice office(mysql_options(options.database, *password), timezone::load_zone);
  auto said = client ? accept_new_zookeeper(**client, zk::Paths(options.cluster), office, workers_gone)
                     : Result<std::string>(fail(client.error()));
  if (!said) return complain_of(said.error());
  say(stdout, *said);
  return kOk;
}

/// The operator's word that a restored database is to be led on from; the leader hears it by itself.
int accept_restored(const config::MasterOptions& options) {
  auto client = zookeeper_of(options);
  const zk::Paths paths(options.cluster);
  auto done = client ? accept_restore(**client, paths) : Result<void>(fail(client.error()));
  if (!done) return complain_of(done.error());
  say(stdout, "accepted; the leader fires the ticks it held, by each job's late policy");
  return kOk;
}

/// The operator's word that the clocks are right as they are now; the masters hear it by themselves.
int accept_clock(const config::MasterOptions& options) {
  auto client = zookeeper_of(options);
  if (!client) return complain_of(client.error());
  std::set<std::string> told;
  for (const MonoTime end = BootClock::now() + kAcceptFor; BootClock::now() < end;
       std::this_thread::sleep_for(kAcceptAgain)) {
    const auto held = accept_clocks(**client, zk::Paths(options.cluster), told);
    if (!held) return complain_of(held.error());
    for (const std::string& words : *held) say(stdout, words);
  }
  say(stdout, told.empty() ? "no master holds its ticks for its clock; nothing was to be accepted"
                           : "accepted; what was due is recorded by each job's late policy");
  return told.empty() ? kFailed : kOk;
}

void reload_password(Master& master) {
  const auto changed = master.read_password_again();
  if (!changed) {
    log_error("main", "database.password_file not re-read", {{"why", changed.error().message}});
  } else if (*changed) {
    log_info("main", "the database's password is another one; new connections use it");
  }
}

void reload(const std::string& path, config::MasterOptions& options, Master& master) {
  auto wanted = config::load_master(path, config::process_environment());
  if (!wanted) {
    log_error("main", "configuration not re-read", {{"problems", wanted.error().text()}});
    return;
  }
  log_start(wanted->log);
  log_info("main", "log settings re-read");
  for (const std::string& key : config::needs_restart(options, *wanted)) {
    log_warn("main", "changed, but read only at start", {{"key", key}});
  }
  options.log = wanted->log;
  reload_password(master);
}

void announce(const config::MasterOptions& options, std::uint16_t port, std::uint16_t http_port) {
  log_info("main", "started",
           {{"id", options.id}, {"cluster", options.cluster}, {"version", ROTA_VERSION},
            {"elector", options.elector},
            {"address", fmt::format("{}:{}", options.advertise.host, port)}, {"http_port", http_port}});
  for (const std::string& network : options.plaintext_networks) {
    log_warn("main", "unencrypted and unauthenticated traffic is allowed", {{"network", network}});
  }
}

/// The operator's word that ticks are to fire from now on. It leads for that moment, under its own epoch.
int rewind(const config::MasterOptions& options) {
  auto password = database_password(options);
  if (!password) return complain(password.error().message);
  auto client = zookeeper_of(options);
  if (!client) return complain_of(client.error());
  const zk::Paths paths(options.cluster);
  const store::MysqlOptions database = mysql_options(options.database, *password);
  store::MysqlOffice office(database, timezone::load_zone);
  store::MysqlReader reader(database, {});
  const RewindParts parts{**client, paths, office, reader, timezone::load_zone};
  const Candidate self{options.id + " (--rewind-ticks)", options.grant, {}};
  const auto done = rewind_ticks(parts, self, SystemClock{}.wall());
  if (!done) return complain_of(done.error());
  say(stdout, fmt::format("ticks were recorded until {} and fire from {} on, but those that have fired; "
                          "a master takes office again",
                          format_moment(done->from), format_moment(done->to)));
  return kOk;
}

/// Whether the operator, at a terminal, says yes.
bool confirms(const std::string& words) {
  say(stdout, words);
  if (::isatty(STDIN_FILENO) != 1) return false;
  std::fputs("go on? [y/N] ", stdout);
  std::fflush(stdout);
  const int answer = std::getchar();
  return answer == 'y' || answer == 'Y';
}

/// The operator's word that another elector decides from now on.
int change_elector(const config::MasterOptions& options, const Arguments& arguments) {
  auto password = database_password(options);
  if (!password) return complain(password.error().message);
  auto client = zookeeper_of(options);
  if (!client) return complain_of(client.error());
  const zk::Paths paths(options.cluster);
  const store::MysqlOptions database = mysql_options(options.database, *password);
  if (auto ready = store::upgrade_schema(database); !ready) return complain_of(ready.error());
  store::MysqlOffice office(database, timezone::load_zone);
  store::MysqlElection election(database);
  const SetElectorParts parts{**client, paths, office, election};
  const auto change = plan_elector(parts, arguments.set_elector);
  if (!change) return complain_of(change.error());
  if (change->from == change->to) {
    say(stdout, fmt::format("the elector in force is '{}' already; nothing was changed", change->to));
    return kOk;
  }
  if (arguments.yes) {
    say(stdout, words_before(*change));
  } else if (!confirms(words_before(*change))) {
    say(stderr, "nothing was changed; answer y, or add --yes to do it without being asked");
    return kFailed;
  }
  const Candidate self{options.id + " (--set-elector)", options.grant, {}};
  if (auto done = set_elector(parts, self, change->to); !done) return complain_of(done.error());
  say(stdout, words_after(*change));
  return kOk;
}

int serve(const Arguments& arguments, config::MasterOptions options, const sigset_t& signals) {
  auto password = database_password(options);
  if (!password) return complain(password.error().message);
  auto lock = FolderLock::take(options.state_dir);
  if (!lock) return complain("state_dir: " + lock.error().message);
  log_start(options.log);
  Master master(options, *password);
  if (auto started = master.start(); !started) {
    log_error("main", "could not start", {{"why", started.error().message}});
    log_stop();
    return kFailed;
  }
  announce(options, master.port(), master.http_port());
  for (;;) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal != SIGHUP) break;
    reload(arguments.config, options, master);
  }
  log_info("main", "stopping");
  master.stop();
  log_info("main", "stopped");
  log_stop();
  return kOk;
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("rota-master: decides which job runs when and where", "rota-master");
  app.set_version_flag("--version", ROTA_VERSION);
  app.add_option("--config", arguments.config, "configuration file (YAML)");
  app.add_flag("--check-config", arguments.check, "check the configuration and end");
  app.add_flag("--print-default-config", arguments.print_defaults, "print every setting and end");
  app.add_flag("--end-session", arguments.end_session,
               "end the ZooKeeper session of the dead master of --state-dir");
  app.add_flag("--accept-restore", arguments.accept_restore,
               "a database restored from an older copy is to be led on from");
  app.add_flag("--accept-clock", arguments.accept_clock,
               "the clocks of masters that hold their ticks after a step are right as they are now");
  app.add_flag("--accept-new-zookeeper", arguments.accept_new_zookeeper,
               "the configured ZooKeeper, which the database does not know, is to be used from now on");
  app.add_flag("--workers-gone", arguments.workers_gone,
               "with it: workers never seen there are gone, so what they held may be run again");
  app.add_flag("--rewind-ticks", arguments.rewind_ticks,
               "ticks that are recorded ahead of the clock are given back, but those that have fired");
  app.add_option("--set-elector", arguments.set_elector,
                 "another elector decides from now on which master takes office: zookeeper, mysql or etcd; "
                 "asks first")
      ->check(CLI::IsMember({"zookeeper", "mysql", "etcd"}));
  app.add_flag("--yes", arguments.yes, "with --set-elector: do not ask");
  app.add_option("--state-dir", arguments.state_dir, "state folder, for --end-session");
  app.footer("Exit status: 0 ok, 1 failed, 2 wrong usage or configuration.\n"
             "SIGTERM stops cleanly; SIGHUP reads the log settings and the database's password again.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kWrongConfiguration;
  }
  if (arguments.print_defaults) {
    say(stdout, config::default_master_yaml());
    return kOk;
  }
  if (arguments.end_session) {
    if (arguments.state_dir.empty()) return complain("--end-session needs --state-dir");
    return end_session(arguments.state_dir);
  }
  auto options = config::load_master(arguments.config, config::process_environment());
  if (!options) return complain(options.error().text());
  if (arguments.check) {
    say(stdout, arguments.config + ": ok");
    return kOk;
  }
  if (arguments.accept_restore) return accept_restored(*options);
  if (arguments.accept_clock) return accept_clock(*options);
  if (arguments.accept_new_zookeeper) return accept_zookeeper(*options, arguments.workers_gone);
  if (arguments.rewind_ticks) return rewind(*options);
  if (!arguments.set_elector.empty()) return change_elector(*options, arguments);
  return serve(arguments, *options, block_signals());
}

}  // namespace
}  // namespace rota::master

int main(int argc, char** argv) {
  rota::rpc::ignore_sigpipe();
  rota::master::give_back_large_blocks();
  rota::master::store::start_mysql_library();  // before any other thread
  return rota::master::run(argc, argv);
}
