// The program: what main of rota-worker, and of a worker with handlers of its own, does.
#include "worker/sdk/run_worker.h"

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>

#include "common/base/log.h"
#include "common/config/load.h"
#include "common/rpc/process_setup.h"
#include "common/zk/named_locks.h"
#include "worker/command_line.h"
#include "worker/handlers/builtin.h"
#include "worker/run/handler_process.h"
#include "worker/warden/launch.h"
#include "worker/worker.h"

namespace rota::sdk {

namespace {

using worker::CommandLine;
using worker::Worker;

constexpr long kTurnNs = 100'000'000;

int complain(const std::string& why) {
  std::fprintf(stderr, "rota-worker: %s\n", why.c_str());
  return worker::kWrongConfiguration;
}

int sweep(const std::string& state_dir) {
  const auto result = worker::warden::sweep(state_dir);
  if (result.warden_lives) std::fprintf(stderr, "rota-worker: a living worker holds %s\n", state_dir.c_str());
  std::printf("killed=%d left=%d\n", result.killed, result.left);
  return worker::warden::sweep_exit_status(result);
}

std::string absolute(const std::string& path) {
  char resolved[PATH_MAX];
  if (path.empty() || ::realpath(path.c_str(), resolved) == nullptr) return path;
  return resolved;
}

/// Becomes the warden, which starts this program again as the proper.
int launch(const config::WorkerOptions& options, const std::string& config_file) {
  std::vector<std::string> proper{absolute("/proc/self/exe"), "--proper"};
  if (!config_file.empty()) proper.insert(proper.end(), {"--config", absolute(config_file)});
  worker::warden::LaunchOptions wanted;
  wanted.warden_path = options.warden_binary;
  wanted.state_dir = options.state_dir;
  wanted.means = options.containment;
  wanted.cgroup_dir = options.cgroup_dir;
  return complain(worker::warden::exec_under_warden(wanted, proper).message);
}

/// Blocked in every thread: main waits for them one by one.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

void reread_log(const std::string& config_file, const config::WorkerOptions& options) {
  const auto wanted = config::load_worker(config_file, config::process_environment());
  if (!wanted) {
    log_error("worker", "the configuration is wrong; nothing is changed",
              {{"problems", wanted.error().text()}});
    return;
  }
  log_start(wanted->log);
  for (const std::string& key : config::needs_restart(options, *wanted)) {
    log_warn("worker", "a changed setting is read at the next start only", {{"key", key}});
  }
}

int run_turns(Worker& proper, const config::WorkerOptions& options,
               const std::string& config_file, const sigset_t& signals) {
  const timespec pause{0, kTurnNs};
  while (true) {
    const int signal = ::sigtimedwait(&signals, nullptr, &pause);
    if (signal == SIGTERM || signal == SIGINT) proper.drain();
    if (signal == SIGHUP) reread_log(config_file, options);
    if (const auto status = proper.turn()) return *status;
  }
}

int run_proper(const config::WorkerOptions& options, const std::string& config_file,
               const Registry& registry) {
  const sigset_t signals = block_signals();
  auto warden = worker::warden::WardenClient::from_environment();
  if (!warden) return complain("--proper is for the warden alone: " + warden.error().message);
  log_start(options.log);
  Worker proper(options, registry, std::move(*warden));
  if (auto started = proper.start(); !started) {
    log_error("worker", "cannot start", {{"why", started.error().message}});
    const ErrorCode code = started.error().code;
    return code == ErrorCode::Conflict || code == ErrorCode::Corrupt ? worker::kWrongConfiguration
                                                                     : worker::kFailed;
  }
  log_info("worker", "started",
           {{"id", options.id}, {"port", proper.port()}, {"http_port", proper.http_port()}});
  const int status = run_turns(proper, options, config_file, signals);
  const bool has_ended = proper.stop();
  log_info("worker", "ended", {{"status", status}});
  log_stop();
  // A handler that never returns keeps its thread: the process goes without waiting for it.
  if (!has_ended) std::_Exit(status);
  return status;
}

}  // namespace

int run_worker(int argc, char** argv, Registry& registry) {
  rpc::ignore_sigpipe();
  const auto line = worker::parse_command_line({argv + 1, argv + argc});
  if (!line) return complain(line.error().message + "\n" + worker::kUsage);
  using What = CommandLine::What;
  if (line->what == What::Help || line->what == What::Version ||
      line->what == What::PrintDefaultConfig) {
    const std::string text = line->what == What::Help      ? worker::kUsage
                             : line->what == What::Version ? "rota-worker " ROTA_VERSION "\n"
                                                           : config::default_worker_yaml();
    std::fputs(text.c_str(), stdout);
    return worker::kDone;
  }
  if (line->what == What::Sweep) return sweep(line->state_dir);
  if (line->what == What::Handler) {
    if (auto added = worker::handlers::add_builtin(registry); !added) return complain(added.error().message);
    // Its own log goes where the handler's errors go, so only warnings and errors.
    LogOptions log;
    log.process = "rota-worker";
    log.level = Severity::Warn;
    log_start(log);
    return worker::run::run_handler_process(registry, line->handler, zk::make_locks);
  }
  const auto options = config::load_worker(line->config, config::process_environment());
  if (!options) {
    std::fputs((options.error().text() + "\n").c_str(), stderr);
    return worker::kWrongConfiguration;
  }
  if (auto added = worker::handlers::add_builtin(registry); !added) {
    return complain(added.error().message);
  }
  if (line->what == What::CheckConfig) {
    std::printf("%s: ok\n", line->config.empty() ? "defaults and environment" : line->config.c_str());
    return worker::kDone;
  }
  if (line->what == What::Proper) return run_proper(*options, line->config, registry);
  return launch(*options, line->config);
}

}  // namespace rota::sdk
