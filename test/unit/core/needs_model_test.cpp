// What workers hold, against a reference that adds everything up again each time: random jobs with slots and needs
// (edited while their runs are under way), runs that begin, end, fail, are cancelled and retried, workers that come
// and go, and takeovers. After each event no sum exceeds what a worker has, each worker's counts are what its
// attempts take, a queue may be served exactly where one look at all workers says so, and no run waits for a worker
// that has room for it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "harness.h"
#include "state_surgery.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::RunState;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
constexpr std::int64_t kNeedsEvents = 20'000;
#else
constexpr std::int64_t kNeedsEvents = 120'000;
#endif
constexpr std::int64_t kNeedsEventsEach = 1'500;
constexpr std::size_t kMostQueued = 40;
constexpr int kNeedsWorkers = 4, kNeedsJobs = 5;

bool is_under_way(const model::Run& run) {
  return run.progress.state == RunState::Dispatched || run.progress.state == RunState::Running;
}

class NeedsWorld {
 public:
  explicit NeedsWorld(std::uint64_t seed) : dice_(seed), h_(std::make_unique<Harness>()) {
    for (int i = 0; i < kNeedsWorkers; ++i) {
      workers_.push_back(a_worker_with(named("w", i), static_cast<std::int32_t>(1 + roll(6)),
                                       {{"memory", roll(9)}, {"gpu", roll(3)}}));
      here_.push_back(true);
      h_->join(workers_.back());
    }
    for (int i = 0; i < kNeedsJobs; ++i) apply(i);
  }

  void act() {
    ++events;
    const int event = roll(100);
    if (event < 45) begin();
    else if (event < 85) end();
    else if (event < 88) cancel();
    else if (event < 92) apply(roll(kNeedsJobs));
    else if (event < 96) move_worker(roll(kNeedsWorkers));
    else if (event < 98) h_->advance(Millis{roll(3000)});
    else take_over();
    check();
  }

  std::int64_t events = 0, starts = 0, takeovers = 0, keeps = 0, looks = 0, differences = 0;

 private:
  static std::string named(const char* what, int number) { return what + std::to_string(number); }
  int roll(int sides) { return static_cast<int>(dice_() % static_cast<std::uint64_t>(sides)); }

  void apply(int job) {
    JobBuilder built = a_job(named("j", job)).overlap(Overlap::Allow).retries(roll(2));
    const int kind = roll(4);
    model::Amounts needs;
    if (kind >= 2) needs["memory"] = 1 + roll(6);
    if (kind == 3) needs["gpu"] = 1 + roll(2);
    built.takes(kind == 0 ? 1 : static_cast<std::int32_t>(1 + roll(4)), needs);
    if (roll(5) == 0) built.route(model::RouteKind::First);
    if (roll(5) == 0) built.on_worker(named("w", roll(kNeedsWorkers)));
    h_->apply(built);
  }

  std::vector<RunId> in_state(bool held) const {
    std::vector<RunId> out;
    for (const auto& [id, run] : h_->runs) {
      if (held ? is_under_way(run) : run.progress.state == RunState::Queued) out.push_back(id);
    }
    return out;
  }

  void begin() {
    if (in_state(false).size() >= kMostQueued) return end();
    h_->run_now(named("j", roll(kNeedsJobs)));
  }

  void end() {
    const auto held = in_state(true);
    if (held.empty()) return;
    const RunId run = held[static_cast<std::size_t>(roll(static_cast<int>(held.size())))];
    if (!is_here(h_->run(run).progress.worker.id)) return;
    if (roll(10) == 0) return h_->refuse(run, model::Refusal::NoSlot);
    h_->accept(run);
    h_->report(run, roll(4) == 0 ? RunState::Failed : RunState::Succeeded);
  }

  void cancel() {
    const auto queued = in_state(false);
    if (!queued.empty()) h_->cancel(queued[static_cast<std::size_t>(roll(static_cast<int>(queued.size())))]);
  }

  bool is_here(const std::string& id) const { return here_[static_cast<std::size_t>(id.back() - '0')]; }

  void move_worker(int number) {
    const auto at = static_cast<std::size_t>(number);
    if (here_[at]) {
      here_[at] = false;
      return h_->leave(workers_[at].key);
    }
    here_[at] = true;
    workers_[at].key.incarnation = "i" + std::to_string(++lives_ + 1);
    workers_[at].offers = model::Amounts{{"memory", roll(9)}, {"gpu", roll(3)}};
    h_->handle(WorkerSeen{workers_[at]});
    h_->inventory(workers_[at].key, held_on(workers_[at].key.id));
  }

  std::vector<model::HeldAttempt> held_on(const std::string& id) const {
    std::vector<model::HeldAttempt> held;
    for (const auto& [run_id, run] : h_->runs) {
      if (!is_under_way(run) || run.progress.worker.id != id) continue;
      held.push_back({{run_id, run.progress.attempt}, model::HeldAttempt::State::Running, {}, {}});
    }
    return held;
  }

