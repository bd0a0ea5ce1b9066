#include "sim_master.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/model/worker_json.h"
#include "common/zk/reattach_rules.h"
#include "master/cluster/election_rules.h"
#include "worker_node.h"
#include "world.h"

namespace rota::sim {

using master::core::Send;
using std::chrono_literals::operator""ms;

bool SimMaster::is_frozen() const { return world_.now() < frozen_until_; }

bool SimMaster::reaches_zookeeper() const {
  return alive_ && !is_frozen() && !cut_from_zookeeper && zookeeper_.serves(server_, world_.now()) && !is_refused();
}

/// A new process does not know what its clock said before.
void SimMaster::make_guard() {
  guard_ = std::make_unique<master::ClockGuard>(clock_);
  guard_->set_database_elsewhere(!world_.shares_host());
  clock_note_ = std::make_unique<master::ClockHoldNote>(paths_, "m" + std::to_string(index_));
  stepped_looks_ = 0;
}

/// Servers that lost data refuse a handle that has seen more than they know.
bool SimMaster::is_refused() const { return session_ != 0 && !zookeeper_.admits(handle_seen_); }

/// Like production's session: after its timeout without a connection, a new handle attaches.
void SimMaster::keep_handle() {
  if (reaches_zookeeper()) {
    handle_seen_ = std::max(handle_seen_, zookeeper_.view(server_).zxid());
    const bool broke = std::exchange(breaks_, zookeeper_.breaks()) != zookeeper_.breaks();
    if (broke) attach_anew();  // arms again the watches that its servers forgot
    if (std::exchange(cut_since_, std::nullopt) || broke) look_anew();
    return;
  }
  if (!cut_since_) cut_since_ = world_.now();
  if (is_frozen() || session_ == 0 || handle_seen_ == 0) return;
  if (!zk::must_reattach(*cut_since_, zookeeper_.master_session, world_.now())) return;
  world_.marks.hit("master_reattached");
  handle_seen_ = 0;
  attach_anew();
}

/// Then no watch is armed. If the session is over, it learns that when it is connected.
void SimMaster::attach_anew() {
  beats_read_.clear();
  seen_zxid_ = 0;
  may_have_ghosts_ = true;
  (void)zookeeper_.attach(session_, server_, [this](const zk::Event& event) { hear(event); });
}

void SimMaster::start() {
  if (alive_) return;
  if (world_.clockwork.common_step != 0ms) {
    if (world_.random.chance(70)) {
      world_.after(500ms, [this] { start(); });
      return;
    }
    world_.store.believes_a_wrong_clock = true;  // a new process on one host, with no other clock to ask
  }
  alive_ = true;
  began_in_step_ = world_.clockwork.common_step != 0ms;
  clock_.skew = world_.random.between(-20ms, 20ms);
  make_guard();
  saw_database_ = false;
  last_stored_ = {};
  quiet_ = {};
  held_off_.clear();
  ++life_;
  look_at_database(life_);
  begin_elector();
  heartbeat(life_);
}

namespace {

/// The elector is asked instead, after each of its steps.
class NobodyHears final : public master::cluster::ElectorObserver {
 public:
  void elected() override {}
  void lost(std::string_view) override {}
};

}  // namespace

void SimMaster::begin_elector() {
  if (!world_.lease || is_stranger()) return;
  static NobodyHears nobody;
  lives_ = std::make_shared<bool>(true);
  elector_ = std::make_unique<master::cluster::LeaseElector>(
      std::make_unique<SimBoard>(*world_.lease, lives_), name_, master::cluster::LeaseTimes{}, nobody, clock_,
      master::cluster::LeaseTag{lease_tag_, [this](const std::string& tag) { lease_tag_ = tag; }});
  look_at_lease(life_);
}

bool SimMaster::may_lead() const {
  return saw_database_ && !world_.store.faults.down && world_.now() >= rejoin_at_;
}

void SimMaster::look_at_lease(std::int64_t life) {
  if (life != life_ || !alive_) return;
  world_.after(master::cluster::LeaseTimes{}.beat, [this, life] { look_at_lease(life); });
  if (is_frozen()) return;
  elector_->set_eligible(may_lead() || term_);
  elector_->step();
  if (!elector_->is_first()) return;
  const auto is_first_too = [this](const auto& other) {
    return other.get() != this && other->elector_ && other->elector_->is_first();
  };
  if (std::ranges::any_of(world_.masters, is_first_too)) world_.marks.hit("two_hold_the_lease");
  if (office_planned_ || taking_office_ || term_) return;
  world_.marks.hit("elected_by_lease");
  plan_office();
}

/// The library switches to another server when this one stops answering; only to one that does not lag.
void SimMaster::reconnect() {
  if (cut_from_zookeeper || is_frozen() || zookeeper_.serves(server_, world_.now())) return;
  const std::size_t next = (server_ + 1) % zookeeper_.server_count();
  if (!zookeeper_.agrees(next)) return;
  server_ = next;
  beats_read_.clear();
  zookeeper_.catch_up(server_);
  zookeeper_.move(session_, server_);
  seen_zxid_ = 0;
}

void SimMaster::heartbeat(std::int64_t life) {
  if (life != life_ || !alive_) return;
  world_.after(300ms, [this, life] { heartbeat(life); });
  reconnect();
  keep_handle();
  if (!reaches_zookeeper() || !zookeeper_.agrees(server_)) return;
  keep_session();
  leave_election();
  remove_ghosts();
  if (elector_) {
    SimZkClient client = zookeeper_client();
    if (zookeeper_.tree().find(kWorkersFolder) == nullptr) (void)zk::ensure_cluster(client, paths_);
    return;
  }
  if (!candidacy_.empty() && zookeeper_.tree().find(candidacy_) != nullptr) return;
  if (!candidacy_.empty()) world_.marks.hit("candidacy_lost");
  candidacy_.clear();
  if (!may_lead() && !term_) return;
  const std::string start = kElectionFolder + fmt::format("/n_{:016x}_", world_.random.next());
  zookeeper_.catch_up(server_);
  SimZkClient client = zookeeper_client();
  (void)zk::ensure_cluster(client, paths_);  // ZooKeeper may have lost them
  candidacy_ = *zookeeper_.create(session_, start, "", zk::CreateMode::EphemeralSequential);
}

/// Keeps the session alive at the servers; starts a new one when it is over.
void SimMaster::keep_session() {
  if (zookeeper_.touch(session_, world_.now())) return;
  session_ = zookeeper_.begin_session(server_, zookeeper_.master_session, world_.now(),
                                            [this](const zk::Event& event) { hear(event); });
  handle_seen_ = zookeeper_.tree().zxid();
  beats_read_.clear();
  look_anew();
}

void SimMaster::hear(const zk::Event& event) {
  if (event.what != zk::Event::What::Watch) return;
  if (event.path.starts_with(kBeatsFolder + "/")) return hear_of_beat(event);
  watch_workers();
}

SimZkClient SimMaster::zookeeper_client(ZkCallFaults faults, std::function<void()> between) {
  return {zookeeper_, session_, server_, world_.random, world_.marks, faults, std::move(between)};
}

bool SimMaster::stands() const {
  if (elector_) return elector_->candidacy().stands;
  return !candidacy_.empty() && zookeeper_.tree().find(candidacy_) != nullptr;
}

void SimMaster::lose_candidacy() {
  if (elector_) world_.lease->forget();
  if (!candidacy_.empty()) (void)zookeeper_.remove(candidacy_);
}

namespace {

std::vector<zk::Candidate> candidates_in(const zk::NodeTree& view) {
  std::vector<zk::Candidate> candidates;
  for (const std::string& name : view.list(kElectionFolder).value_or(std::vector<std::string>{})) {
    const zk::NodeStat& stat = view.find(kElectionFolder + "/" + name)->stat;
    candidates.push_back({name, stat.ephemeral_owner, stat.created_zxid});
  }
  return candidates;
}

}  // namespace

/// Like production: whether its node exists or not, and before it creates one again.
void SimMaster::remove_ghosts() {
  if (!std::exchange(may_have_ghosts_, false)) return;
  for (const zk::Candidate& candidate : candidates_in(zookeeper_.tree())) {
    const std::string path = kElectionFolder + "/" + candidate.name;
    if (candidate.owner != session_ || path == candidacy_) continue;
    world_.marks.hit("ghost_removed");
    (void)zookeeper_.remove(path);
  }
}

void SimMaster::look_at_election() {
  if (office_planned_ || taking_office_ || term_ || candidacy_.empty() || !reaches_zookeeper()) return;
  const zk::NodeTree& view = zookeeper_.view(server_);
  if (std::exchange(seen_zxid_, view.zxid()) == view.zxid()) return;
  using master::cluster::ElectionStep;
  const std::string own = candidacy_.substr(kElectionFolder.size() + 1);
  if (master::cluster::decide_election(candidates_in(view), own).step != ElectionStep::Lead) return;
  seen_zxid_ = 0;
  plan_office();
}

void SimMaster::plan_office() {
  office_planned_ = true;
  world_.after(world_.random.between(2ms, 40ms), [this, life = life_] {
    if (life != life_ || !alive_) return;
    office_planned_ = false;
    if (!candidacy_.empty() || elector_) enter_office(false);
  });
}

void SimMaster::stand_back(Millis pause) {
  rejoin_at_ = world_.now() + pause;
  if (elector_) elector_->resign();
  if (candidacy_.empty()) return;
  leaving_ = std::exchange(candidacy_, "");
  leave_election();
}

/// Like production: repeats until ZooKeeper agrees, because the session goes on.
void SimMaster::leave_election() {
  if (leaving_.empty() || !reaches_zookeeper() || !zookeeper_.agrees(server_)) return;
  (void)zookeeper_.remove(leaving_);
  leaving_.clear();
}

// --- looking at the workers

void SimMaster::watch_workers() {
  if (!leads() || !std::exchange(watch_armed_, false)) return;
  world_.after(world_.random.between(1ms, 30ms), [this, life = life_] {
    if (life == life_ && leads()) sync_workers();
  });
}

void SimMaster::list_workers(std::int64_t asked) {
  world_.after(world_.random.between(1ms, 30ms), [this, asked, life = life_, epoch = epoch()] {
    if (life != life_ || !leads() || this->epoch() != epoch) return;
    if (!reaches_zookeeper() || !zookeeper_.agrees(server_)) {
      list_workers(asked);
      return;
    }
    zookeeper_.catch_up(server_);  // the write before the reads
    if (sync_workers()) {
      post(master::core::WorkersListed{asked});
      return;
    }
    world_.after(500ms, [this, asked, life, epoch] {
      if (life == life_ && this->epoch() == epoch) list_workers(asked);
    });
  });
}

// --- faults

void SimMaster::freeze(Millis for_long) {
  if (!alive_) return;
  frozen_until_ = std::max(frozen_until_, world_.now() + for_long);
  if (term_) plan_turn(Micros{0});
}

bool SimMaster::accept_zookeeper(bool workers_gone) {
  if (!reaches_zookeeper()) return false;
  SimZkClient client = zookeeper_client();
  return master::accept_new_zookeeper(client, paths_, office_, workers_gone).has_value();
}

bool SimMaster::accept_restore() {
  if (!reaches_zookeeper()) return false;
  SimZkClient client = zookeeper_client();
  return master::accept_restore(client, paths_).has_value();
}

/// Like zk::BeatWatch: when the node's end is the first change, there was no beat since it was read.
void SimMaster::watch_beat(const model::WorkerKey& key) {
  const std::string path = kBeatsFolder + "/" + name_of_node(key);
  if (!reaches_zookeeper() || beats_read_.contains(path)) return;
  if (zookeeper_.view(server_).find(path) == nullptr) return;
  zookeeper_.watch(session_, path, true);
  beats_read_[path] = clock_.mono();
}

void SimMaster::hear_of_beat(const zk::Event& event) {
  const auto read = beats_read_.extract(event.path);
  if (read.empty()) return;
  const bool is_end = event.change == zk::Event::Change::Deleted;
  world_.marks.hit(is_end ? "beats_seen_to_end" : "beats_seen_to_go_on");
  if (!is_end) return;
  const auto key = model::worker_key_in(event.path.substr(kBeatsFolder.size() + 1));
  post(master::core::BeatsEnded{*key, read.mapped()});
}

}  // namespace rota::sim
