// What the worker proper asks for.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "worker/warden/complain.h"
#include "worker/warden/keeper_order.h"
#include "worker/warden/packet.h"
#include "worker/warden/warden.h"

namespace rota::worker::warden {

namespace {

/// Requests read in one turn of the loop, so that ends and deadlines are never kept waiting.
constexpr int kMostAtOnce = 64;

std::uint64_t inode_of(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? std::uint64_t{info.st_ino} : 0;
}

ProcessPlan plan_of(Start& request, const std::vector<Limit>& restored, const std::string& mark) {
  ProcessPlan plan;
  plan.argv = std::move(request.argv);
  plan.environment = std::move(request.environment);
  const std::string mark_start = std::string(kMarkVariable) + "=";
  std::erase_if(plan.environment, [&](const std::string& entry) { return entry.starts_with(mark_start); });
  plan.environment.push_back(mark_start + mark);
  if (!request.folder.empty()) plan.folder = request.folder;
  plan.umask = request.umask;
  plan.nice = request.nice;
  plan.user = request.user;
  plan.limits = restored;
  plan.limits.insert(plan.limits.end(), request.limits.begin(), request.limits.end());
  return plan;
}

/// The keeper's end of a socket over which it is given further attempts; not open: it serves once.
UniqueFd open_orders(Attempt& attempt, const std::string& kind) {
  auto pair = packet_pair();
  if (!pair) return UniqueFd{};
  ServingKeeper& server = attempt.server.emplace();
  server.kind = kind;
  server.orders = std::move(pair->first);
  return std::move(pair->second);
}

}  // namespace

/// All are read before the first is done, and freed after the last is done: after each fork the first write
/// to a page of the heap costs a fault and a copy, which is now once in a round and not once a start.
bool Warden::read_requests() {
  std::vector<Request> requests;
  read_packets(requests);
  for (Request& request : requests) {
    std::visit([this](auto&& message) { handle(std::forward<decltype(message)>(message)); },
               std::move(request));
  }
  spent_plans_.clear();
  return !requests.empty();
}

/// Of a proper that has died unexpectedly: it may have told the leader that what waits here is accepted.
void Warden::read_last_requests() {
  do {
    refusals_.clear();  // nobody is left to hear of them
  } while (proper_.socket() >= 0 && read_requests());
}

void Warden::read_packets(std::vector<Request>& requests) {
  for (int i = 0; i < kMostAtOnce && proper_.socket() >= 0 && refusals_.size() < kMostAtOnce; ++i) {
    Result<std::optional<Packet>> packet = receive_packet(proper_.socket());
    if (!packet && packet.error().code == ErrorCode::Unavailable) return proper_.drop_socket();
    if (!packet) {
      complain("a message was dropped", packet.error().message);
      continue;
    }
    if (!packet->has_value()) return;
    Result<Request> request = decode_request((*packet)->bytes);
    if (!request) {
      complain("a message was dropped", request.error().message);
      continue;
    }
    life_has_spoken_ = true;
    pass_pending_stops();
    requests.push_back(std::move(*request));
  }
}

std::string Warden::reason_to_refuse(const Start& request) const {
  if (exit_status_) return "the worker is stopping";
  const bool is_vouched = vouched_until_ && BootClock::now() <= *vouched_until_;
  if (!is_vouched && !request.may_start_unvouched) return "no valid voucher";
  if (attempts_.size() >= room_) return "no room: " + std::to_string(room_) + " attempts are held";
  return {};
}

void Warden::refuse(const AttemptKey& key, std::string why) {
  Ended end;
  end.key = key;
  end.failed_step = StartStep::Refused;
  end.detail = std::move(why);
  end.proven_empty = true;
  end.started = end.ended = BootClock::now();
  end.started_wall = end.ended_wall = SystemClock().wall();
  refusals_.push_back(std::move(end));
}

void Warden::handle(Start&& request) {
  if (const auto held = attempts_.find(request.key); held != attempts_.end()) {
    Attempt& attempt = held->second;
    attempt.owner_life = proper_.life();
    attempt.started_untold = attempt.phase == Phase::Running || attempt.phase == Phase::Emptying;
    attempt.end_untold = attempt.phase == Phase::Ended;
    return queue(attempt);
  }
  if (request.argv.empty()) return refuse(request.key, "no command");
  if (std::string why = reason_to_refuse(request); !why.empty()) return refuse(request.key, std::move(why));
  Attempt& attempt = attempts_[request.key];
  attempt.serial = next_serial_++;
  attempt.key = attempt.end.key = request.key;
  attempt.note = std::move(request.note);
  attempt.kill_grace = request.kill_grace;
  attempt.disconnect_grace = request.disconnect_grace;
  attempt.limits = {request.most_memory_bytes, request.most_processes, request.milli_cpus};
  attempt.owner_life = proper_.life();
  attempt.end.started = attempt.end.ended = BootClock::now();
  attempt.end.started_wall = attempt.end.ended_wall = SystemClock().wall();
  if (request.timeout > Millis{0}) attempt.term_at = attempt.end.started + request.timeout;
  keys_by_serial_[attempt.serial] = attempt.key;
  launch(attempt, request);
}

/// The write ends go to `ends`, and are closed here once the child has its own.
bool Warden::open_pipes(Attempt& attempt, bool progress, ProcessPlan& plan,
                        std::vector<UniqueFd>& ends) {
  const auto open_one = [&](UniqueFd& read_end, int& place) {
    int pair[2] = {-1, -1};
    if (::pipe2(pair, O_CLOEXEC) != 0) return false;
    read_end.reset(pair[0]);
    ends.emplace_back(pair[1]);
    place = pair[1];
    // Only the reader's side: O_NONBLOCK on the job's own side would surprise it.
    return ::fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0;
  };
  plan.stdin_fd = null_.get();
  return open_one(attempt.out, plan.stdout_fd) && open_one(attempt.err, plan.stderr_fd) &&
         (!progress || open_one(attempt.progress, plan.extra_fd));
}

void Warden::launch(Attempt& attempt, Start& request) {
  const std::string mark = mark_of(token_, attempt.key);
  ProcessPlan& plan = spent_plans_.emplace_back(plan_of(request, restored_limits_, mark));
  std::vector<UniqueFd> ends;
  if (!open_pipes(attempt, request.progress, plan, ends)) {
    const int error = errno;
    return fail_start(attempt, StartStep::Pipe, error, std::string("pipe: ") + std::strerror(error));
  }
  if (setup_.namespaces.pid_namespace) return launch_kept(attempt, plan, request.space);
  launch_scanned(attempt, plan, mark);
}

void Warden::launch_kept(Attempt& attempt, const ProcessPlan& plan, const std::string& space) {
  if (!make_cgroup(attempt)) return;
  ProcessPlan bound = plan;
  bound.cgroup_fd = attempt.cgroup ? attempt.cgroup->fd() : -1;
  const bool may_serve_again = setup_.namespaces.serve_again && !attempt.cgroup;
  const std::string kind = may_serve_again ? keeper_kind(space, plan.user, ::geteuid()) : std::string();
  bound.own_ipc = !kind.empty();
  if (!kind.empty() && launch_served(attempt, bound, kind)) return;
  const UniqueFd orders = kind.empty() ? UniqueFd{} : open_orders(attempt, kind);
  StartedProcess keeper = start_kept(
      bound, KeeperPlan{attempt.serial, notes_write_.get(), setup_.namespaces.own_proc,
                        shared_vouched_until_, attempt.disconnect_grace, orders.get()});
  if (keeper.failed_step != StartStep::None) {
    return fail_start(attempt, keeper.failed_step, keeper.error, keeper.detail);
  }
  attempt.pid = attempt.shown_pid = keeper.pid;
  attempt.pidfd = std::move(keeper.pidfd);
  keys_by_pid_[attempt.pid] = attempt.key;
}

/// By a keeper of the same kind that rests; false: there is none.
bool Warden::launch_served(Attempt& attempt, const ProcessPlan& plan, const std::string& kind) {
  while (auto keeper = resting_.take(kind)) {
    // One that has been killed meanwhile is passed over: its socket is closed.
    if (!send_order(keeper->orders.get(), attempt.serial, attempt.disconnect_grace, plan)) continue;
    attempt.pid = attempt.shown_pid = keeper->pid;
    attempt.pidfd = std::move(keeper->pidfd);
    attempt.server = std::move(*keeper);
    attempt.server->pid = -1;
    keys_by_pid_[attempt.pid] = attempt.key;
    return true;
  }
  return false;
}

/// With that means, or for limits that the kernel can hold; false when it cannot be made, which has ended
/// the attempt.
bool Warden::make_cgroup(Attempt& attempt) {
  if (!setup_.cgroups || (setup_.namespaces.pid_namespace && !attempt.limits.any())) return true;
  auto made = setup_.cgroups->make(std::to_string(attempt.serial), attempt.limits);
  if (!made) return fail_start(attempt, StartStep::Session, 0, made.error().message), false;
  attempt.cgroup = std::move(*made);
  return true;
}

void Warden::launch_scanned(Attempt& attempt, const ProcessPlan& plan, const std::string& mark) {
  if (!make_cgroup(attempt)) return;
  ProcessPlan bound = plan;
  bound.dies_with_parent = true;
  bound.cgroup_fd = attempt.cgroup ? attempt.cgroup->fd() : -1;
  StartedProcess main = start_process(bound);
  if (main.failed_step != StartStep::None) {
    return fail_start(attempt, main.failed_step, main.error, main.detail);
  }
  attempt.pid = attempt.shown_pid = main.pid;
  attempt.pidfd = std::move(main.pidfd);
  attempt.phase = Phase::Running;
  attempt.started_untold = true;
  keys_by_pid_[attempt.pid] = attempt.key;
  const auto seen = look_at(main.pid);
  SetScanner::Target target{{main.pid, seen ? seen->identity.start_ticks : 0}, mark, {}, false};
  for (const UniqueFd* pipe : {&attempt.out, &attempt.err, &attempt.progress}) {
    if (pipe->is_open()) target.pipes.push_back(inode_of(pipe->get()));
  }
  scanner_.add(attempt.serial, std::move(target));
  queue(attempt);
}

void Warden::handle(const Kill& request) {
  const auto held = attempts_.find(request.key);
  if (held == attempts_.end() || held->second.phase == Phase::Ended) return;
  begin_death(held->second, request.by, request.grace);
}

void Warden::handle(const Forget& request) {
  const auto held = attempts_.find(request.key);
  if (held == attempts_.end()) return;
  Attempt& attempt = held->second;
  if (attempt.phase != Phase::Ended && !attempt.unproven_told) return;
  attempt.is_forgotten = true;
  forget_if_done(request.key);
}

void Warden::forget_if_done(const AttemptKey& key) {
  const auto held = attempts_.find(key);
  if (held == attempts_.end() || !held->second.is_forgotten) return;
  if (held->second.phase != Phase::Ended) return;
  keys_by_serial_.erase(held->second.serial);
  attempts_.erase(held);
}

void Warden::handle(const Vouch& request) {
  // A keeper that sleeps towards a later end learns of an earlier one only when it next looks.
  if (vouched_until_ && request.until < *vouched_until_) keepers_look_by_ = BootClock::now() + kKeeperLooks;
  vouched_until_ = request.until;
  shared_vouched_until_->store(request.until.time_since_epoch().count());
  life_has_vouched_ = true;
}

void Warden::handle(const List& request) {
  std::uint32_t count = 0;
  for (auto& [key, attempt] : attempts_) {
    if (attempt.is_forgotten) continue;
    attempt.owner_life = proper_.life();
    attempt.started_untold = attempt.end_untold = false;
    attempt.held_untold = true;
    if (attempt.phase == Phase::Starting) continue;  // told when it has started or failed
    ++count;
    queue(attempt);
  }
  list_end_ = ListEnd{request.token, count};
}

void Warden::handle(const Ping& request) {
  const Pong pong{request.token, BootClock::now()};
  // Of several that wait only the newest is kept: a pong answers all pings up to its token.
  if (is_blocked_ || !tell(Notice{pong})) pong_ = pong;
}

}  // namespace rota::worker::warden
