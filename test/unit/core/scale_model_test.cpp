// Many random worlds in which a hook starts and stops workers, refuses, hangs and loses answers, leaders change, and
// operators set limits. Judged: the number is within its limits, nobody is stopped who has something to do, what is
// told was stored, one change is stored for one decision, and the number does not flap.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::RunState;
using model::ScaleReason;

namespace {

constexpr Millis kCoolDown{5000};

struct SeenWorker {
  model::WorkerInfo info;
};

class ScaleWorld {
 public:
  explicit ScaleWorld(std::uint32_t seed) : random_(seed) {
    options_.hooks = {"h"};
    options_.scale_average = Millis{dice(3) * 1000};
    options_.scale_cool_down = kCoolDown;
    options_.scale_tries = 1 + dice(4);
    options_.dead_after = Millis{20'000};
    term_ = std::make_unique<Harness>(Recovered{}, options_);
    term_->listed();
    term_->apply(a_job("work").overlap(model::Overlap::Allow));
    least_ = dice(3);
    most_ = least_ + dice(5);
    set_limits();
  }

  void step() {
    const int what = dice(12);
    if (what == 0) set_limits_anew();
    if (what == 1) take_over();
    if (what == 2 && !workers_.empty()) lose_one();
    if (what < 6) wave_ = dice(14);
    work();
    term_->advance(Millis{200 + dice(1500)});
    answer_drains();
    answer_dispatches();
    answer_hooks();
    judge();
  }

  const Harness& term() const { return *term_; }
  int stops() const { return stops_; }

 private:
  int dice(int sides) { return static_cast<int>(random_() % static_cast<std::uint32_t>(sides)); }

  void set_limits() {
    SetQuota event;
    event.name = "default";
    event.min_workers = least_;
    event.max_workers = most_;
    event.hook = "h";
    REQUIRE(term_->set_quota(event));
  }
  void set_limits_anew() {
    least_ = dice(3);
    most_ = least_ + dice(6);
    set_limits();
  }
  void start_worker() {
    ++started_;
    model::WorkerInfo info = a_worker("w" + std::to_string(started_), 2, "i" + std::to_string(started_));
    info.drain_told = false;
    workers_[info.key.id] = {info};
    term_->join(info);
  }
  /// The hook stops it: nothing may be under way there.
  void stop_worker(const model::WorkerKey& key) {
    const auto found = workers_.find(key.id);
    if (found == workers_.end() || found->second.info.key != key) return;
    for (const auto& [id, run] : term_->runs) {
      const RunState state = run.progress.state;
      const bool is_held = state == RunState::Dispatched || state == RunState::Running;
      CHECK_MESSAGE((!is_held || !(run.progress.worker == key)), "a scale-in cuts a run");
    }
    ++stops_;
    workers_.erase(found);
    term_->leave(key);
  }
  void lose_one() {
    auto at = workers_.begin();
    std::advance(at, dice(static_cast<int>(workers_.size())));
    const model::WorkerKey key = at->second.info.key;
    workers_.erase(at);
    term_->leave(key);
  }
  void take_over() {
    auto next = std::make_unique<Harness>(term_->recovered(), options_, Epoch{term_->epoch.value + 1}, term_->now);
    next->versions = term_->versions;
    next->quotas = term_->quotas;
    next->scaling = term_->scaling;
    next->drains = term_->drains;
    next->lives = term_->lives;
    next->settings = term_->settings;
    term_ = std::move(next);
    for (const auto& [id, worker] : workers_) term_->handle(WorkerSeen{worker.info});
    term_->listed();
    for (const auto& [id, worker] : workers_) {
      std::vector<model::HeldAttempt> held;
      for (const auto& [run, row] : term_->runs) {
        const RunState state = row.progress.state;
        const bool is_held = state == RunState::Dispatched || state == RunState::Running;
        if (!is_held || !(row.progress.worker == worker.info.key)) continue;
        model::HeldAttempt attempt;
        attempt.key = term_->attempt(run);
        attempt.state = model::HeldAttempt::State::Running;
        held.push_back(attempt);
      }
      term_->inventory(worker.info.key, std::move(held));
    }
    term_->pop_hellos();
    term_->pop_drains();
  }
  std::vector<RunId> unfinished(bool held) const {
    std::vector<RunId> out;
    for (const auto& [id, run] : term_->runs) {
      const RunState state = run.progress.state;
      const bool is_held = state == RunState::Dispatched || state == RunState::Running;
      if (!model::is_final(state) && (!held || is_held)) out.push_back(id);
    }
    return out;
  }
  void work() {
    for (const RunId run : unfinished(true)) {
      if (dice(3) == 0) term_->report(run, RunState::Succeeded);
    }
    for (int runs = static_cast<int>(unfinished(false).size()); runs < wave_; ++runs) term_->run_now("work");
  }
  void answer_dispatches() {
    for (const auto& call : term_->pop_dispatch_calls()) {
      for (const auto& item : call.items) {
        if (workers_.contains(call.worker.id)) term_->accept(item.attempt.run);
      }
    }
  }
  void answer_drains() {
    for (const SendDrain& telling : term_->pop_drains()) {
      const auto found = workers_.find(telling.worker.id);
      if (found == workers_.end()) continue;
      found->second.info.draining = telling.draining;
      found->second.info.drain_told = telling.draining;
      term_->handle(WorkerSeen{found->second.info});
    }
  }
  void answer_hooks() {
    for (const model::ScaleChange& call : std::exchange(term_->hook_calls, {})) {
      CHECK(call.attempts < options_.scale_tries);
      REQUIRE(term_->scaling.contains(call.id));
      const int fate = dice(5);
      if (fate != 0 && call.id >= done_) obey(call);
      done_ = std::max(done_, call.id);
      if (fate == 1) continue;           // it hangs: no answer at all in this Term
      const bool accepted = fate > 2;    // 2: its answer is lost
      term_->handle(HookCalled{call.pool, call.id, accepted, accepted ? "" : "no answer"});
    }
  }
  void obey(const model::ScaleChange& call) {
    for (const model::WorkerKey& key : call.stoppable) stop_worker(key);
    std::int64_t staying = 0;
    for (const auto& [id, worker] : workers_) staying += worker.info.draining ? 0 : 1;
    for (; staying < call.after; ++staying) start_worker();
  }
  void judge() {
    const model::ScaleChange* before = nullptr;
    for (const auto& [id, row] : term_->scaling) {
      const bool is_same = before != nullptr && before->after == row.after && before->stoppable == row.stoppable &&
                           before->hook == row.hook;
      CHECK((!is_same || row.reason == ScaleReason::WorkerDead || row.reason == ScaleReason::Drained));
      if (before != nullptr) CHECK(row.before == before->after);
      const bool falls = row.reason == ScaleReason::Load && row.after < row.before;
      if (falls && before != nullptr) CHECK(row.made - before_change_ >= kCoolDown);
      if (row.after != row.before) before_change_ = row.made;
      before = &row;
    }
    before_change_ = WallTime{};
    if (before == nullptr) return;
    CHECK(before->after >= least_);
    CHECK(before->after <= most_);
  }

  std::mt19937 random_;
  CoreOptions options_;
  std::unique_ptr<Harness> term_;
  std::map<std::string, SeenWorker> workers_;
  std::int64_t least_ = 0, most_ = 0, done_ = 0;
  int started_ = 0, stops_ = 0, wave_ = 0;
  WallTime before_change_{};
};

}  // namespace

TEST_CASE("scale model: whatever hooks, operators and leaders do, no run is cut and no number leaves its limits") {
  const char* const asked = std::getenv("ROTA_MODEL_WORLDS");
  const int worlds = asked == nullptr ? 150 : std::atoi(asked);
  int stops = 0;
  for (int seed = 1; seed <= worlds; ++seed) {
    CAPTURE(seed);
    ScaleWorld world(static_cast<std::uint32_t>(seed));
    for (int i = 0; i < 60; ++i) world.step();
    stops += world.stops();
  }
  CHECK(stops > worlds / 4);             // else nothing was tried
}
