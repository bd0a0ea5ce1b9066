// Overlap and concurrency against a reference of a few lines: random jobs, ticks, runs by hand, ends, retries,
// cancels, edits and takeovers. After each event what is stored must say of every run exactly what the
// reference says: it waits, it is under way, it was asked to end, or how it ended, and for whom.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::Reason;
using model::RunState;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
constexpr std::int64_t kEvents = 50'000;
#else
constexpr std::int64_t kEvents = 1'000'000;
#endif
constexpr std::int64_t kEventsOfWorld = 2'500;

// --- the reference: what docs/overlap.md says

struct RefRun {
  bool waits = false;
  bool asked = false;
  RunId replaced_by{};
};

struct RefJob {
  Overlap overlap = Overlap::Skip;
  int concurrency = 1, queue_limit = 1;
  std::map<RunId, RefRun> runs;  ///< unfinished

  int count(bool waits) const {
    int found = 0;
    for (const auto& [id, run] : runs) found += run.waits == waits ? 1 : 0;
    return found;
  }
  bool has_place() const { return overlap == Overlap::Allow || count(false) < concurrency; }
  void fill() {
    for (auto& [id, run] : runs) {
      if (run.waits && has_place()) run.waits = false;
    }
  }
};

/// What became of one more run, and which runs end for it at once.
struct RefAnswer {
  bool skipped = false;
  std::vector<RunId> ended;
};

RefAnswer begin(RefJob& job, RunId id, const std::map<RunId, bool>& held) {
  RefAnswer out;
  if (job.has_place()) {
    job.runs[id] = {};
    return out;
  }
  const bool is_full = job.count(true) >= job.queue_limit;
  if (job.overlap == Overlap::Skip || (job.overlap == Overlap::Queue && is_full)) {
    out.skipped = true;
    return out;
  }
  if (job.overlap != Overlap::Queue) {
    for (const auto& [other, run] : job.runs) {
      if (run.waits) out.ended.push_back(other);
    }
  }
  if (job.overlap == Overlap::Replace || job.overlap == Overlap::Terminate) {
    int asked = 0;
    for (const auto& [other, run] : job.runs) asked += run.asked ? 1 : 0;
    int wanted = job.count(false) - job.concurrency + 1 - asked;
    for (auto& [other, run] : job.runs) {
      if (wanted <= 0) break;
      if (run.waits || run.asked) continue;
      --wanted;
      if (held.at(other)) {
        run.asked = true;
        run.replaced_by = id;
      } else {
        out.ended.push_back(other);
      }
    }
  }
  for (const RunId other : out.ended) job.runs.erase(other);
  job.runs[id] = {true, false, {}};
  job.fill();
  return out;
}

// --- the world

class World {
 public:
  explicit World(std::uint64_t seed) : dice_(seed) {
    h_ = std::make_unique<Harness>();
    slots_ = static_cast<std::int32_t>(pick(1, 9));
    worker_ = h_->join(a_worker("w", slots_));
    for (std::int64_t i = pick(1, 3); i > 0; --i) {
      const std::string name = "j" + std::to_string(i);
      RefJob job = random_rules();
      const JobId id = h_->apply(builder(name, job));
      names_[id] = name;
      jobs_[id] = job;
      born_[id] = h_->now.wall;
    }
  }

  void act() {
    ++events;
    switch (pick(0, 11)) {
      case 0: case 1: case 2: by_hand(); break;
      case 3: case 4: next_tick(); break;
      case 5: case 6: case 7: case 8: end_one(); break;
      case 9: cancel_one(); break;
      case 10: pick(0, 5) == 0 ? edit() : by_hand(); break;
      case 11: pick(0, 20) == 0 ? take_over() : end_one(); break;
    }
    compare();
  }

  std::int64_t events = 0, replaced = 0, takeovers = 0;

