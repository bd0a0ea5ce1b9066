// Runs attempts as processes: starts commands and isolated handlers through the warden, other handlers on
// threads of its own, moves their output into the spool, and tells the desk how they end.
//
// Life of a command here: start() asks the warden -> Started: its pipes are watched -> Ended: pipes
// drained, ended() to the desk -> outcomes_stored(): the warden may forget it -> outcomes_acknowledged():
// what was kept of its progress and output may go.
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
#include "worker/desk/attempt_runner.h"
#include "worker/run/cleanup_notes.h"
#include "worker/run/cleanup_plan.h"
#include "worker/run/command_plan.h"
#include "worker/run/folder_pool.h"
#include "worker/run/handler_attempt.h"
#include "worker/run/handler_pool.h"
#include "worker/run/job_user.h"
#include "worker/run/output_collector.h"
#include "worker/run/progress_collector.h"
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
  std::string cleanups_dir;          ///< which cleanups are still owed; empty: not kept
  sdk::LockAddress lock_address;     ///< for handlers in a process of their own
  sdk::LockService* locks = nullptr; ///< for handlers inside of the worker; outlives the runner
  EnvironmentBase environment;
  std::vector<std::string> run_as_users;  ///< whom jobs may run as
  Millis ping_every{100};            ///< of the warden
  Millis warden_limit{500};          ///< a later answer: the worker stops claiming that it lives
  std::function<void()> warden_gone; ///< called once, on the runner's thread
};

/// Owner: the worker. What it is given outlives it. Thread: any, except open and stop (the owner's); one
/// thread of its own, "the loop", reads pipes and the warden's notices. One lock guards what runs; it
/// is never held while the desk or the warden is called.
class ProcessRunner final : public desk::AttemptRunner {
 public:
  ProcessRunner(RunnerOptions options, warden::WardenClient& warden, const sdk::Registry& registry,
                Spool& spool, const Clock& clock);
  ~ProcessRunner() override;
  ProcessRunner(const ProcessRunner&) = delete;
  ProcessRunner& operator=(const ProcessRunner&) = delete;

  /// Ends the loop; what runs under the warden goes on. False: a handler did not end within 5 s.
  bool stop();

  // --- desk::AttemptRunner
  Result<void> open(desk::AttemptEvents& events, const std::set<model::AttemptKey>& unreported) override;
  std::optional<desk::Unfit> check(const desk::Order& order) const override;
  Result<void> start(const desk::Envelope& envelope, const desk::Order& order) override;
  void end(model::AttemptKey key, desk::EndReason why, std::optional<Millis> grace) override;
  void vouch(MonoTime until) override;
  /// The warden answers in time.
  bool is_in_control() const override { return warden_.is_answering(options_.warden_limit); }
  void outcomes_stored(const std::vector<model::AttemptKey>& keys) override;
  void outcomes_acknowledged(const std::vector<model::AttemptKey>& keys) override;

  // --- for status, log and heartbeat
  /// "pid_namespace", "cgroup" or "scan": how the warden holds and proves. Known after open.
  std::string kill_means() const { return kill_means_; }
  /// Names the warden's life; empty: a warden of an older version. Known after open.
  std::string warden_start() const { return warden_start_; }
  /// "memory", "processes", "cpus": limits that the kernel holds. Known after open.
  std::vector<std::string> kernel_limits() const { return warden::names_of(kernel_limits_); }
  /// What running attempts have used so far, of some of them when there are many.
  SetSampler::Part usage(model::AttemptKey after, std::size_t most) const {
    return sampler_.seen_after(after, most);
  }
  /// The loop's last turn; the heartbeat follows it.
  MonoTime last_turn() const { return MonoTime{Micros{last_turn_us_.load()}}; }

 private:
  /// An attempt from its start to its end. Constant once it is in `live_`, except as said.
  struct Live {
    model::AttemptKey key;
    model::WorkerKey life;
    WorkPlace place;                 ///< of adopted ones the folder alone is known
    bool is_handler = false;         ///< in a process of its own
    std::string interpreter;         ///< of a script: its program; not known of adopted ones
    std::int64_t cap_bytes = 0;
    Millis kill_grace{0};
    bool is_adopted = false;
    model::JobLimits limits;
    model::KeepFolder keep_folder = model::KeepFolder::Never;
    std::shared_ptr<HandlerAttempt> handler;  ///< null: a process
    std::optional<warden::Start> cleanup;     ///< what runs behind it; none: nothing
    // under the lock
    std::optional<MonoTime> unvouched_at;  ///< killed from here then, since the warden did not answer
    std::string excess;              ///< the limit for which it was killed, in words
    UniqueFd pidfd;
    std::optional<warden::Ended> main_end;  ///< it has ended, its cleanup has not
    // of a handler on a thread
    std::atomic<bool> is_given_up{false};
    std::atomic<WallTime> started{};
  };
  struct Deadline {
    model::AttemptKey key;
    bool is_last = false;            ///< the handler has been told, and this was its grace
  };