  void take_over() {
    ++takeovers;
    auto next = std::make_unique<Harness>(h_->recovered(), CoreOptions{}, Epoch{h_->epoch.value + 1});
    next->versions = h_->versions;
    next->now = h_->now;
    for (int i = 0; i < kNeedsWorkers; ++i) {
      if (here_[static_cast<std::size_t>(i)]) next->handle(WorkerSeen{workers_[static_cast<std::size_t>(i)]});
    }
    next->listed();
    for (int i = 0; i < kNeedsWorkers; ++i) {
      const model::WorkerInfo& worker = workers_[static_cast<std::size_t>(i)];
      if (here_[static_cast<std::size_t>(i)]) next->inventory(worker.key, held_on(worker.key.id));
    }
    h_ = std::move(next);
  }

  // --- the reference

  const State& state() const { return StateSurgery::state_of(*h_->scheduler); }

  model::Demand demand_of(const model::Run& run) const {
    for (JobVersion version = run.version; version > 0; --version) {
      const auto row = h_->versions.find({run.job, version});
      if (row == h_->versions.end() || row->second.definition == nullptr) continue;
      return {row->second.definition->rules.slots, row->second.definition->rules.needs};
    }
    return {};
  }

  /// Of all rows: what the attempts take that are stored for that worker.
  model::Demand taken_on(const std::string& id) const {
    model::Demand sum{0, {}};
    for (const auto& [run_id, run] : h_->runs) {
      if (!is_under_way(run) || run.progress.worker.id != id) continue;
      const model::Demand demand = demand_of(run);
      sum.slots += demand.slots;
      model::add_amounts(sum.needs, demand.needs);
    }
    return sum;
  }

  static bool fits_beside(const model::WorkerInfo& worker, const model::Demand& taken, const model::Demand& kept,
                          const model::Demand& wanted) {
    if (worker.slots - taken.slots - kept.slots < wanted.slots) return false;
    for (const auto& [name, amount] : wanted.needs) {
      const std::int64_t others = model::amount_of(taken.needs, name) + model::amount_of(kept.needs, name);
      if (model::amount_of(*worker.offers, name) - others < amount) return false;
    }
    return true;
  }

  /// It comes and goes too often, or came in a crowd.
  bool is_left_out(const LifeEntry& life) const {
    const model::WorkerHold* hold = state().workers().find_hold(life.key().id);
    return life.is_settling() || (hold != nullptr && hold->is_closed());
  }
  /// For now: it refused a moment ago, or must show first that it can do one.
  static bool is_not_asked(const LifeEntry& life) {
    return life.is_resting() || (life.is_on_trial() && !life.attempts().empty());
  }

  /// One look at all workers. Those that refused a moment ago do not count.
  bool may_be_served(const SlotQueueKey& key) const {
    const model::WorkerInfo* meant = nullptr;
    for (std::size_t i = 0; i < workers_.size(); ++i) {  // ids grow, ranks are equal
      const LifeEntry* life = state().find_life(workers_[i].key);
      const bool has = model::has_whole(workers_[i].slots, workers_[i].offers, key.demand);
      const bool is_in = here_[i] && life != nullptr && !is_left_out(*life) && has;
      if (is_in && meant == nullptr) meant = &workers_[i];
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const LifeEntry* life = state().find_life(workers_[i].key);
      if (!here_[i] || life == nullptr || is_not_asked(*life) || is_left_out(*life)) continue;
      if (!key.worker.empty() && key.worker != workers_[i].key.id) continue;
      if (key.gate == Gate::First && &workers_[i] != meant) continue;
      model::Demand kept{0, {}};
      if (life->kept_for() != nullptr && *life->kept_for() != key) kept = life->kept_for()->demand;
      if (fits_beside(workers_[i], taken_.at(workers_[i].key.id), kept, key.demand)) return true;
    }
    return false;
  }

  std::string told_of_workers() const {
    std::string text;
    for (const model::WorkerInfo& worker : workers_) {
      const LifeEntry* life = state().find_life(worker.key);
      text += "; " + worker.key.id;
      if (life == nullptr) continue;
      text += " used " + std::to_string(life->used_slots()) + " of " + std::to_string(worker.slots);
      for (const auto& [what, is] : {std::pair{" here", life->is_present()}, {" asked", life->is_reconciled()},
                                     {" closed", life->is_closed()}, {" resting", life->is_resting()},
                                     {" settling", life->is_settling()}, {" on trial", life->is_on_trial()},
                                     {" kept", life->kept_for() != nullptr},
                                     {" unusable", life->unusable_slots() > 0}}) {
        text += is ? what : "";
      }
    }
    return text;
  }

