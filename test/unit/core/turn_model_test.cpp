// Whose turn it is, against a reference of a few lines: random namespaces, jobs and callers of one-off runs with
// priorities, two pools, weights and limits, runs that begin, end and are cancelled, edits, minutes that pass and
// takeovers. After each event the workers hold exactly the runs that the reference says.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/caller.h"
#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::RunState;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
constexpr std::int64_t kEventsInAll = 50'000;
#else
constexpr std::int64_t kEventsInAll = 1'000'000;
#endif
constexpr std::int64_t kEventsEach = 2'500;
constexpr std::size_t kMostWaiting = 60;

/// What is plainly right: everything is looked for again each time.
class Order {
 public:
  struct Line {
    std::string pool, name, space;               ///< name: of the job, or of caller and priority
    std::int64_t priority = 50;
    std::int64_t minute = 0, last = 0;
    std::set<RunId> waiting;
  };

  struct Held {
    std::string line, space, pool;
  };
  std::map<std::string, Line> lines;             ///< by pool and name; none is empty
  std::map<RunId, Held> held;
  std::map<std::string, std::int64_t> slots;     ///< of each pool's worker
  std::map<std::string, std::int64_t> limit_of_pool, limit_of_space, weights;  ///< those that were set; limit -1: none
  std::map<std::string, std::int64_t> pool_turns;  ///< the last of each pool in use
  std::int64_t pool_turns_in_all = 0;
  std::set<std::string> kept_pools;              ///< with limits that were ever set: never forgotten
  std::map<std::string, std::int64_t> last_of;   ///< namespaces with runs that wait or are held
  std::int64_t turns = 0;

  void wait(const std::string& pool, const std::string& name, const std::string& space, std::int64_t priority,
            RunId run, std::int64_t minute) {
    last_of.try_emplace(space, turns - 1);
    const auto [at, is_new] = lines.try_emplace(pool + " " + name);
    Line& line = at->second;
    if (is_new) line = {pool, name, space, priority, minute, turns - 1, {}};
    line.priority = priority;
    line.waiting.insert(run);
  }
  void end(RunId run) {
    held.erase(run);
    for (auto& [name, line] : lines) line.waiting.erase(run);
    tidy();
  }
  /// Pool after pool, first the one in which the last run was sent longest ago.
  void fill(std::int64_t minute) {
    for (;;) {
      std::string next;
      for (const auto& [pool, slots_of] : slots) {
        if (!may_start_in(pool)) continue;
        if (next.empty() || pool_turn(pool) < pool_turn(next)) next = pool;
      }
      if (next.empty()) return;
      while (may_start_in(next)) start_next(next, minute);
    }
  }
  std::int64_t held_of_pool(const std::string& pool) const {
    return std::ranges::count_if(held, [&](const auto& each) { return each.second.pool == pool; });
  }
  std::int64_t held_in(const std::string& space) const {
    return std::ranges::count_if(held, [&](const auto& each) { return each.second.space == space; });
  }

 private:
  static std::int64_t or_else(const std::map<std::string, std::int64_t>& all, const std::string& name, std::int64_t other) {
    const auto found = all.find(name);
    return found == all.end() ? other : found->second;
  }
  std::int64_t pool_turn(const std::string& pool) const { return or_else(pool_turns, pool, 0); }
  bool is_open(const std::string& space) const {
    const std::int64_t most = or_else(limit_of_space, space, -1);
    return most < 0 || held_in(space) < most;
  }
  bool may_start_in(const std::string& pool) const {
    const std::int64_t most = or_else(limit_of_pool, pool, -1);
    if (held_of_pool(pool) >= slots.at(pool) || (most >= 0 && held_of_pool(pool) >= most)) return false;
    return std::ranges::any_of(lines, [&](const auto& each) { return each.second.pool == pool && is_open(each.second.space); });
  }
  std::int64_t held_by(const std::string& line) const {
    return std::ranges::count_if(held, [&](const auto& each) { return each.second.line == line; });
  }

