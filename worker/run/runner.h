// Runs attempts: takes what the leader dispatches, starts commands and isolated handlers through the
// warden and other handlers on threads of its own, takes their output into the spool and their ends to
// the outcome sink.
//
// Life of a command here: dispatch() accepts it in the table and asks the warden -> Started: its pipes
// are taken -> Ended: pipes drained, outcome to the sink -> stored(): synced, it counts as finished and
// the warden may forget -> acknowledged(): only a tombstone is left.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "worker/run/attempt_table.h"
#include "worker/run/command_plan.h"
#include "worker/run/folder_pool.h"
#include "worker/run/handler_attempt.h"
#include "worker/run/handler_pool.h"
#include "worker/run/outcome_sink.h"
#include "worker/run/output_taker.h"
#include "worker/run/progress_taker.h"
#include "worker/run/set_sampler.h"
#include "worker/run/work_place.h"
#include "worker/sdk/registry.h"
#include "worker/warden/warden_client.h"

namespace rota::worker::run {

struct RunnerOptions {
  std::int32_t slots = 4;
  StreamLimits output;
  std::string work_dir;
  std::string program;               ///< this one's path, for handlers in a process of their own
  std::string notes_dir;             ///< what jobs said of themselves, until it is stored; empty: not kept
  sdk::LockAddress lock_address;     ///< for the same
  sdk::LockService* locks = nullptr; ///< for handlers inside of the worker; outlives the runner
  EnvironmentBase environment;
  std::vector<std::string> run_as_users;  ///< whom jobs may run as
  Millis ping_every{100};            ///< of the warden
  Millis warden_limit{500};          ///< beyond it the worker claims no life any more
  std::function<void()> warden_gone; ///< called once, on the runner's thread
};

/// What the runner tells of itself, for status and log.
struct RunnerCounts {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t refused_old_epoch = 0;
  std::uint64_t finished = 0;
  std::uint64_t adopted = 0;
  std::map<model::RunState, std::uint64_t> ended;  ///< by how
};

/// Owner: the worker. What it is given outlives it. Thread: any, but start and stop.
class Runner {
 public:
  Runner(RunnerOptions options, warden::WardenClient& warden, const sdk::Registry& registry,
         Spool& spool, OutcomeSink& sink, const Clock& clock);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Adopts what the warden holds and what the outbox still has to tell, then runs. TimedOut,
  /// Unavailable: the warden does not answer.
  Result<void> start(const std::vector<model::AttemptReport>& unreported);
  /// Ends the thread; what runs under the warden goes on. False: a handler did not end within 5 s.
  bool stop();

  // --- presence ---
  void begin_life(const model::WorkerKey& life);
  model::WorkerKey life() const;
  /// True when it is higher than any before. It has been stored already.
  bool raise_epoch(Epoch epoch);
  Epoch highest_epoch() const;
  /// A leader has greeted this life, so from now on its leases count; another life's word changes nothing.
  void greet(const std::string& incarnation);
  void extend_lease(MonoTime end);
  void extend_grant(MonoTime sent, Millis grant);
  MonoTime vouched_until() const;
  /// The warden answers in time, so that the worker may beat and renew.
  bool may_claim_life() const { return warden_.is_answering(options_.warden_limit); }
  void set_draining(bool draining);
  /// While the outbox has no room; see AttemptTable::set_full.
  void set_full(bool full);
  /// "pid_namespace", "cgroup" or "scan": how the warden holds and proves. Known after start.
  std::string kill_means() const { return kill_means_; }
  /// "memory", "processes", "cpus": limits that the kernel holds. Known after start.
  std::vector<std::string> kernel_limits() const { return warden::names_of(kernel_limits_); }

  // --- the leader's orders ---
  std::vector<OrderAnswer> dispatch(const Envelope& envelope, std::vector<Order> orders);
  /// None, OldEpoch or WrongLife. Unknown attempts are ignored.
  model::Refusal cancel(const Envelope& envelope, const std::vector<model::AttemptKey>& keys,
                        Millis grace);
  /// None, OldEpoch (counted) or WrongLife.
  model::Refusal check(const Envelope& envelope);
  model::Inventory inventory() const;

  // --- report ---
  /// These are safe in the outbox.
  void stored(const std::vector<model::AttemptReport>& reports);
  /// The leader has these.
  void acknowledged(const std::vector<model::AttemptKey>& keys);

  /// Ends everything that runs, for another worker to take over.
  void kill_all();
  /// Attempts that hold a slot.
  std::int32_t busy() const;
  /// What running attempts have used so far, of some of them when there are many.
  std::vector<SetSampler::Seen> usage(std::size_t most) const { return sampler_.seen(most); }
  /// Attempts whose outcome the leader has not acknowledged, and those that run.
  std::size_t held() const;
  RunnerCounts counts() const;
  /// The loop's last turn; the heartbeat follows it.
  MonoTime last_turn() const { return MonoTime{Micros{last_turn_us_.load()}}; }