  void check() {
    taken_.clear();
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const model::WorkerInfo& worker = workers_[i];
      model::Demand& taken = taken_[worker.key.id] = taken_on(worker.key.id);
      const LifeEntry* life = state().find_life(worker.key);
      if (!here_[i] || life == nullptr) continue;
      REQUIRE(life->used_slots() == taken.slots);
      REQUIRE(life->used() == taken.needs);
      keeps += life->kept_for() == nullptr ? 0 : 1;
    }
    for (const auto& item : h_->pop_dispatches()) check_sent(item);
    for (const auto& [of_queue, queue] : state().slot_queues().all()) {
      const SlotQueueKey& key = of_queue;
      ++looks;
      const bool may = may_be_served(key);
      differences += may != state().workers().may_serve(key) ? 1 : 0;
      INFO("slots ", key.demand.slots, ", of worker ", key.worker, ", route first ", key.gate == Gate::First,
           told_of_workers());
      REQUIRE(may == state().workers().may_serve(key));
      REQUIRE_FALSE(may);  // it would have been sent
    }
  }

  /// Nothing is sent to a worker that would have too much with it.
  void check_sent(const DispatchItem& item) {
    const model::Run& run = h_->run(item.attempt.run);
    if (run.progress.attempt != item.attempt.attempt || !is_under_way(run)) return;
    ++starts;
    REQUIRE(item.demand == demand_of(run));
    const auto at = static_cast<std::size_t>(run.progress.worker.id.back() - '0');
    if (!here_[at] || run.progress.worker != workers_[at].key) return;
    const model::Demand& taken = taken_.at(run.progress.worker.id);
    REQUIRE(taken.slots <= workers_[at].slots);
    for (const auto& [name, amount] : item.demand.needs) {
      REQUIRE(model::amount_of(taken.needs, name) <= model::amount_of(*workers_[at].offers, name));
    }
  }

  std::mt19937_64 dice_;
  std::unique_ptr<Harness> h_;
  std::vector<model::WorkerInfo> workers_;
  std::vector<bool> here_;
  std::map<std::string, model::Demand> taken_;
  int lives_ = 0;
};

}  // namespace

TEST_CASE("needs: a model that adds up what all attempts take agrees with the core") {
  const char* from = std::getenv("ROTA_NEEDS_SEED");
  std::uint64_t seed = from == nullptr ? 1 : std::strtoull(from, nullptr, 10);
  std::int64_t events = 0, starts = 0, takeovers = 0, keeps = 0, looks = 0, differences = 0;
  for (; events < kNeedsEvents; ++seed) {
    INFO("ROTA_NEEDS_SEED=", seed);
    NeedsWorld world(seed);
    while (world.events < kNeedsEventsEach) world.act();
    events += world.events;
    starts += world.starts;
    takeovers += world.takeovers;
    keeps += world.keeps;
    looks += world.looks;
    differences += world.differences;
  }
  CHECK(keeps > 0);
  MESSAGE("needs model: ", events, " events, ", starts, " attempts sent, ", takeovers, " takeovers, ", keeps,
          " looks at a kept worker, ", looks, " looks at a queue, last seed ", seed - 1, ", ", differences,
          " differences");
}

TEST_CASE("needs: under any load of narrow runs each wide one starts after a bounded number of ends") {
  constexpr int kStepsOfLoad = 400, kPauseOfWide = 45, kMostSteps = 200;
  std::mt19937_64 dice(11);
  const auto roll = [&](std::size_t sides) { return static_cast<std::size_t>(dice() % sides); };
  int worst = 0;
  for (int round = 0; round < 8; ++round) {
    Harness h;
    const std::size_t workers = 1 + roll(3);
    for (std::size_t i = 0; i < workers; ++i) h.join(a_worker("w" + std::to_string(i), 4));
    h.apply(a_job("narrow").overlap(Overlap::Allow));
    h.apply(a_job("two").overlap(Overlap::Allow).takes(2));
    h.apply(a_job("four").overlap(Overlap::Allow).takes(4));
    for (std::size_t i = 0; i < 4 * workers; ++i) h.run_now("narrow");
    std::map<RunId, int> waits;          // wide ones: in how many steps they stood in line
    for (int step = 0; step < kStepsOfLoad; ++step) {
      h.run_now("narrow");
      if (step % kPauseOfWide == 0) waits[h.run_now(roll(2) == 0 ? "two" : "four")] = 0;
      std::vector<RunId> running;
      for (const auto& [id, run] : h.runs) {
        if (is_under_way(run)) running.push_back(id);
      }
      REQUIRE_FALSE(running.empty());
      h.report(running[roll(running.size())], RunState::Succeeded);
      for (auto& [id, steps] : waits) {
        if (h.state(id) == RunState::Queued) worst = std::max(worst, ++steps);
      }
      h.pop_dispatches();
    }
    CHECK(worst < kMostSteps);
  }
  MESSAGE("wide runs waited for ", worst, " ends of others at most");
}