  void start_next(const std::string& pool, std::int64_t minute) {
    std::string next_space, next_line;
    std::tuple<double, std::int64_t, std::string> least_space;
    for (const auto& [key, line] : lines) {
      if (line.pool != pool || !is_open(line.space)) continue;
      const double share = static_cast<double>(held_in(line.space)) / static_cast<double>(or_else(weights, line.space, 1));
      const std::tuple rank{share, last_of.at(line.space), line.space};
      if (next_space.empty() || rank < least_space) least_space = rank, next_space = line.space;
    }
    std::tuple<std::int64_t, std::int64_t, std::int64_t, RunId> least;
    for (const auto& [key, line] : lines) {
      if (line.pool != pool || line.space != next_space) continue;
      const std::tuple rank{line.minute - line.priority, held_by(line.name), line.last, *line.waiting.begin()};
      if (next_line.empty() || rank < least) least = rank, next_line = key;
    }
    Line& line = lines.at(next_line);
    const RunId run = *line.waiting.begin();
    line.minute = minute;
    line.last = last_of.at(next_space) = ++turns;
    pool_turns[pool] = ++pool_turns_in_all;
    line.waiting.erase(run);
    held[run] = {line.name, next_space, pool};
    tidy();
  }
  void tidy() {
    std::erase_if(pool_turns, [&](const auto& each) {
      const bool waits = std::ranges::any_of(lines, [&](const auto& line) {
        return line.second.pool == each.first && !line.second.waiting.empty();
      });
      return !waits && held_of_pool(each.first) == 0 && !kept_pools.contains(each.first);
    });
    std::erase_if(lines, [](const auto& each) { return each.second.waiting.empty(); });
    std::erase_if(last_of, [&](const auto& each) {
      const bool waits = std::ranges::any_of(lines, [&](const auto& line) { return line.second.space == each.first; });
      return !waits && held_in(each.first) == 0;
    });
  }
};

class TurnWorld {
 public:
  explicit TurnWorld(std::uint64_t seed) : dice_(seed) {
    h_ = std::make_unique<Harness>();
    for (const std::string& pool : kPools) {
      order_.slots[pool] = pick(1, 6);
      h_->join(worker_of(pool));
    }
    for (std::int64_t i = pick(2, 6); i > 0; --i) {
      const Job job{"s" + std::to_string(pick(1, 3)), "j" + std::to_string(i), any_pool(), any_priority()};
      ids_.push_back(h_->apply(builder(job)));
      jobs_.push_back(job);
    }
  }

  void act() {
    ++events;
    switch (pick(0, 9)) {
      case 0: case 1: case 2: by_hand(); break;
      case 3: one_off(); break;
      case 4: case 5: case 6: end_one(); break;
      case 7: pick(0, 2) == 0 ? pass_time() : end_one(); break;
      case 8: pick(0, 3) == 0 ? edit() : cancel_waiting(); break;
      case 9: pick(0, 20) == 0 ? take_over() : pick(0, 3) == 0 ? set_quota() : by_hand(); break;
    }
    compare();
  }

  std::int64_t events = 0, takeovers = 0, turns = 0, quotas = 0, full = 0;