 private:
  /// An attempt between its acceptance and its end.
  struct Live {
    model::AttemptKey key;
    model::WorkerKey life;
    WorkPlace place;                 ///< of adopted ones the folder alone is known
    bool is_handler = false;         ///< in a process of its own
    std::string interpreter;         ///< of a script: its program; not known of adopted ones
    std::int64_t cap_bytes = 0;
    Millis kill_grace{0};
    Millis disconnect_grace{0};
    bool is_adopted = false;
    bool is_sent = false;            ///< the warden was asked to start it
    std::optional<Millis> cancel_grace;  ///< cancelled before it was sent
    std::optional<MonoTime> unvouched_at;  ///< killed from here then, since the warden did not answer
    model::JobLimits limits;
    model::KeepFolder keep_folder = model::KeepFolder::Never;
    std::string excess;              ///< the limit for which it was killed, in words
    UniqueFd pidfd;
    std::shared_ptr<HandlerAttempt> handler;  ///< null: a command
  };
  struct Deadline {
    model::AttemptKey key;
    bool is_last = false;            ///< the handler has been told, and this was its grace
  };

  // runner.cpp: any thread
  OrderAnswer take_order(const Envelope& envelope, Order order);
  model::Refusal refusal_before(const Envelope& envelope, const Order& order,
                                std::string& detail) const;
  Result<void> launch(const Envelope& envelope, const Order& order);
  Result<void> launch_command(const Envelope& envelope, const Order& order);
  void launch_handler(const Envelope& envelope, const Order& order, sdk::Handler& handler);
  void run_handler(model::AttemptKey key, const std::shared_ptr<HandlerAttempt>& attempt,
                   sdk::Handler& handler);
  void cancel_one(model::AttemptKey key, Millis grace, warden::KilledBy by);
  void give_back(const Live& live, bool is_dead);
  std::string keep_or_give_back(const Live& live, bool is_dead, model::RunState state);
  void kill_for_limit(model::AttemptKey key, const Excess& excess);
  void note(model::AttemptKey key, Said said);
  void post(std::function<void()> task);
  void vouch_locked(MonoTime before);

  // runner_loop.cpp: the runner's thread
  Result<void> adopt(const std::vector<model::AttemptReport>& unreported);
  void loop();
  int wait_ms() const;
  void turn();
  void take_notices();
  void handle(warden::Notice notice);
  void on_welcome(const warden::Welcome& welcome);
  void on_started(warden::Started started);
  void on_held(warden::Held held);
  void sample(const Live& live, pid_t root);
  void on_ended(const warden::Ended& ended);
  void finish_handler(model::AttemptKey key, model::Outcome outcome, bool is_on_loop);
  void check_deadlines();
  void give_up_handler(model::AttemptKey key);
  void ping_if_due();
  void kill_unvouched();
  void run_posted();
  void forget_earlier_folders();
  void tell_kept(const std::vector<model::AttemptReport>& unreported);
  ProgressTaker::Total finish_progress(model::AttemptKey key);

  const RunnerOptions options_;
  warden::WardenClient& warden_;
  const sdk::Registry& registry_;
  Spool& spool_;
  OutcomeSink& sink_;
  const Clock& clock_;
  FolderPool folders_;
  HandlerPool handlers_;
  UniqueFd epoll_;
  UniqueFd wake_;
  OutputTaker output_;               // the runner's thread only
  ProgressTaker progress_;           // the same, but forget

  mutable std::mutex mutex_;
  AttemptTable table_;
  VoucherRules vouchers_;
  std::map<model::AttemptKey, std::shared_ptr<Live>> live_;
  std::set<model::AttemptKey> to_forget_;  ///< ended commands that the warden still holds
  std::multimap<MonoTime, Deadline> deadlines_;
  std::vector<std::function<void()>> posted_;
  RunnerCounts counts_;

  std::string kill_means_;
  warden::KernelLimits kernel_limits_;
  bool is_listed_ = false;           // the runner's thread only, as all below
  std::uint32_t held_expected_ = 0;
  std::uint32_t held_seen_ = 0;
  bool has_earlier_folders_ = true;
  MonoTime next_ping_{};
  bool warden_is_gone_ = false;
  std::atomic<std::int64_t> last_turn_us_{0};
  std::atomic<std::uint16_t> warden_version_{0};
  SetSampler sampler_;
  std::jthread thread_;
};

}  // namespace rota::worker::run
