#include "faults.h"

#include <algorithm>
#include <utility>

#include "world.h"

namespace rota::sim {

using std::chrono_literals::operator""ms;

namespace {
/// This percentage of the seeds has a single kind of fault.
constexpr int kSinglePercent = 12;
/// By then, kills that it could not prove are reported, and a new life of the worker has its slots again.
constexpr Millis kMendAfter{20'000};
}

/// `percent` of the seeds have it. A kind without strikes applies to the whole world.
struct Faults::Kind {
  const char* name;
  int percent;
  bool (Faults::*strike)(Random&);
};

const std::vector<Faults::Kind>& Faults::all() {
  static const std::vector<Kind> kinds = {
      {"leader_crash", 60, &Faults::crash_leader},
      {"master_crash", 40, &Faults::crash_master},
      {"leader_freeze", 50, &Faults::freeze_leader},
      {"leader_cut_from_zookeeper", 40, &Faults::cut_leader_from_zookeeper},
      {"candidate_deleted", 15, &Faults::delete_candidate},
      {"clock_jump", 35, &Faults::jump_clock},
      {"clock_drift", 15, &Faults::drift_clock},
      {"clocks_together", 15, &Faults::step_clocks_together},
      {"zookeeper_down", 35, &Faults::stop_zookeeper},
      {"follower_cut", 35, &Faults::cut_follower},
      {"follower_lags", 30, &Faults::lag_follower},
      {"zookeeper_wiped", 8, &Faults::wipe_zookeeper},
      {"zookeeper_restored", 8, &Faults::restore_zookeeper},
      {"ownerless_node", 12, &Faults::copy_node},
      {"database_down", 40, &Faults::stop_database},
      {"frozen_in_transaction", 20, &Faults::freeze_in_transaction},
      {"database_restored", 8, &Faults::restore_database},
      {"replica_promoted", 8, &Faults::promote_replica},
      {"proper_crash", 45, &Faults::crash_proper},
      {"proper_freeze", 35, &Faults::freeze_proper},
      {"warden_crash", 30, &Faults::crash_warden},
      {"host_lost", 40, &Faults::lose_host},
      {"disk_lost", 12, &Faults::lose_disk},
      {"host_replaced", 12, &Faults::replace_host},
      {"worker_cut_from_zookeeper", 40, &Faults::cut_worker_from_zookeeper},
      {"worker_cut_from_masters", 40, &Faults::cut_worker_from_masters},
      {"worker_cut_off", 40, &Faults::cut_worker_off},
      {"one_way_cut", 35, &Faults::cut_one_way},
      {"host_frozen", 25, &Faults::freeze_host},
      {"sessions_ended", 15, &Faults::end_sessions},
      {"drain", 25, &Faults::drain},
      {"outbox_full", 20, &Faults::fill_outbox},
      {"bit_flipped", 15, &Faults::flip_bit},
      {"worker_clock_jump", 20, &Faults::jump_worker_clock},
      {"messages_lost", 70, nullptr},
      {"messages_late", 60, nullptr},
      {"messages_doubled", 50, nullptr},
      {"batches_failed", 50, nullptr},
      {"batches_unknown", 60, nullptr},
      {"batches_slow", 40, nullptr},
      {"zookeeper_answers_lost", 40, nullptr},
      {"takeovers_entangled", 35, nullptr},
      {"death_in_takeover", 25, nullptr},
      {"session_file_lost", 30, nullptr},
      {"clock_rates", 40, nullptr},
      {"second_cluster", 12, &Faults::begin_second_cluster},
      {"nodes_deleted", 8, &Faults::delete_nodes},
      {"database_node_lags", 25, &Faults::lag_nodes},
  };
  return kinds;
}

Faults::Faults(World& world) : world_(world), drawn_(world.recipe.seed, 99) {
  std::uint64_t stream = 100;
  const bool is_single = drawn_.chance(kSinglePercent);
  const std::size_t single = drawn_.index(all().size());
  for (const Kind& kind : all()) {
    ++stream;
    const bool drawn = drawn_.chance(kind.percent);
    const bool is_on = is_single ? stream == 101 + single : drawn;
    const Millis least = drawn_.between(200ms, 3000ms);
    const Millis most = least + drawn_.between(1000ms, 20'000ms);
    if (!is_on || world.recipe.without.contains(kind.name)) continue;
    if (kind.strike == nullptr) {
      passive_.emplace_back(kind.name);
    } else {
      active_.push_back({&kind, Random(world.recipe.seed, stream), least, most, 0});
    }
  }
  drop_double_losses();
  set_strengths();
}

bool Faults::loses_zookeeper() const { return on("zookeeper_wiped") || on("zookeeper_restored"); }

/// A loss of the database is noticed through ZooKeeper, and the other way round: no promise covers both
/// together.
void Faults::drop_double_losses() {
  if (!loses_zookeeper()) return;
  std::erase_if(active_, [](const Active& active) {
    return active.kind->name == std::string("database_restored") || active.kind->name == std::string("replica_promoted");
  });
}

bool Faults::on(const std::string& name) const {
  return std::ranges::find(passive_, name) != passive_.end() ||
         std::ranges::any_of(active_, [&](const Active& a) { return name == a.kind->name; });
}

std::vector<std::string> Faults::kinds_on() const {
  std::vector<std::string> names = passive_;
  for (const Active& active : active_) names.emplace_back(active.kind->name);
  return names;
}

void Faults::set_strengths() {
  const auto strength = [this](const char* name, int most) {
    const int drawn = static_cast<int>(1 + drawn_.below(most));
    return on(name) ? drawn : 0;
  };
  world_.lost_per_mille = strength("messages_lost", 60);
  world_.late_per_mille = strength("messages_late", 60);
  world_.doubled_per_mille = strength("messages_doubled", 100);
  world_.store.faults.failed_per_mille = strength("batches_failed", 30);
  world_.store.faults.unknown_per_mille = strength("batches_unknown", 50);
  world_.store.faults.slow_per_mille = strength("batches_slow", 25);
  world_.zk_call_lost = strength("zookeeper_answers_lost", 60);
  world_.zk_call_between = strength("takeovers_entangled", 60);
  world_.zk_call_dies = strength("death_in_takeover", 25);
}

void Faults::begin() {
  const bool may_be_strange = on("second_cluster") || on("nodes_deleted") || loses_zookeeper();
  if (may_be_strange) watch_strangers();
  if (on("clock_jump") && !std::exchange(watches_clocks_, true)) watch_clocks();
  for (Active& active : active_) plan(active);
}

void Faults::plan(Active& active) {
  world_.after(active.dice.between(active.least, active.most), [this, &active] {
    if (healed_) return;
    strike(active);
    plan(active);
  });
}

void Faults::strike(Active& active) {
  const std::string name = active.kind->name;
  const int ordinal = ++active.struck;
  Random dice(active.dice.next());
  if (world_.recipe.skipped.contains({name, ordinal})) return;
  if (!(this->*active.kind->strike)(dice)) return;
  strikes_.emplace_back(name, ordinal);
  world_.marks.hit("fault_" + name);
  world_.trace("FAULT", name + " #" + std::to_string(ordinal));
}

void Faults::heal() {
  healed_ = true;
  healed_at_ = world_.now();
  world_.trace("heal", "");
  world_.lost_per_mille = world_.late_per_mille = world_.doubled_per_mille = 0;
  world_.unproven_percent = 0;
  world_.zk_call_lost = world_.zk_call_between = world_.zk_call_dies = 0;
  world_.store.faults = {};
  world_.store.lag_nodes(Millis{0});
  world_.clockwork.common_step = {};
  if (!std::exchange(watches_clocks_, true)) watch_clocks();
  world_.cuts.clear();
  world_.zookeeper.come_up(world_.now());
  for (std::size_t i = 0; i < world_.zookeeper.server_count(); ++i) world_.zookeeper.mend(i);
  for (auto& master : world_.masters) {
    master->cut_from_zookeeper = false;
    master->mend_clock();
    if (master->is_stranger()) {
      master->stop();
    } else {
      master->start();
    }
  }
  for (auto& worker : world_.workers) {
    worker->cut_from_zookeeper = worker->cut_from_masters = false;
    worker->set_full(false);
    worker->mend_clock();
    worker->set_draining(false);
    if (worker->is_spare()) {
      worker->retire();
    } else {
      worker->start_host();
      if (worker->has_lost_slots()) {
        ++world_.workers_mended;
        world_.after(kMendAfter, [&worker] { worker->crash_warden(); });
      }
    }
  }
}

}  // namespace rota::sim