 private:
  struct Job {
    std::string space, name, pool;
    std::int32_t priority = 50;
  };
  inline static const std::vector<std::string> kPools = {"east", "west"};

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(dice_() % static_cast<std::uint64_t>(to - from + 1));
  }
  std::int32_t any_priority() { return static_cast<std::int32_t>(pick(0, 2) == 0 ? pick(45, 55) : 50); }
  std::int64_t minute() const { return to_ms(h_->now.wall) / 60'000; }
  std::string any_pool() { return kPools[static_cast<std::size_t>(pick(0, 1))]; }
  model::WorkerInfo worker_of(const std::string& pool) const {
    model::WorkerInfo worker = a_worker("w-" + pool, static_cast<std::int32_t>(order_.slots.at(pool)));
    worker.pool = pool;
    return worker;
  }
  static JobBuilder builder(const Job& job) {
    return a_job(job.name).space(job.space).pool(job.pool).priority(job.priority).overlap(Overlap::Allow);
  }
  RunId submitted() const { return std::get<Submitted>(h_->last.replies.at(0).body).items.at(0).run; }

  void by_hand() {
    const Job& job = jobs_[static_cast<std::size_t>(pick(0, std::ssize(jobs_) - 1))];
    const bool floods = pick(0, 30) == 0;
    for (std::int64_t i = floods ? 10 : 1; i > 0 && waiting() < kMostWaiting; --i) {
      h_->handle(RunNow{Token{5}, "tester", job.space, job.name, {}, {}, nullptr});
      order_.wait(job.pool, job.space + "/" + job.name, job.space, job.priority, submitted(), minute());
      order_.fill(minute());
    }
  }

  void one_off() {
    if (waiting() >= kMostWaiting) return;
    const Job job{"s" + std::to_string(pick(1, 3)), "one", any_pool(), any_priority()};
    SubmitRuns event;
    event.token = Token{5};
    event.principal = pick(0, 1) == 0 ? "ann" : kEveryone;
    event.items.push_back({JobId{kOneOffBit + ++one_offs_}, builder(job).build(), {}, {}, nullptr});
    h_->handle(event);
    order_.wait(job.pool, line_of_caller(job, event.principal), job.space, job.priority, submitted(), minute());
    order_.fill(minute());
  }
  static std::string line_of_caller(const Job& job, const std::string& caller) {
    return job.space + " " + caller + " " + std::to_string(job.priority);
  }

  void end_one() {
    if (order_.held.empty()) return;
    auto at = order_.held.begin();
    std::advance(at, pick(0, std::ssize(order_.held) - 1));
    const RunId run = at->first;
    order_.end(run);
    h_->report(run, pick(0, 2) == 0 ? RunState::Failed : RunState::Succeeded);
    order_.fill(minute());
  }

  void set_quota() {
    ++quotas;
    SetQuota event;
    const std::int64_t most = pick(0, 2) == 0 ? model::kNoLimit : pick(0, 4);
    if (pick(0, 1) == 0) {
      event.name = any_pool();
      event.slots = order_.limit_of_pool[event.name] = most;
    } else {
      event.of = model::QuotaOf::Space;
      event.name = "s" + std::to_string(pick(1, 3));
      if (pick(0, 1) == 0) event.slots = order_.limit_of_space[event.name] = most;
      else event.weight = order_.weights[event.name] = pick(1, 5);
    }
    const auto applied = h_->set_quota(event);
    REQUIRE(applied);
    if (applied->version > 0 && event.of == model::QuotaOf::Pool) order_.kept_pools.insert(event.name);
    order_.fill(minute());
  }

  void cancel_waiting() {
    if (order_.lines.empty()) return;
    const auto& line = order_.lines.begin()->second;
    const RunId run = pick(0, 1) == 0 ? *line.waiting.begin() : *line.waiting.rbegin();
    h_->cancel(run);
    order_.end(run);
  }

  void edit() {
    Job& job = jobs_[static_cast<std::size_t>(pick(0, std::ssize(jobs_) - 1))];
    job.priority = any_priority();
    h_->apply(builder(job));
    const auto line = order_.lines.find(job.pool + " " + job.space + "/" + job.name);
    if (line != order_.lines.end()) line->second.priority = job.priority;
  }

  void pass_time() {
    const Millis step{pick(1, 200'000)};
    h_->now.wall += step;
    h_->now.mono += step;
    h_->tick();
  }

  void take_over() {
    ++takeovers;
    std::map<std::string, std::vector<model::HeldAttempt>> attempts;
    for (const auto& [id, by] : order_.held) {
      attempts[by.pool].push_back({h_->attempt(id), model::HeldAttempt::State::Running, {}, {}});
    }
    const Now now = h_->now;
    const Epoch epoch{h_->epoch.value + 1};
    auto versions = h_->versions;
    auto quotas_before = h_->quotas;
    auto next = std::make_unique<Harness>(h_->recovered(), CoreOptions{}, epoch);
    next->versions = std::move(versions);
    next->quotas = std::move(quotas_before);
    next->now = now;
    h_ = std::move(next);
    for (const std::string& pool : kPools) h_->handle(WorkerSeen{worker_of(pool)});
    h_->listed();
    forget_turns();
    order_.fill(minute());
    for (const std::string& pool : kPools) {
      model::Inventory all;
      all.worker = worker_of(pool).key;
      all.attempts = attempts[pool];
      all.highest_epoch = epoch;
      h_->handle(HelloAnswered{all});
    }
  }

  /// A new leader knows since when each run stands, and no turns.
  void forget_turns() {
    order_.turns = 0;
    order_.pool_turns.clear();
    order_.pool_turns_in_all = 0;
    for (const auto& [id, by] : order_.held) order_.pool_turns[by.pool] = ++order_.pool_turns_in_all;
    for (auto& [space, last] : order_.last_of) last = -1;
    for (auto& [name, line] : order_.lines) {
      line.last = -1;
      line.minute = to_ms(h_->run(*line.waiting.begin()).recorded) / 60'000;
    }
  }

  std::size_t waiting() const {
    std::size_t sum = 0;
    for (const auto& [name, line] : order_.lines) sum += line.waiting.size();
    return sum;
  }

  void compare() {
    std::size_t held = 0, waits = 0;
    for (auto at = h_->runs.begin(); at != h_->runs.end();) {
      const auto& [id, row] = *at;
      if (model::is_final(row.progress.state)) {
        at = h_->runs.erase(at);
        continue;
      }
      const bool is_held = row.progress.state == RunState::Dispatched || row.progress.state == RunState::Running;
      if (is_held != order_.held.contains(id)) {
        FAIL("run " << id.value << (is_held ? " has a slot out of its turn" : " has no slot, and it is its turn"));
      }
      ++(is_held ? held : waits);
      ++at;
    }
    REQUIRE(held == order_.held.size());
    REQUIRE(waits == waiting());
    for (const auto& [space, most] : order_.limit_of_space) full += most >= 0 && order_.held_in(space) == most ? 1 : 0;
    for (const auto& [pool, most] : order_.limit_of_pool) full += most >= 0 && order_.held_of_pool(pool) == most ? 1 : 0;
    turns += std::ssize(h_->pop_dispatches());
    h_->pop_hellos();
    h_->attempts.clear();
    h_->notices.clear();
  }

  std::mt19937_64 dice_;
  std::unique_ptr<Harness> h_;
  Order order_;
  std::int64_t one_offs_ = 0;
  std::vector<Job> jobs_;
  std::vector<JobId> ids_;
};

}  // namespace

TEST_CASE("turns: a model of namespaces, limits, priorities and jobs agrees with the core over a million events") {
  const char* from = std::getenv("ROTA_TURN_SEED");
  std::uint64_t seed = from == nullptr ? 1 : std::strtoull(from, nullptr, 10);
  std::int64_t events = 0, turns = 0, takeovers = 0, quotas = 0, full = 0;
  for (; events < kEventsInAll; ++seed) {
    INFO("ROTA_TURN_SEED=", seed);
    TurnWorld world(seed);
    while (world.events < kEventsEach) world.act();
    events += world.events;
    turns += world.turns;
    takeovers += world.takeovers;
    quotas += world.quotas;
    full += world.full;
  }
  MESSAGE("turn model: ", events, " events, ", turns, " turns, ", takeovers, " takeovers, ", quotas, " changes of limits, ", full,
          " times one was reached, last seed ", seed - 1, ", 0 differences");
}
