#include "faults.h"

#include "world.h"

namespace rota::sim {

using std::chrono_literals::operator""ms;

void Faults::begin() {
  Random& random = world_.random;
  world_.lost_per_mille = static_cast<int>(random.below(30));
  world_.store.faults.failed_per_mille = static_cast<int>(random.below(20));
  world_.store.faults.unknown_per_mille = static_cast<int>(random.below(30));
  world_.store.faults.slow_per_mille = static_cast<int>(random.below(15));
  world_.after(random.between(8000ms, 40'000ms), [this] { crash_leader(); });
  world_.after(random.between(3000ms, 20'000ms), [this] {
    world_.marks.hit("fault_answer_lost");
    world_.lose_next_answer = true;
  });
  world_.after(3000ms, [this] { next(); });
}

void Faults::next() {
  if (healed_) return;
  world_.after(world_.random.between(300ms, 6000ms), [this] { next(); });
  strike();
}

SimMaster* Faults::leader() {
  for (auto& master : world_.masters) {
    if (master->leads() && master->epoch() == world_.store.epoch()) return master.get();
  }
  return nullptr;
}

void Faults::crash_leader() {
  SimMaster* now = healed_ ? nullptr : leader();
  if (now == nullptr) {
    if (!healed_) world_.after(500ms, [this] { crash_leader(); });
    return;
  }
  world_.marks.hit("fault_leader_crash");
  now->crash(world_.random.chance(70), world_.random.between(500ms, 10'000ms));
}

void Faults::strike() {
  Random& random = world_.random;
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
      strike_leader();
      return;
    case 3:
      world_.marks.hit("fault_zookeeper_down");
      world_.zookeeper.up = false;
      world_.after(random.between(500ms, 15'000ms), [this] {
        if (!world_.zookeeper.up) world_.zookeeper.come_up(world_.now());
      });
      return;
    case 4:
      world_.marks.hit("fault_database_down");
      (random.chance(50) ? world_.store.faults.down : world_.store.faults.dies_at_commit) = true;
      world_.after(random.between(200ms, 9000ms), [this] {
        world_.store.faults.down = world_.store.faults.dies_at_commit = false;
      });
      return;
    default:
      strike_worker(*world_.workers[static_cast<std::size_t>(
          random.below(static_cast<std::int64_t>(world_.workers.size())))]);
  }
}

void Faults::strike_leader() {
  Random& random = world_.random;
  SimMaster* now = leader();
  if (now == nullptr) return;
  switch (random.below(5)) {
    case 0:
      crash_leader();
      return;
    case 1:
    case 2:
      world_.marks.hit("fault_leader_freeze");
      now->freeze(random.between(500ms, 12'000ms));
      return;
    case 3:
      world_.marks.hit("fault_leader_cut_from_zookeeper");
      now->cut_from_zookeeper = true;
      world_.after(random.between(1000ms, 12'000ms), [now] { now->cut_from_zookeeper = false; });
      return;
    default:
      world_.marks.hit("fault_leader_clock_jump");
      now->jump_clock(random.between(-5000ms, 5000ms));
  }
}

void Faults::strike_worker(SimWorker& worker) {
  Random& random = world_.random;
  const Millis lasts = random.between(500ms, 14'000ms);
  switch (random.below(8)) {
    case 0:
    case 1:
      world_.marks.hit("fault_proper_crash");
      worker.crash_proper();
      return;
    case 2:
      world_.marks.hit("fault_warden_crash");
      worker.crash_warden();
      return;
    case 3:
      world_.marks.hit("fault_host_lost");
      worker.lose_host(random.between(200ms, 20'000ms));
      return;
    case 4:
      world_.marks.hit("fault_worker_cut_from_zookeeper");
      worker.cut_from_zookeeper = true;
      world_.after(lasts, [&worker] { worker.cut_from_zookeeper = false; });
      return;
    case 5:
      world_.marks.hit("fault_worker_cut_from_masters");
      worker.cut_from_masters = true;
      world_.after(lasts, [&worker] { worker.cut_from_masters = false; });
      return;
    case 6:
      world_.marks.hit("fault_worker_cut_off");
      worker.cut_from_zookeeper = worker.cut_from_masters = true;
      world_.after(lasts, [&worker] { worker.cut_from_zookeeper = worker.cut_from_masters = false; });
      return;
    default:
      world_.marks.hit("fault_drain");
      worker.set_draining(true);
      world_.after(lasts, [&worker] { worker.set_draining(false); });
  }
}

void Faults::heal() {
  healed_ = true;
  world_.trace("heal", "");
  world_.lost_per_mille = 0;
  world_.store.faults = {};
  if (!world_.zookeeper.up) world_.zookeeper.come_up(world_.now());
  for (auto& master : world_.masters) {
    master->cut_from_zookeeper = false;
    master->start();
  }
  for (auto& worker : world_.workers) {
    worker->cut_from_zookeeper = worker->cut_from_masters = false;
    worker->start_host();
    worker->set_draining(false);
  }
}

void Faults::note_last_term(SimMaster& master) { master.crash(true, Millis{1}); }

}  // namespace rota::sim
