// The faults that strike: each does its damage and plans its end. False: it could do nothing now.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "faults.h"
#include "world.h"

namespace rota::sim {

using std::chrono_literals::operator""ms;

namespace {
/// This long after all faults, each worker that is still there has reported what it holds.
constexpr Millis kAllWorkersBack{25'000};
}

SimMaster* Faults::leader() {
  for (auto& master : world_.masters) {
    if (master->leads() && master->epoch() == world_.store.epoch()) return master.get();
  }
  return nullptr;
}

SimMaster& Faults::any_master(Random& dice) { return *world_.masters[dice.index(world_.masters.size())]; }
SimWorker& Faults::any_worker(Random& dice) { return *world_.workers[dice.index(world_.workers.size())]; }

// --- masters

bool Faults::crash_leader(Random& dice) {
  SimMaster* now = leader();
  if (now == nullptr) return false;
  now->crash(dice.chance(70), dice.between(500ms, 10'000ms));
  return true;
}

bool Faults::crash_master(Random& dice) {
  any_master(dice).crash(dice.chance(50), dice.between(500ms, 10'000ms));
  return true;
}

bool Faults::freeze_leader(Random& dice) {
  SimMaster* now = leader();
  if (now == nullptr) return false;
  now->freeze(dice.between(500ms, 12'000ms));
  return true;
}

bool Faults::cut_leader_from_zookeeper(Random& dice) {
  SimMaster* now = leader();
  if (now == nullptr) return false;
  now->cut_from_zookeeper = true;
  world_.after(dice.between(1000ms, 20'000ms), [now] { now->cut_from_zookeeper = false; });
  return true;
}

bool Faults::delete_candidate(Random& dice) {
  any_master(dice).lose_candidacy();
  return true;
}

bool Faults::jump_clock(Random& dice) {
  any_master(dice).jump_clock(dice.chance(80) ? dice.between(-5000ms, 5000ms)
                                              : dice.between(-3'600'000ms, 3'600'000ms));
  return true;
}

bool Faults::drift_clock(Random& dice) {
  any_master(dice).drift_clock(static_cast<int>(dice.below(101)) - 50);
  return true;
}

/// Moves the clocks of the masters and the database far ahead or back, and some seconds later corrects them.
bool Faults::step_clocks_together(Random& dice) {
  if (world_.clockwork.common_step != 0ms) return false;
  const Millis by = dice.between(5000ms, 3'600'000ms);
  world_.clockwork.common_step = dice.chance(70) ? by : -by;
  world_.after(dice.between(1000ms, 12'000ms), [this] { world_.clockwork.common_step = {}; });
  if (!std::exchange(watches_clocks_, true)) watch_clocks();
  return true;
}

/// The judge: a leader that has checked its clock must hold ticks. And the operator: sometimes accepts a hold
/// while the clocks are right, or nearly right.
void Faults::watch_clocks() {
  world_.after(250ms, [this] { watch_clocks(); });
  for (auto& master : world_.masters) {
    if (master->fires_by_a_stepped_clock()) world_.violate("P21: a leader holds nothing though its clock stepped");
  }
  SimMaster* now = leader();
  // Two looks in the half minute before the health is judged: one accepts, one gives back what ran ahead.
  if (now == nullptr || !world_.random.chance(healed_ ? 30 : 10)) return;
  static constexpr Millis kNearlyRight{3000};
  const auto is_right = [](const std::unique_ptr<SimMaster>& master) {
    return std::chrono::abs(master->clock_error()) < kNearlyRight;
  };
  if (!std::ranges::all_of(world_.masters, is_right)) return;
  now->accept_clocks();
  const auto watermark = world_.store.watermark();
  const bool is_ahead = watermark && watermark->reaching > world_.clockwork.true_wall() + kNearlyRight;
  if (healed_ && is_ahead) now->rewind_ticks();
}

// --- ZooKeeper

bool Faults::stop_zookeeper(Random& dice) {
  world_.zookeeper.go_down();
  world_.after(dice.between(500ms, 15'000ms), [this] { world_.zookeeper.come_up(world_.now()); });
  return true;
}

bool Faults::cut_follower(Random& dice) {
  const std::size_t server = dice.index(world_.zookeeper.server_count());
  if (world_.zookeeper.server_count() == 1) return false;
  world_.zookeeper.cut(server, world_.now());
  world_.after(dice.between(500ms, 15'000ms), [this, server] {
    world_.zookeeper.mend(server);
  });
  return true;
}

bool Faults::lag_follower(Random& dice) {
  const std::size_t server = dice.index(world_.zookeeper.server_count());
  if (world_.zookeeper.server_count() == 1) return false;
  world_.zookeeper.lag(server);
  world_.after(dice.between(200ms, 8000ms), [this, server] {
    world_.zookeeper.catch_up(server);
  });
  return true;
}

bool Faults::wipe_zookeeper(Random& dice) { return lose_zookeepers_data(dice, true); }

/// Restores a copy that was taken earlier.
bool Faults::restore_zookeeper(Random& dice) {
  if (!world_.zookeeper.has_copy() || dice.chance(50)) {
    world_.zookeeper.make_copy();
    return false;
  }
  return lose_zookeepers_data(dice, false);
}

/// Its servers end and start again on an empty folder or an older copy.
bool Faults::lose_zookeepers_data(Random& dice, bool all) {
  constexpr Millis kRecovery{10'000};  // a session's timeout, a new handle, a new session
  const auto before = std::exchange(world_.zookeeper_broke_at, world_.now());
  if (before && world_.now() - *before < kRecovery) world_.zookeeper_broke_twice = true;
  world_.zookeeper.go_down();
  world_.after(dice.between(200ms, 8000ms), [this, all] {
    if (healed_) return;
    world_.zookeeper.go_down();
    const WallTime now = world_.clockwork.true_wall();
    all ? world_.zookeeper.lose_data(now) : world_.zookeeper.put_copy_back(now);
    world_.truth.note_loss(world_.now());
    world_.trace("loss", all ? "all" : "older copy");
    world_.zookeeper.come_up(world_.now());
    world_.await_registrations(all);
  });
  return true;
}

/// A tool copies a node that a session owns; the copy belongs to no session and stays.
bool Faults::copy_node(Random& dice) {
  const std::string& folder = dice.chance(50) ? kElectionFolder : kWorkersFolder;
  const zk::NodeTree& tree = world_.zookeeper.tree();
  const auto names = tree.list(folder).value_or(std::vector<std::string>{});
  if (names.empty() || !world_.zookeeper.is_up()) return false;
  const std::string& name = names[dice.index(names.size())];
  const std::string data = tree.find(folder + "/" + name)->data;
  const std::string copy = folder == kElectionFolder
                               ? fmt::format("n_{:016x}_{:010}", dice.next(), dice.below(3))
                               : name.substr(0, name.find('@')) + fmt::format("@copied-{:x}", dice.next());
  return world_.zookeeper.create(0, folder + "/" + copy, data, zk::CreateMode::Persistent).has_value();
}

// --- database

bool Faults::stop_database(Random& dice) {
  (dice.chance(50) ? world_.store.faults.down : world_.store.faults.dies_at_commit) = true;
  world_.after(dice.between(200ms, 9000ms), [this] {
    world_.store.faults.down = world_.store.faults.dies_at_commit = false;
  });
  return true;
}

bool Faults::freeze_in_transaction(Random& dice) {
  world_.store.faults.freezes_caller = dice.between(500ms, 12'000ms);
  return true;
}

/// Of several nodes, those of deposed leaders and of new ones do not have the newest rows yet.
bool Faults::lag_nodes(Random& dice) {
  world_.store.lag_nodes(dice.between(500ms, 15'000ms));
  return true;
}

/// Restores a copy that was taken earlier; the operator handles it after a while.
bool Faults::restore_database(Random& dice) {
  if (dice.chance(50)) {
    world_.store.back_up();
    return false;
  }
  return put_copy_back(dice);
}

/// A lagging replica replaces the server.
bool Faults::promote_replica(Random& dice) {
  if (leader() == nullptr) return false;
  world_.store.back_up();
  const Millis lag = dice.chance(50) ? dice.between(50ms, 1000ms) : dice.between(1000ms, 6000ms);
  world_.after(lag, [this, later = Random(dice.next())]() mutable {
    if (!healed_) put_copy_back(later);
  });
  return true;
}

bool Faults::put_copy_back(Random& dice) {
  if (!world_.store.go_back(world_.noted_in_zookeeper())) return false;
  world_.trace("restored", "to epoch " + std::to_string(world_.store.epoch().value));
  world_.store.faults.down = true;
  world_.after(dice.between(20ms, 3000ms), [this] { world_.store.faults.down = false; });
  if (!std::exchange(watches_alarm_, true)) watch_alarm();
  return true;
}

/// The operator: accepts the loss some seconds after the alarm.
void Faults::watch_alarm() {
  world_.after(500ms, [this] { watch_alarm(); });
  if (world_.zookeeper.tree().find("/rota/sim/database_went_back") == nullptr) {
    accept_at_.reset();
    return;
  }
  if (!accept_at_) accept_at_ = world_.now() + world_.random.between(500ms, 10'000ms);
  if (!healed_ && world_.now() < *accept_at_) return;
  SimMaster* now = leader();
  if (now != nullptr && now->accept_restore()) world_.store.accept_restore();
}

// --- whose database it is

/// If the database also went back, nobody could know which epochs were used.
bool Faults::epochs_are_known() const { return !on("database_restored") && !on("replica_promoted"); }

/// Masters of a second cluster, with a ZooKeeper of their own, use the same database for a while.
bool Faults::begin_second_cluster(Random& dice) {
  SimMaster& stranger = *world_.masters.back();
  if (!epochs_are_known() || !stranger.is_stranger() || stranger.is_alive()) return false;
  stranger.start();
  world_.after(dice.between(5000ms, 40'000ms), [&stranger] { stranger.stop(); });
  return true;
}

/// Somebody deletes what ZooKeeper knows about the cluster.
bool Faults::delete_nodes(Random& dice) {
  if (!epochs_are_known()) return false;
  const zk::Paths paths("sim");
  bool did = world_.zookeeper.remove(paths.epoch()).has_value();
  if (dice.chance(70)) did |= world_.zookeeper.remove(paths.identity()).has_value();
  if (dice.chance(50)) did |= world_.zookeeper.remove(paths.cluster_uuid()).has_value();
  return did;
}

/// The operator: after being asked for long enough, gives the database to the first cluster; once all workers
/// must have come back, says that the others are gone.
void Faults::watch_strangers() {
  world_.after(1000ms, [this] { watch_strangers(); });
  if (leader() != nullptr) held_off_since_.reset();
  const bool may_say_gone = healed_ && world_.now() >= healed_at_ + kAllWorkersBack;
  for (auto& master : world_.masters) {
    if (master->is_stranger() || !master->is_alive()) continue;
    const bool leads = master->leads() && master->epoch() == world_.store.epoch();
    if (leads && may_say_gone) (void)master->accept_zookeeper(true);
    if (leader() != nullptr || master->held_off().empty()) continue;
    if (!held_off_since_) held_off_since_ = world_.now();
    const Millis patience = healed_ ? 1000ms : 8000ms;
    if (world_.now() - *held_off_since_ < patience || !master->accept_zookeeper(false)) continue;
    world_.store.accept_first_cluster();
    return;
  }
}

// --- workers

bool Faults::crash_proper(Random& dice) {
  any_worker(dice).crash_proper();
  return true;
}

bool Faults::freeze_proper(Random& dice) {
  any_worker(dice).freeze_proper(dice.between(200ms, 12'000ms));
  return true;
}

bool Faults::crash_warden(Random& dice) {
  any_worker(dice).crash_warden();
  return true;
}

bool Faults::lose_host(Random& dice) {
  any_worker(dice).lose_host(dice.between(200ms, 20'000ms));
  return true;
}

/// Like a paused virtual machine: jobs, warden and proper stand still together.
bool Faults::freeze_host(Random& dice) {
  SimWorker& worker = any_worker(dice);
  if (!worker.is_up() || worker.stands_still()) return false;
  worker.freeze_host(dice.between(200ms, 15'000ms));
  return true;
}

bool Faults::lose_disk(Random& dice) {
  SimWorker& worker = any_worker(dice);
  if (!worker.is_up()) return false;
  worker.lose_host(dice.between(200ms, 8000ms), true);
  return true;
}

/// Another host comes up with the id of one that is cut off and still alive.
bool Faults::replace_host(Random& dice) {
  SimWorker& worker = any_worker(dice);
  SimWorker* spare = world_.spare_of(worker);
  if (spare == nullptr || spare->is_up() || !worker.is_up()) return false;
  const Millis lasts = dice.between(4000ms, 20'000ms);
  worker.cut_from_zookeeper = worker.cut_from_masters = true;
  world_.after(lasts, [&worker] { worker.cut_from_zookeeper = worker.cut_from_masters = false; });
  world_.after(dice.between(100ms, 9000ms), [this, spare] {
    if (!healed_) spare->start_host();
  });
  return true;
}

bool Faults::cut_worker_from_zookeeper(Random& dice) {
  SimWorker& worker = any_worker(dice);
  worker.cut_from_zookeeper = true;
  world_.after(dice.between(500ms, 20'000ms), [&worker] { worker.cut_from_zookeeper = false; });
  return true;
}

bool Faults::cut_worker_from_masters(Random& dice) {
  SimWorker& worker = any_worker(dice);
  worker.cut_from_masters = true;
  world_.after(dice.between(500ms, 14'000ms), [&worker] { worker.cut_from_masters = false; });
  return true;
}

bool Faults::cut_worker_off(Random& dice) {
  SimWorker& worker = any_worker(dice);
  worker.cut_from_zookeeper = worker.cut_from_masters = true;
  world_.after(dice.between(500ms, 20'000ms),
               [&worker] { worker.cut_from_zookeeper = worker.cut_from_masters = false; });
  return true;
}

/// One master and one worker: messages in one direction do not arrive.
bool Faults::cut_one_way(Random& dice) {
  const Cut cut{dice.chance(50), dice.index(world_.masters.size()), dice.index(world_.workers.size())};
  world_.cuts.insert(cut);
  world_.after(dice.between(500ms, 14'000ms), [this, cut] { world_.cuts.erase(cut); });
  return true;
}

/// Somebody ends a worker's sessions as soon as they appear, many times a second.
bool Faults::end_sessions(Random& dice) {
  SimWorker& worker = any_worker(dice);
  if (!worker.is_up()) return false;
  end_sessions_of(worker, world_.now() + dice.between(200ms, 15'000ms), Random(dice.next()));
  return true;
}

void Faults::end_sessions_of(SimWorker& worker, MonoTime until, Random dice) {
  if (healed_ || world_.now() >= until) return;
  worker.lose_session();
  const Millis pause = dice.between(30ms, 250ms);
  world_.after(pause, [this, &worker, until, dice] { end_sessions_of(worker, until, dice); });
}

bool Faults::drain(Random& dice) {
  SimWorker& worker = any_worker(dice);
  worker.set_draining(true);
  world_.after(dice.between(500ms, 10'000ms), [&worker] { worker.set_draining(false); });
  return true;
}

bool Faults::fill_outbox(Random& dice) {
  SimWorker& worker = any_worker(dice);
  worker.set_full(true);
  world_.after(dice.between(200ms, 6000ms), [&worker] { worker.set_full(false); });
  return true;
}

bool Faults::flip_bit(Random& dice) { return any_worker(dice).flip_bit(dice); }

bool Faults::jump_worker_clock(Random& dice) {
  any_worker(dice).set_skew(dice.between(-900ms, 900ms));  // the judge assumes clocks less than 2 s apart
  return true;
}

}  // namespace rota::sim