 private:
  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(dice_() % static_cast<std::uint64_t>(to - from + 1));
  }

  RefJob random_rules() {
    const Overlap all[] = {Overlap::Skip,    Overlap::Queue,     Overlap::Allow,
                           Overlap::QueueOne, Overlap::Replace, Overlap::Terminate};
    RefJob job;
    job.overlap = all[pick(0, 5)];
    job.concurrency = static_cast<int>(pick(0, 1) == 0 ? 1 : pick(1, 4));
    job.queue_limit = static_cast<int>(pick(1, 4));
    return job;
  }

  JobBuilder builder(const std::string& name, const RefJob& job) const {
    return a_job(name).every(10s).overlap(job.overlap).concurrency(job.concurrency)
        .queue_limit(job.queue_limit).retries(1, 3s);
  }

  JobId any_job() {
    auto at = jobs_.begin();
    std::advance(at, pick(0, static_cast<std::int64_t>(jobs_.size()) - 1));
    return at->first;
  }

  /// Whether a worker holds it, by what is stored now.
  std::map<RunId, bool> held() const {
    std::map<RunId, bool> out;
    for (const auto& [id, run] : h_->runs) {
      out[id] = run.progress.state == RunState::Dispatched || run.progress.state == RunState::Running;
    }
    return out;
  }

  RunId any_run(bool is_held) {
    std::vector<RunId> all;
    for (const auto& [id, it] : held()) {
      if (it || !is_held) all.push_back(id);
    }
    return all.empty() ? RunId{} : all[static_cast<std::size_t>(pick(0, std::ssize(all) - 1))];
  }

  void expect_replaced(RunId id, RunId by) {
    ++replaced;
    const model::RunProgress& at = h_->run(id).progress;
    REQUIRE(at.state == RunState::Cancelled);
    REQUIRE(at.reason == Reason::ReplacedBy);
    REQUIRE(at.detail == std::to_string(by.value));
  }

  void by_hand() {
    const JobId job = any_job();
    const auto before = held();
    const RunId id = h_->run_now(names_.at(job));
    const RefAnswer answer = begin(jobs_.at(job), id, before);
    REQUIRE((h_->state(id) == RunState::Skipped) == answer.skipped);
    for (const RunId each : answer.ended) expect_replaced(each, id);
  }

  /// Time goes on to the next tick of any job, or to the end of a delay before that.
  void next_tick() {
    const auto before = held();
    const Millis step = h_->scheduler->next_wake(h_->now).value_or(1s);
    h_->now.wall += step;
    h_->now.mono += step;
    h_->tick();
    for (auto& [id, job] : jobs_) {
      const Millis since = h_->now.wall - born_.at(id);
      if (since == 0ms || since.count() % 10'000 != 0 || fired_[id] == h_->now.wall) continue;
      fired_[id] = h_->now.wall;
      RunId run;
      for (const auto& [each, row] : h_->runs) {
        if (row.job == id && row.tick == h_->now.wall) run = each;
      }
      const RefAnswer answer = begin(job, run == RunId{} ? RunId{INT64_MAX} : run, before);
      REQUIRE((run == RunId{}) == answer.skipped);
      for (const RunId each : answer.ended) expect_replaced(each, run);
    }
  }

  void end_one() {
    const RunId id = any_run(true);
    if (id == RunId{}) return;
    RefJob& job = jobs_.at(h_->run(id).job);
    const RefRun ref = job.runs.at(id);
    const bool is_killed = ref.asked && pick(0, 2) > 0;
    if (pick(0, 3) == 0 && h_->state(id) == RunState::Dispatched) h_->accept(id);
    if (is_killed) {
      kill(id);
    } else {
      h_->report(id, pick(0, 2) == 0 ? RunState::Failed : RunState::Succeeded);
    }
    const model::RunProgress& at = h_->run(id).progress;
    if (ref.asked) REQUIRE(model::is_final(at.state));
    if (!model::is_final(at.state)) return;  // another attempt follows; it keeps its place
    if (is_killed) {
      REQUIRE(at.state == RunState::Killed);
      REQUIRE(at.reason == (ref.replaced_by == RunId{} ? Reason::CancelledByUser : Reason::ReplacedBy));
      if (ref.replaced_by != RunId{}) REQUIRE(at.detail == std::to_string(ref.replaced_by.value));
    }
    job.runs.erase(id);
    job.fill();
  }

  void kill(RunId id) {
    model::AttemptReport line;
    line.key = h_->attempt(id);
    line.worker = h_->run(id).progress.worker;
    line.what = model::AttemptReport::What::Finished;
    line.outcome.state = RunState::Killed;
    line.outcome.reason = Reason::CancelledByUser;
    h_->handle(Reported{Token{77}, line.worker, {line}});
  }

  void cancel_one() {
    const RunId id = any_run(false);
    if (id == RunId{}) return;
    RefJob& job = jobs_.at(h_->run(id).job);
    const bool is_held = held().at(id);
    h_->cancel(id);
    if (is_held) {
      job.runs.at(id).asked = true;
      return;
    }
    REQUIRE(h_->state(id) == RunState::Cancelled);
    REQUIRE(h_->reason(id) == Reason::CancelledByUser);
    job.runs.erase(id);
    job.fill();
  }

  void edit() {
    const JobId id = any_job();
    RefJob& job = jobs_.at(id);
    const RefJob rules = random_rules();
    job.overlap = rules.overlap;
    job.concurrency = rules.concurrency;
    job.queue_limit = rules.queue_limit;
    h_->apply(builder(names_.at(id), job));
    job.fill();
  }

  void take_over() {
    ++takeovers;
    model::Inventory all;
    all.worker = worker_;
    for (const auto& [id, it] : held()) {
      if (it) all.attempts.push_back({h_->attempt(id), model::HeldAttempt::State::Running, {}, {}});
    }
    const Now now = h_->now;
    const Epoch epoch{h_->epoch.value + 1};
    auto versions = h_->versions;
    auto next = std::make_unique<Harness>(h_->recovered(), CoreOptions{}, epoch);
    next->versions = std::move(versions);
    next->now = now;
    h_ = std::move(next);
    all.highest_epoch = epoch;
    h_->handle(WorkerSeen{a_worker("w", slots_)});
    h_->listed();
    h_->handle(HelloAnswered{all});
  }

  bool differs(const model::Run& row, const RefRun& ref) {
    const bool is_waiting = row.progress.state == RunState::Waiting;
    const bool waits = is_waiting && row.progress.reason == Reason::WaitsForRun;
    return waits != ref.waits || row.progress.cancel_asked != ref.asked || (ref.asked && !told_[row.id]);
  }

  /// What is stored is what the reference says; each run that was asked to end was told to its worker.
  void compare() {
    for (const SendCancel& each : h_->pop_cancels()) {
      for (const model::AttemptKey key : each.attempts) told_[key.run] = true;
    }
    std::map<JobId, std::size_t> seen;
    for (auto at = h_->runs.begin(); at != h_->runs.end();) {
      const auto& [id, row] = *at;
      if (model::is_final(row.progress.state)) {
        REQUIRE(!jobs_.at(row.job).runs.contains(id));
        told_.erase(id);
        at = h_->runs.erase(at);
        continue;
      }
      ++seen[row.job];
      const auto ref = jobs_.at(row.job).runs.find(id);
      const bool is_known = ref != jobs_.at(row.job).runs.end();
      if (!is_known || differs(row, ref->second)) FAIL("run " << id.value << " is not as the reference says");
      ++at;
    }
    for (const auto& [id, job] : jobs_) {
      if (seen[id] != job.runs.size()) FAIL("job " << id.value << " has other runs than the reference");
    }
    h_->pop_dispatches();
    h_->pop_hellos();
    h_->gaps.clear();
    h_->attempts.clear();
    h_->notices.clear();
  }

  std::mt19937_64 dice_;
  std::unique_ptr<Harness> h_;
  std::int32_t slots_ = 1;
  model::WorkerKey worker_;
  std::map<JobId, std::string> names_;
  std::map<JobId, RefJob> jobs_;
  std::map<JobId, WallTime> born_, fired_;
  std::map<RunId, bool> told_;
};

}  // namespace

TEST_CASE("overlap: a model of all six policies agrees with the core over a million events") {
  const char* from = std::getenv("ROTA_OVERLAP_SEED");
  std::uint64_t seed = from == nullptr ? 1 : std::strtoull(from, nullptr, 10);
  std::int64_t events = 0, replaced = 0, takeovers = 0;
  for (; events < kEvents; ++seed) {
    INFO("ROTA_OVERLAP_SEED=", seed);
    World world(seed);
    while (world.events < kEventsOfWorld) world.act();
    events += world.events;
    replaced += world.replaced;
    takeovers += world.takeovers;
  }
  MESSAGE("overlap model: ", events, " events, ", takeovers, " takeovers, ", replaced,
          " runs replaced at once, last seed ", seed - 1, ", 0 differences");
}
