// The worker proper: everything of a worker but its jobs, which are the warden's children. It may be
// killed at any moment; the next one finds in the warden, the outbox and the spool all that it knew.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "common/base/folder_lock.h"
#include "common/base/heartbeat_file.h"
#include "common/base/time.h"
#include "common/config/options.h"
#include "common/http/server.h"
#include "common/rpc/server.h"
#include "worker/api/worker_service.h"
#include "worker/desk/attempt_desk.h"
#include "worker/presence/presence.h"
#include "worker/presence/renew_loop.h"
#include "worker/report/log_shipper.h"
#include "worker/report/reporter.h"
#include "worker/run/process_runner.h"
#include "worker/sdk/registry.h"
#include "worker/vitals.h"
#include "worker/warden/warden_client.h"

namespace rota::worker {

/// How the proper ends; the warden and the watchdog act on it.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;             ///< started again
inline constexpr int kWrongConfiguration = 2; ///< not started again: an operator must look

/// Owner: main. Thread: main's, which blocks the signals that it handles before this is made.
class Worker {
 public:
  Worker(config::WorkerOptions options, const sdk::Registry& registry,
         std::unique_ptr<warden::WardenClient> warden);
  ~Worker();

  /// Recovers what an earlier life left, serves and registers. Conflict: the state folder is in use;
  /// Corrupt: a file in it is damaged; Unavailable: the warden or the port.
  Result<void> start();

  /// Main's turn, at least every 250 ms: heartbeat, drain. The exit status once it is time to end.
  std::optional<int> turn();
  /// SIGTERM: nothing new from now on; ends when all is done, or at the drain deadline. Again: the
  /// deadline is now.
  void drain();
  /// After the end: the node goes, what can be told is told, the threads end. False: a handler's
  /// thread would not end, and the process must go without it.
  bool stop();

  std::uint16_t port() const { return server_ ? server_->port() : 0; }
  std::uint16_t http_port() const { return pages_ ? pages_->port() : 0; }

 private:
  Result<void> recover();
  Result<void> name_home();
  Result<void> serve();
  void join_cluster();
  model::WorkerInfo info() const;
  bool is_turning() const;
  void look_at_vitals(Now now);
  std::vector<std::string> own_troubles() const;
  /// What every start waits for.
  std::vector<std::string> still_awaited() const;
  Result<void> open_pages();
  http::Response page(const http::Request& request) const;
  std::string metrics() const;
  presence::Figures figures();

  const config::WorkerOptions options_;
  const sdk::Registry& registry_;
  const std::unique_ptr<warden::WardenClient> warden_;
  const SystemClock clock_;
  std::optional<FolderLock> lock_;
  std::string home_;
  HeartbeatFile heartbeat_;
  desk::LeaderAddress leader_;
  desk::EpochKeeper epochs_;
  run::Spool spool_;
  report::Reporter reporter_;
  std::unique_ptr<sdk::LockService> locks_;  ///< begins its session with the first lock
  desk::AttemptDesk desk_;
  run::ProcessRunner runner_;         ///< its threads end before the desk goes
  report::LogShipper shipper_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<presence::Presence> presence_;
  std::unique_ptr<presence::RenewLoop> renew_;
  Vitals vitals_;                   ///< main's thread
  model::AttemptKey told_through_;  ///< of the last part of figures; the renewals' thread
  mutable std::mutex seen_mutex_;   ///< guards what the pages show
  model::WorkerVitals seen_vitals_;
  MonoTime seen_at_{};
  host::ProcessReading seen_process_;
  std::unique_ptr<http::Server> pages_;
  std::atomic<bool> rival_ = false;
  std::atomic<bool> draining_ = false;  ///< by a signal: this process ends
  bool has_handed_over_ = false;
  MonoTime drain_deadline_{};
};

}  // namespace rota::worker
