// The warden: the small parent of all job processes. It starts them, kills them when told to, when
// their time is up, or when no voucher is left, proves them dead, and tells the worker proper, which
// it keeps alive. One thread, no library but libc, no log, no disk.
//
// The loop: sleep until a message, a child's end, a keeper's note, a signal or a deadline; then act on
// time first (a lapsed voucher is obeyed before anything that the proper might still say), reap, read
// requests, and tell what has become known.
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "worker/warden/attempt.h"
#include "worker/warden/cgroup_tree.h"
#include "worker/warden/keeper.h"
#include "worker/warden/proper_process.h"
#include "worker/warden/resting_keepers.h"
#include "worker/warden/set_scanner.h"
#include "worker/warden/warden_options.h"
#include "worker/warden/wire.h"

namespace rota::worker::warden {

/// Owner: main (or the outer warden's child). Thread: one, which must be the process's only one.
class Warden {
 public:
  struct Setup {
    WardenOptions options;
    Means means = Means::Scan;
    NamespaceAbility namespaces;    ///< for the attempts; all false with the other means
    UniqueFd outer_alive;           ///< hangs up when the outer warden is gone; not open: none
    UniqueFd old_proc;              ///< the /proc of the outer namespace; not open: ours is it
    std::optional<CgroupTree> cgroups;  ///< with Means::Cgroup
  };
  explicit Warden(Setup setup);

  /// Runs until the proper ended deliberately, or forever. The exit status for the process.
  int run();

 private:
  using Attempts = std::map<AttemptKey, Attempt>;

  // warden.cpp: the loop
  bool prepare();
  void raise_descriptor_limit();
  bool share_voucher();
  void wait_for_work();
  void arm_timer(MonoTime at);
  MonoTime next_deadline() const;
  void read_signals();
  void pass_on(int signal);
  void pass_pending_stops();
  void keep_proper_alive();
  void reap_children();
  void on_proper_ended(int wait_status);
  bool is_idle() const { return attempts_.empty(); }

  // warden_requests.cpp: what the proper asks for
  bool read_requests();  ///< false: none was there
  void read_last_requests();
  void read_packets(std::vector<Request>& requests);
  void handle(Start&& request);
  void handle(const Kill& request);
  void handle(const Forget& request);
  void handle(const Vouch& request);
  void handle(const List& request);
  void handle(const Ping& request);
  std::string reason_to_refuse(const Start& request) const;
  void refuse(const AttemptKey& key, std::string why);
  bool open_pipes(Attempt& attempt, bool progress, ProcessPlan& plan, std::vector<UniqueFd>& ends);
  void launch(Attempt& attempt, Start& request);
  void launch_kept(Attempt& attempt, const ProcessPlan& plan, const std::string& space);
  bool launch_served(Attempt& attempt, const ProcessPlan& plan, const std::string& kind);
  void launch_scanned(Attempt& attempt, const ProcessPlan& plan, const std::string& mark);
  bool make_cgroup(Attempt& attempt);

  // warden_deaths.cpp: deadlines, kills, ends
  void act_on_time();
  void act_on_voucher(MonoTime now);
  void look_who_stood_still(Attempt& attempt, MonoTime due, MonoTime now);
  void hear_of_keeper(Attempt& attempt, const KeeperNote& note);
  void begin_death(Attempt& attempt, KilledBy by, Millis grace);
  void send_term(Attempt& attempt);
  void send_kill(Attempt& attempt);
  void signal_set(const Attempt& attempt, int signal);
  void read_notes();
  void on_note(const KeeperNote& note);
  void on_child_ended(Attempt& attempt, int wait_status, const ::rusage& used);
  void on_emptied(Attempt& attempt, const KeeperNote& note);
  void record_main_end(Attempt& attempt, int wait_status, MonoTime at);
  void fail_start(Attempt& attempt, StartStep step, int error, std::string detail);
  void finish(Attempt& attempt, bool proven);
  void close_cgroup(Attempt& attempt);
  void scan_sets();
  bool are_all_children_known() const;
  void finish_all_without_main();
  void look_at_set(Attempt& attempt, const SetScanner::Found& found);
  Attempt* by_serial(std::uint64_t serial);
  void kill_everything();

  // warden_notices.cpp: what the proper is told
  void welcome();
  void queue(Attempt& attempt);
  void tell_all();
  bool tell(const Notice& notice);
  bool tell_attempt(Attempt& attempt);
  bool tell_held(Attempt& attempt);
  bool tell_started(Attempt& attempt);
  void let_rest(Attempt& attempt);
  void end_unheard_keepers();
  void forget_if_done(const AttemptKey& key);

  Setup setup_;
  std::string token_;
  const std::string start_;           ///< names this warden's life
  ProperProcess proper_;
  std::size_t room_ = 0;
  std::vector<Limit> restored_limits_;
  UniqueFd signals_, timer_, notes_read_, notes_write_, null_;
  MonoTime armed_{};

  Attempts attempts_;
  std::unordered_map<std::uint64_t, AttemptKey> keys_by_serial_;
  std::unordered_map<pid_t, AttemptKey> keys_by_pid_;
  std::uint64_t next_serial_ = 1;
  RestingKeepers resting_;
  std::vector<AttemptKey> emptied_;  ///< by keepers that serve again, in this round
  SetScanner scanner_;
  std::optional<MonoTime> next_scan_;
  MonoTime remembered_at_{};

  std::optional<MonoTime> vouched_until_;
  std::atomic<std::int64_t>* shared_vouched_until_ = nullptr;  ///< the keepers see it
  bool life_has_vouched_ = false;
  MonoTime keepers_look_by_{};  ///< a voucher was shortened: until then keepers may not know
  bool life_has_spoken_ = false;
  bool stop_asked_ = false;
  int pending_terms_ = 0;      ///< stop signals that came before the proper was ready to hear them
  int pending_stop_ = 0;       ///< the last one asked for: TERM or INT
  std::optional<int> exit_status_;  ///< the warden is ending
  std::optional<MonoTime> leave_at_;

  std::deque<AttemptKey> to_tell_;
  std::deque<Ended> refusals_;
  std::vector<ProcessPlan> spent_plans_;  ///< of this round's starts; see read_requests
  std::optional<ListEnd> list_end_;
  std::optional<Pong> pong_;
  bool is_blocked_ = false;    ///< the socket was full; wait until it has room
};

}  // namespace rota::worker::warden
