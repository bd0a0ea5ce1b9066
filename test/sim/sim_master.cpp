#include "sim_master.h"

#include <algorithm>

#include "world.h"

namespace rota::sim {

using master::core::Send;
using std::chrono_literals::operator""ms;

/// Hands messages to the world's network; they leave when the store has answered.
class SimMaster::LossySender final : public master::dispatch::Sender {
 public:
  LossySender(World& world, std::size_t master) : world_(world), master_(master) {}
  void send(Epoch epoch, Send message) override {
    world_.carry(master_, epoch, std::move(message), world_.store.latency);
  }

 private:
  World& world_;
  const std::size_t master_;
};

struct SimMaster::Term {
  Term(World& world, std::size_t index, Epoch e, const Clock& clock)
      : epoch(e),
        sender(world, index),
        scheduler(e, {}, world.store.recover(), clock.now()),
        loop(e, {scheduler, world.store, sender,
                 [&world](Token token, master::core::ReplyBody body) {
                   world.answer(token, std::move(body), world.store.latency);
                 },
                 clock, inbox,
                 [&world, index](std::int64_t asked) { world.masters[index]->list_workers(asked); }}) {}
  Epoch epoch;
  LossySender sender;
  master::loop::Inbox inbox;
  master::core::Scheduler scheduler;
  master::loop::EventLoop loop;
  std::map<model::WorkerKey, model::WorkerInfo> known;
  bool listed = false;
};

SimMaster::SimMaster(World& world, std::size_t index)
    : world_(world), index_(index), clock_(world.clockwork) {}
SimMaster::~SimMaster() = default;

bool SimMaster::is_frozen() const { return world_.now() < frozen_until_; }

bool SimMaster::reaches_zookeeper() const {
  return alive_ && !is_frozen() && world_.zookeeper.up && !cut_from_zookeeper;
}

std::optional<Epoch> SimMaster::epoch() const {
  if (!leads()) return std::nullopt;
  return term_->epoch;
}

void SimMaster::start() {
  if (alive_) return;
  alive_ = true;
  clock_.skew = world_.random.between(-20ms, 20ms);
  heartbeat(++life_);
}

void SimMaster::heartbeat(std::int64_t life) {
  if (life != life_ || !alive_) return;
  world_.after(300ms, [this, life] { heartbeat(life); });
  if (!reaches_zookeeper()) return;
  auto& candidates = world_.zookeeper.candidates;
  if (candidacy_ && !candidates.contains(*candidacy_)) candidacy_.reset();
  const bool wants = !world_.store.faults.down && world_.now() >= rejoin_at_;
  if (!candidacy_ && (wants || term_)) {
    candidacy_ = world_.zookeeper.next_sequence++;
    candidates[*candidacy_] = {index_, {}};
  }
  if (candidacy_) candidates[*candidacy_].expires = world_.now() + kMasterSession;
}

void SimMaster::look_at_election() {
  if (taking_office_ || term_ || !reaches_zookeeper() || !candidacy_) return;
  const auto& candidates = world_.zookeeper.candidates;
  if (candidates.empty() || candidates.begin()->first != *candidacy_) return;
  taking_office_ = true;
  world_.after(world_.random.between(2ms, 40ms), [this, life = life_] { take_office(life); });
}

void SimMaster::take_office(std::int64_t life) {
  if (life != life_ || !alive_) return;
  taking_office_ = false;
  if (term_ || !reaches_zookeeper() || world_.store.faults.down) return;
  const Epoch epoch{std::max(world_.zookeeper.epoch, world_.store.epoch()).value + 1};
  world_.zookeeper.epoch = epoch;
  if (!world_.store.take_office(epoch)) return;
  world_.marks.hit("took_office");
  world_.trace("office", std::to_string(epoch.value));
  term_ = std::make_unique<Term>(world_, index_, epoch, clock_);
  busy_until_ = world_.now() + world_.random.between(1ms, 30ms);
  watch_workers();
  plan_turn(Micros{0});
}

void SimMaster::watch_workers() {
  if (!leads()) return;
  world_.after(world_.random.between(1ms, 30ms), [this, life = life_] {
    if (life == life_ && leads()) sync_workers();
  });
}

/// Compares the set of nodes with the one told last, as the worker watch does.
void SimMaster::sync_workers() {
  if (!reaches_zookeeper()) {
    world_.after(100ms, [this, life = life_] {
      if (life == life_ && leads()) sync_workers();
    });
    return;
  }
  const auto& nodes = world_.zookeeper.nodes;
  for (const auto& [key, info] : std::map(term_->known)) {
    if (nodes.contains(key)) continue;
    term_->known.erase(key);
    world_.trace("gone", key.id + "@" + key.incarnation);
    post(master::core::WorkerGone{key});
  }
  for (const auto& [key, node] : nodes) {
    const auto known = term_->known.find(key);
    if (known != term_->known.end() && known->second == node.info) continue;
    term_->known[key] = node.info;
    post(master::core::WorkerSeen{node.info});
  }
  if (!std::exchange(term_->listed, true)) post(master::core::WorkersListed{});
}

void SimMaster::list_workers(std::int64_t asked) {
  world_.after(world_.random.between(1ms, 30ms), [this, asked, life = life_, epoch = epoch()] {
    if (life != life_ || !leads() || this->epoch() != epoch) return;
    if (!reaches_zookeeper()) {
      list_workers(asked);
      return;
    }
    sync_workers();
    post(master::core::WorkersListed{asked});
  });
}

bool SimMaster::post(master::core::Event event) {
  if (!leads() || !term_->inbox.post(std::move(event))) return false;
  plan_turn(Micros{0});
  return true;
}

void SimMaster::plan_turn(Micros in) {
  const MonoTime earliest = std::max({world_.now() + in, frozen_until_, busy_until_});
  const std::int64_t number = ++planned_;
  const Millis delay = std::chrono::ceil<Millis>(earliest - world_.now());
  world_.after(delay, [this, number, life = life_] {
    if (life != life_ || number != planned_ || !leads()) return;
    if (is_frozen()) {
      plan_turn(Micros{0});
    } else {
      turn();
    }
  });
}

void SimMaster::turn() {
  world_.store.latency = 0ms;
  const std::int64_t reruns = term_->loop.counters().reruns;
  const auto result = term_->loop.turn();
  world_.marks.hit("batch_rerun", term_->loop.counters().reruns - reruns);
  busy_until_ = world_.now() + world_.store.latency;
  world_.violate(world_.store.violation);
  if (result.ended) {
    end_term(*result.ended);
    return;
  }
  term_->scheduler.check_invariants();
  plan_turn(result.wait);
}

void SimMaster::end_term(const master::loop::TermEnd& why) {
  using Why = master::loop::TermEnd::Why;
  if (why.why == Why::Fenced) world_.marks.hit("term_fenced");
  if (why.why == Why::StoreLost) world_.marks.hit("term_lost_its_store");
  if (why.why == Why::HigherEpoch) world_.marks.hit("term_saw_higher_epoch");
  world_.trace("term ends", std::string(name_of(why.why)));
  world_.note_counters(term_->scheduler.snapshot(clock_.now()));
  term_.reset();
  rejoin_at_ = world_.now() + 1000ms;
  if (candidacy_) world_.zookeeper.candidates.erase(*candidacy_);
  candidacy_.reset();
}

void SimMaster::crash(bool clean, Millis for_long) {
  if (!alive_) return;
  world_.trace("crash", std::to_string(index_));
  if (term_) world_.note_counters(term_->scheduler.snapshot(clock_.now()));
  alive_ = false;
  ++life_;
  term_.reset();
  taking_office_ = false;
  frozen_until_ = {};
  if (candidacy_ && clean && world_.zookeeper.up) world_.zookeeper.candidates.erase(*candidacy_);
  candidacy_.reset();
  world_.after(for_long, [this] { start(); });
}

void SimMaster::freeze(Millis for_long) {
  if (!alive_) return;
  frozen_until_ = std::max(frozen_until_, world_.now() + for_long);
  if (term_) plan_turn(Micros{0});
}

}  // namespace rota::sim