  // process_runner.cpp: any thread
  std::shared_ptr<Live> live_of(const desk::Envelope& envelope, const desk::Order& order) const;
  Result<void> start_process(const desk::Envelope& envelope, const desk::Order& order);
  void ask_warden_to_end(model::AttemptKey key, Millis grace, warden::KilledBy by);
  void kill_unvouched(model::AttemptKey key);
  void kill_for_limit(model::AttemptKey key, const Excess& excess);
  void give_back(const Live& live, bool is_dead);
  std::string keep_or_give_back(const Live& live, bool is_dead, model::RunState state);
  void tell(model::AttemptKey key, Said said);
  void post(std::function<void()> task);
  std::shared_ptr<Live> remove(model::AttemptKey key, bool is_held_by_warden);

  // process_runner_cleanup.cpp: the loop, except as said
  Result<void> note_cleanup(Live& live, const desk::Order& order, const warden::Start& command);
  bool is_cleaning_up(RunId run) const;
  bool begin_cleanup(const warden::Ended& ended);
  void start_cleanup(const Live& live);
  void on_cleanup_started(warden::Started started);
  void on_cleanup_held(warden::Held held);
  void on_cleanup_ended(const warden::Ended& ended);
  void clean_up_behind_the_dead(const std::set<model::AttemptKey>& unreported);

  // process_runner_handlers.cpp: any thread, except as said
  void start_handler(const desk::Envelope& envelope, const desk::Order& order, sdk::Handler& handler);
  PipeReceiver pipe_receiver(std::int64_t cap_bytes);
  void run_handler(const std::shared_ptr<Live>& live, sdk::Handler& handler);
  void finish_handler(model::AttemptKey key, model::Outcome outcome, bool is_on_loop);
  void check_deadlines();            // the loop
  void give_up_handler(model::AttemptKey key);  // the loop

  // process_runner_loop.cpp: the loop
  Result<void> adopt_held();
  void turn();
  int wait_ms() const;
  void handle_event(std::uint64_t token, std::uint32_t events, Now now);
  void receive_notices();
  void handle(warden::Notice notice);
  void on_welcome(const warden::Welcome& welcome);
  void on_started(warden::Started started);
  void on_held(warden::Held held);
  std::shared_ptr<Live> live_of_note(model::AttemptKey key, const AttemptNote& note) const;
  void sample(const Live& live, pid_t root);
  void on_ended(const warden::Ended& ended);
  void finish_process(const warden::Ended& ended, const warden::Ended* cleanup);
  model::Outcome outcome_of_process(const Live& live, const warden::Ended& ended,
                                    ProgressCollector::Total told);
  ProgressCollector::Total finish_progress(model::AttemptKey key);
  void ping_if_due();
  void run_posted();
  void forget_earlier_folders();
  void tell_kept(const std::set<model::AttemptKey>& unreported);

  const RunnerOptions options_;
  warden::WardenClient& warden_;
  const sdk::Registry& registry_;
  Spool& spool_;
  const Clock& clock_;
  desk::AttemptEvents* events_ = nullptr;  // set by open
  FolderPool folders_;
  CleanupNotes cleanups_;
  mutable JobUsers users_;
  HandlerPool handlers_;
  UniqueFd epoll_;
  UniqueFd wake_;
  OutputCollector output_;               // the loop only
  ProgressCollector progress_;           // the same, except forget

  mutable std::mutex mutex_;
  std::map<model::AttemptKey, std::shared_ptr<Live>> live_;
  std::set<model::AttemptKey> to_forget_;  ///< ended commands that the warden still holds
  std::multimap<MonoTime, Deadline> deadlines_;
  std::vector<std::function<void()>> posted_;

  std::map<model::AttemptKey, warden::Held> held_cleanups_;  ///< of an earlier life; the loop only

  std::string kill_means_;
  warden::KernelLimits kernel_limits_;
  std::string warden_start_;
  bool is_listed_ = false;           // the loop only, as all below
  std::uint32_t held_expected_ = 0;
  std::uint32_t held_seen_ = 0;
  bool has_earlier_folders_ = true;
  MonoTime next_ping_{};
  MonoTime next_deadline_ = MonoTime::max();
  bool warden_is_gone_ = false;
  std::atomic<std::int64_t> last_turn_us_{0};
  std::atomic<std::uint16_t> warden_version_{0};
  SetSampler sampler_;
  std::jthread thread_;
};

}  // namespace rota::worker::run
