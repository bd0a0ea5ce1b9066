#include "sim_worker.h"

#include <algorithm>

#include "common/zk/lease_rules.h"
#include "common/zk/paths.h"
#include "common/zk/reattach_rules.h"
#include "demand_draw.h"
#include "worker_node.h"
#include "world.h"

namespace rota::sim {

using model::Refusal;
using model::RunState;
using std::chrono_literals::operator""ms;
using worker::desk::AttemptTable;
using worker::desk::TableEntry;

namespace {
constexpr Millis kSettleEvery{100};
constexpr int kRivalPatience = 100;  // checks
}  // namespace

SimWorker::SimWorker(World& world, std::size_t index, std::string id, std::int32_t slots)
    : world_(world),
      index_(index),
      id_(std::move(id)),
      slots_(slots + more_slots(world.recipe.seed)),
      offers_(offers_of(world.recipe.seed, index)),
      server_(world.random.index(world.zookeeper.server_count())),
      host_dice_(world.recipe.seed, 38 + index * 64),
      clock_(world.clockwork) {
  clock_.set_base(world.random.between(-20ms, 20ms));
  if (world.faults_on("clock_rates")) clock_.set_rate(static_cast<int>(world.random.below(11)) - 5);
}

/// Each id has the same in all lives, on each of its hosts. "w0" knows all, so that no run waits forever.
std::vector<std::string> handlers_of(const World& world, const std::string& id) {
  std::vector<std::string> handlers = {"command"};
  const auto number = static_cast<std::uint64_t>(id.back());
  for (std::uint64_t at = 0; at < kHandlers.size(); ++at) {
    Random dice(world.recipe.seed * 100 + number * 10 + at, 34);
    if (id == "w0" || dice.chance(50)) handlers.emplace_back(kHandlers[at]);
  }
  return handlers;
}

model::WorkerInfo SimWorker::info() const {
  model::WorkerInfo info;
  info.key = key_;
  info.address = {"sim", static_cast<std::uint16_t>(index_)};
  info.slots = slots_;
  info.offers = offers_;
  info.handlers = handlers_of(world_, id_);
  Random dice(world_.recipe.seed * 100 + static_cast<std::uint64_t>(id_.back()), 36);
  info.rank = static_cast<std::int32_t>(dice.below(3));
  info.weight = static_cast<std::int32_t>(dice.below(300));
  info.labels = {{"zone", id_ == "w0" || dice.chance(50) ? "north" : "south"}};
  info.draining = draining_ || drain_told_;
  info.drain_told = drain_told_;
  info.drain_order = drain_order_;
  info.lease = zk::lease_length(world_.zookeeper.timing);
  info.start = start_id();
  return info;
}

bool SimWorker::reaches_zookeeper() const {
  return host_up_ && !cut_from_zookeeper && world_.zookeeper.serves(server_, world_.now()) && !is_refused();
}

/// Servers that lost data refuse a handle that has seen more than they know.
bool SimWorker::is_refused() const { return session_ != 0 && !world_.zookeeper.admits(handle_seen_); }

/// Like production's session: after its timeout without a connection, a new handle attaches.
void SimWorker::keep_handle() {
  if (reaches_zookeeper()) {
    handle_seen_ = std::max(handle_seen_, world_.zookeeper.view(server_).zxid());
    const bool broke = std::exchange(breaks_, world_.zookeeper.breaks()) != world_.zookeeper.breaks();
    if (std::exchange(cut_since_, std::nullopt) || broke) resumed_ = true;
    return;
  }
  if (!cut_since_) cut_since_ = world_.now();
  if (handle_seen_ == 0) return;
  if (!zk::must_reattach(*cut_since_, world_.zookeeper.timing.session, world_.now())) return;
  world_.marks.hit("worker_reattached");
  world_.trace("reattached", key_.id + "@" + key_.incarnation);
  handle_seen_ = 0;
}

/// Whether deeds of this life may continue; a stopped proper does nothing.
bool SimWorker::acts(std::int64_t life) const {
  return life == life_ && proper_up_ && world_.now() >= frozen_until_;
}

void SimWorker::reconnect() {
  if (cut_from_zookeeper || world_.zookeeper.serves(server_, world_.now())) return;
  const std::size_t next = (server_ + 1) % world_.zookeeper.server_count();
  if (!world_.zookeeper.agrees(next)) return;
  server_ = next;
  world_.zookeeper.move(session_, server_);
}

std::string SimWorker::start_id() const {
  return "h" + std::to_string(index_) + "w" + std::to_string(wardens_);
}

// --- lives

void SimWorker::start_host() {
  if (host_up_ || retired_) return;
  host_up_ = true;
  ++wardens_;
  clock_.boot(world_.random);
  start_proper();
}

void SimWorker::start_proper() {
  proper_up_ = true;
  draining_ = drain_told_ = false;
  drain_order_ = 0;
  frozen_until_ = still_until_;
  worker::desk::TableLimits table_limits;
  table_limits.slots = slots_;
  table_limits.offers = offers_;
  table_limits.tombstones = world_.limits.tombstones;
  table_limits.told_tombstones = world_.limits.told_tombstones;
  table_ = std::make_unique<AttemptTable>(table_limits);
  table_->set_full(full_);
  read_outbox();
  clean_up_behind_the_dead();
  for (const auto& [key, process] : processes_) {
    table_->adopt({key, process.life, TableEntry::State::Running, process.started, {}, taken_[key]});
  }
  for (const auto& [key, report] : untold_) {  // the warden reports them again
    table_->adopt({key, report.worker, TableEntry::State::Running, report.started, {}, taken_[key]});
  }
  for (const auto& [key, report] : outbox_) {
    table_->adopt({key, report.worker, TableEntry::State::Finished, report.started, report.outcome, taken_[key]});
  }
  writing_ = false;
  begin_life();
  write_outcomes(++starts_);
}

/// A new incarnation: at a start of the proper, and with each new session.
void SimWorker::begin_life() {
  const std::int64_t life = ++life_;
  key_ = {id_, "h" + std::to_string(index_) + "." + std::to_string(disks_) + "-i" + std::to_string(life)};
  node_path_ = kWorkersFolder + "/" + name_of_node(key_);
  registered_ = false;
  leader_.reset();
  last_lease_ = {};
  vouchers_.begin_life();
  table_->begin_life(key_);
  table_->raise_epoch(epoch_on_disk_);
  world_.trace("life", key_.id + "@" + key_.incarnation);
  world_.after(world_.random.between(1ms, 20ms), [this, life] { try_register(life); });
}

void SimWorker::try_register(std::int64_t life) {
  if (life != life_ || !proper_up_) return;
  reconnect();
  session_ = 0;  // a new session starts with a handle that has seen nothing
  if (!acts(life) || !reaches_zookeeper() || !world_.zookeeper.agrees(server_)) {
    world_.after(200ms, [this, life] { try_register(life); });
    return;
  }
  world_.zookeeper.catch_up(server_);
  session_ = world_.zookeeper.begin_session(server_, world_.zookeeper.timing.session, world_.now(), {});
  handle_seen_ = world_.zookeeper.tree().zxid();
  cut_since_.reset();
  SimZkClient client(world_.zookeeper, session_, server_, world_.random, world_.marks);
  (void)zk::ensure_cluster(client, zk::Paths("sim"));  // ZooKeeper may have lost them
  (void)world_.zookeeper.create(session_, node_path_, data_of_node(info()), zk::CreateMode::Ephemeral);
  (void)world_.zookeeper.create(session_, beat_path(), "", zk::CreateMode::Ephemeral);
  end_older_lives();
  beat(life);
  settle(life, kRivalPatience);
  world_.after(world_.random.between(1ms, 1000ms), [this, life] { renew(life); });
  world_.after(world_.random.between(1ms, 300ms), [this, life] { report(life); });
}

/// It is registered when no other node has its id and it has read the epoch.
void SimWorker::settle(std::int64_t life, int tries) {
  if (life != life_ || !proper_up_) return;
  const bool able = acts(life) && reaches_zookeeper();
  if (able && others_are_gone()) {
    const zk::Node* epoch = world_.zookeeper.view(server_).find("/rota/sim/epoch");
    if (epoch != nullptr) hear_of(Epoch{std::stoll(epoch->data)});
    table_->raise_epoch(epoch_on_disk_);
    registered_ = true;
    vouchers_.extend_lease(last_lease_);
    look_at_vouchers();
    return;
  }
  if (able && tries <= 0) {
    leave();
    return;
  }
  world_.after(kSettleEvery, [this, life, tries] { settle(life, tries - 1); });
}

bool SimWorker::is_registered() const {
  return registered_ && world_.zookeeper.tree().find(node_path_) != nullptr;
}

bool SimWorker::others_are_gone() const {
  const zk::NodeTree& view = world_.zookeeper.view(server_);
  const auto names = view.list(kWorkersFolder).value_or(std::vector<std::string>{});
  return std::ranges::none_of(names, [&, own = name_of_node(key_)](const std::string& name) {
    const bool is_ours = !name.starts_with(id_ + "@") || name == own;
    return !is_ours && view.find(kWorkersFolder + "/" + name)->stat.ephemeral_owner != 0;
  });
}

/// Another host has this id: the later one leaves and tries again after a while.
void SimWorker::leave() {
  world_.marks.hit("rival_left");
  world_.zookeeper.end_session(session_);
  lose_host(5000ms);
}

void SimWorker::end_older_lives() {
  const zk::NodeTree& view = world_.zookeeper.view(server_);
  const auto names = view.list(kWorkersFolder).value_or(std::vector<std::string>{});
  for (const std::string& name : names) {
    if (!name.starts_with(id_ + "@") || name == name_of_node(key_)) continue;
    const zk::Node& node = *view.find(kWorkersFolder + "/" + name);
    if (node.stat.ephemeral_owner == 0) continue;
    if (host_of_node(name, node.data) != index_) continue;
    if (world_.faults_on("session_file_lost") && world_.random.chance(15)) {  // it expires by itself
      world_.marks.hit("fault_session_file_lost");
      continue;
    }
    world_.after(world_.random.between(4ms, 10ms), [this, older = node.stat.ephemeral_owner] {
      if (world_.zookeeper.is_up()) world_.zookeeper.end_session(older);
    });
  }
}

/// A write: it proves the session only when the servers agreed on it and answered.
void SimWorker::beat(std::int64_t life) {
  if (life != life_ || !proper_up_) return;
  world_.after(clock_.true_span(zk::beat_interval(world_.zookeeper.timing)), [this, life] { beat(life); });
  if (!acts(life)) return;
  reconnect();
  keep_handle();
  const MonoTime sent = clock_.mono();
  world_.after(world_.small_delay(), [this, life, sent] {
    if (!acts(life) || !reaches_zookeeper() || !world_.zookeeper.agrees(server_)) return;
    if (world_.zookeeper.tree().find(node_path_) == nullptr) {
      begin_life();  // the session has expired, or somebody deleted the node
      return;
    }
    world_.zookeeper.touch(session_, world_.now());
    if (std::exchange(resumed_, false)) {  // the node may be older than the last write
      (void)world_.zookeeper.set(node_path_, data_of_node(info()));
    }
    (void)world_.zookeeper.set(beat_path(), "");
    world_.after(world_.small_delay(), [this, life, sent] {
      if (!acts(life) || !reaches_zookeeper() || world_.random.per_mille(world_.zk_call_lost)) return;
      last_lease_ = std::max(last_lease_, zk::lease_end(sent, world_.zookeeper.timing));
      if (!registered_) return;
      vouchers_.extend_lease(last_lease_);
      look_at_vouchers();
    });
  });
}

// --- vouchers

void SimWorker::look_at_vouchers() {
  if (lapsed_ && vouchers_.is_vouched(clock_.mono())) {
    lapsed_ = false;
    if (runs_something()) world_.marks.hit("lived_on_disconnect_grace");
  }
  if (!vouchers_.is_vouched(clock_.mono())) return;
  world_.after(clock_.true_span(vouchers_.vouched_until() - clock_.mono()), [this] { lapse_if_due(); });
}

void SimWorker::lapse_if_due() {
  if (stands_still()) {
    world_.after(left_of_stillness(), [this] { lapse_if_due(); });
  } else if (host_up_ && !lapsed_ && !vouchers_.is_vouched(clock_.mono())) {
    lapse();
  }
}

/// All vouchers have lapsed: attempts without grace are killed at once, and the proper with them. A grace counts
/// from the last voucher, also where the host has stood still since and notices only now.
void SimWorker::lapse() {
  lapsed_ = true;
  if (runs_something()) ++world_.lapses;
  world_.trace("lapse", id_);
  for (const auto& [key, process] : processes_) {
    const Millis kill_takes = world_.random.between(0ms, 40ms);
    const MonoTime due = std::max(clock_.mono(), vouchers_.vouched_until() + process.disconnect_grace);
    world_.after(clock_.true_span(due - clock_.mono()) + kill_takes, [this, key = key, serial = process.serial] {
      kill_unvouched(key, serial);
    });
  }
  world_.after(world_.random.between(0ms, 300ms), [this, life = life_] {
    if (life == life_) crash_proper();
  });
}

void SimWorker::kill_unvouched(model::AttemptKey key, std::int64_t serial) {
  const auto found = processes_.find(key);
  if (found == processes_.end() || found->second.serial != serial) return;
  if (stands_still()) {
    const Millis kill_takes = world_.random.between(0ms, 40ms);
    world_.after(left_of_stillness() + kill_takes, [this, key, serial] { kill_unvouched(key, serial); });
    return;
  }
  if (found->second.disconnect_grace > 0ms && vouchers_.is_vouched(clock_.mono())) return;
  if (!found->second.is_cleaning) {
    world_.marks.hit("killed_without_voucher");
    model::Outcome outcome;
    outcome.state = RunState::Lost;
    outcome.reason = model::Reason::WorkerLost;
    outcome.started = found->second.started;
    end_process(key, serial, outcome);
  }
  release_cleanup(key);
}

/// A cleanup goes on without a voucher, but the leader may count its attempt as over.
void SimWorker::release_cleanup(model::AttemptKey key) {
  const auto found = processes_.find(key);
  if (found == processes_.end() || !found->second.is_cleaning) return;
  if (!std::exchange(found->second.is_released, true)) world_.violate(world_.truth.end(key, world_.now()));
  world_.marks.hit("cleanup_without_voucher");
}

void SimWorker::renew(std::int64_t life) {
  if (life != life_ || !proper_up_) return;
  world_.after(1000ms, [this, life] { renew(life); });
  if (!acts(life)) return;
  if (clock_.mono() >= vouchers_.lease_end() && vouchers_.is_vouched(clock_.mono()) && runs_something()) {
    world_.marks.hit("lived_on_the_leaders_voucher");
  }
  if (leader_) send_renew();
}

/// In one world of three; its load comes and goes.
std::optional<model::WorkerVitals> SimWorker::vitals() {
  if (world_.recipe.seed % 3 != 0) return std::nullopt;
  if (host_dice_.chance(10)) cpu_percent_ = static_cast<int>(host_dice_.below(101));
  model::WorkerVitals vitals;
  vitals.cpu_percent = cpu_percent_;
  vitals.memory_percent = 30 + cpu_percent_ / 2;
  vitals.sampled = clock_.wall();
  return vitals;
}

void SimWorker::send_renew() {
  const MonoTime sent = clock_.mono();
  const std::int64_t life = life_;
  const Millis grant = world_.masters[*leader_]->grant();
  world_.to_leader(
      index_, *leader_,
      [this, said = vitals()](Token token) -> master::core::Event {
        return master::core::RenewAsked{token, key_, said};
      },
      [this, life, sent, grant](const master::core::ReplyBody& body) {
        if (!acts(life)) return;
        const bool granted = std::holds_alternative<master::core::Renewed>(body);
        world_.marks.hit(granted ? "renewed" : "renew_refused");
        if (!granted) return;
        vouchers_.extend_grant(sent, grant);
        look_at_vouchers();
      });
}

// --- what happens to it

/// Its holder learns it as soon as possible.
void SimWorker::lose_session() {
  if (!world_.zookeeper.is_up() || !world_.zookeeper.is_alive(session_)) return;
  world_.zookeeper.end_session(session_);
  world_.after(world_.small_delay(), [this, life = life_] {
    if (acts(life) && reaches_zookeeper() && world_.zookeeper.agrees(server_)) begin_life();
  });
}

void SimWorker::freeze_proper(Millis for_long) {
  if (proper_up_) frozen_until_ = std::max(still_until_, world_.now() + for_long);
}

bool SimWorker::stands_still() const { return world_.now() < still_until_; }

Millis SimWorker::left_of_stillness() const { return std::chrono::ceil<Millis>(still_until_ - world_.now()); }

void SimWorker::freeze_host(Millis for_long) {
  if (!host_up_ || stands_still()) return;
  still_until_ = world_.now() + for_long;
  frozen_until_ = std::max(frozen_until_, still_until_);
  world_.truth.stand_still(index_, still_until_);
  world_.after(for_long, [this, until = still_until_] {
    if (host_up_ && still_until_ == until) thaw();
  });
}

/// Like the warden: an attempt whose keeper did not end it in time has not run since.
void SimWorker::thaw() {
  constexpr Millis kLapseSlack{50}, kStoodStill{100};
  for (auto& [key, process] : processes_) {
    const MonoTime due = vouchers_.vouched_until() + process.disconnect_grace + kLapseSlack;
    const Millis still = floor_ms(clock_.mono() - due);
    if (still < kStoodStill || process.is_cleaning) continue;
    world_.marks.hit("stood_still_told");
    process.stood_still = model::StoodStill{clock_.wall() - still, clock_.wall()};
  }
}

void SimWorker::crash_proper() {
  if (!proper_up_ || stands_still()) return;
  proper_up_ = false;
  registered_ = false;
  leader_.reset();
  ++life_;
  world_.after(world_.random.between(4ms, 60ms), [this] {
    if (host_up_ && !proper_up_) start_proper();
  });
}

/// The warden dies: its attempts with it, proven. The watchdog starts the worker again.
void SimWorker::crash_warden() {
  if (stands_still()) return;
  kill_all_silently();
  vouchers_ = {};
  lapsed_ = false;
  ++wardens_;
  crash_proper();
}

void SimWorker::lose_host(Millis for_long, bool with_disk) {
  if (!host_up_) return;
  kill_all_silently();
  still_until_ = {};
  host_up_ = proper_up_ = registered_ = false;
  vouchers_ = {};
  lapsed_ = false;
  leader_.reset();
  ++life_;
  disk_.tear(world_.random);
  if (disk_.was_torn()) world_.marks.hit("outbox_torn");
  if (with_disk) lose_disk();
  world_.after(for_long, [this] { start_host(); });
}

void SimWorker::lose_disk() {
  ++disks_;
  for (const auto& [key, kept] : outbox_) world_.truth.forget_outcome(key);
  outbox_.clear();
  owed_.clear();
  disk_.wipe();
  epoch_on_disk_ = told_ = {};
}

void SimWorker::retire() {
  lose_host(0ms);
  lose_disk();
  retired_ = true;
}

void SimWorker::set_draining(bool draining) {
  if (!proper_up_) return;
  draining_ = draining;
  tell_draining();
}

Refusal SimWorker::drain(Epoch epoch, const master::core::SendDrain& message) {
  if (!proper_up_) return Refusal::None;
  if (const Refusal why = table_->check({epoch, message.worker}); why != Refusal::None) return why;
  world_.marks.hit(message.draining ? "drain_told" : "resume_told");
  if (message.order < drain_order_) return Refusal::None;  // a later message overtook it
  drain_order_ = message.order;
  drain_told_ = message.draining;
  tell_draining();
  return Refusal::None;
}

void SimWorker::tell_draining() {
  table_->set_draining(draining_ || drain_told_);
  if (!reaches_zookeeper() || !world_.zookeeper.agrees(server_)) return;
  (void)world_.zookeeper.set(node_path_, data_of_node(info()));
}

void SimWorker::set_full(bool full) {
  full_ = full;
  if (table_) table_->set_full(full);
}

}  // namespace rota::sim
