// What workers did lately, against a reference that keeps every event and looks through all of them each time:
// failures and successes of jobs on workers, lives that are lost alone and in crowds, workers that come back.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "master/core/tables/conduct_table.h"

namespace rota::master::core {
namespace {

constexpr int kWorkers = 5;
constexpr int kJobs = 8;

std::string worker_named(int i) { return "w" + std::to_string(i); }

/// Plainly right, and slow: nothing is forgotten before it is too old to count.
class ConductHistory {
 public:
  enum class What { Failed, Succeeded, Forgotten, Lost, LostForgotten, Came };
  struct Event {
    What what;
    int worker = 0;
    int job = 0;
    MonoTime at{};
  };

  void add(What what, int worker, int job, MonoTime at) {
    while (!events_.empty() && at - events_.front().at > 3 * kConductWindow) events_.pop_front();
    events_.push_back({what, worker, job, at});
  }
  std::vector<JobId> proven_against(int worker, MonoTime now) const {
    std::vector<JobId> proven;
    for (int job = 0; job < kJobs; ++job) {
      bool has_failed = false;
      MonoTime failed{}, elsewhere = MonoTime::min();
      for (const Event& each : events_) {
        const bool is_own = each.worker == worker;
        const bool starts_anew = is_own && (each.what == What::Forgotten ||
                                            (each.what == What::Succeeded && each.job == job));
        if (starts_anew) has_failed = false, elsewhere = MonoTime::min();
        if (each.job != job) continue;
        if (is_own && each.what == What::Failed) has_failed = true, failed = each.at;
        const bool still_counts = has_failed && each.at - failed <= kConductWindow;
        if (!is_own && each.what == What::Succeeded && still_counts) elsewhere = each.at;
      }
      const bool is_proven = has_failed && elsewhere != MonoTime::min() && now - failed <= kConductWindow &&
                             now - elsewhere <= kConductWindow;
      if (is_proven) proven.push_back(JobId{job + 1});
    }
    return proven;
  }
  int lost_alone(int worker, std::size_t crowd, MonoTime now) const {
    std::vector<Event> lost;
    for (const Event& each : events_) {
      if (each.what == What::Lost) lost.push_back(each);
      if (each.what != What::LostForgotten) continue;
      std::erase_if(lost, [&](const Event& one) { return one.worker == each.worker; });
    }
    return static_cast<int>(std::ranges::count_if(lost, [&](const Event& each) {
      if (each.worker != worker || now - each.at > kConductWindow) return false;
      std::set<int> beside;
      for (const Event& other : lost) {
        const auto apart = std::max(other.at, each.at) - std::min(other.at, each.at);
        if (other.worker != worker && apart <= kCrowdWindow) beside.insert(other.worker);
      }
      return beside.size() < crowd;
    }));
  }
  std::size_t came_within(Millis window, MonoTime now) const {
    return static_cast<std::size_t>(std::ranges::count_if(events_, [&](const Event& each) {
      return each.what == What::Came && now - each.at <= window;
    }));
  }

 private:
  std::deque<Event> events_;
};

class ConductWorld {
 public:
  explicit ConductWorld(std::uint64_t seed) : dice_(seed) {}

  long proven = 0, alone = 0, crowds = 0;

  void step() {
    using What = ConductHistory::What;
    now_ += Millis{roll(8) == 0 ? roll(120'000) : roll(4'000)};
    const int worker = roll(kWorkers), job = roll(kJobs);
    const std::string name = worker_named(worker);
    const JobId id{job + 1};
    switch (const int event = roll(20)) {
      case 0: case 1: case 2: case 3: case 4: case 5:
        table_.note_failure(name, id, now_);
        history_.add(What::Failed, worker, job, now_);
        break;
      case 6: case 7: case 8: case 9: case 10: case 11: case 12:
        table_.note_success(name, id, now_);
        history_.add(What::Succeeded, worker, job, now_);
        break;
      case 13:
        table_.forget_failures(name);
        history_.add(What::Forgotten, worker, job, now_);
        break;
      case 14: case 15: case 16: case 17:
        table_.note_lost(name, "p", now_);
        history_.add(What::Lost, worker, job, now_);
        break;
      case 18:
        table_.forget_lost(name, "p");
        history_.add(What::LostForgotten, worker, job, now_);
        break;
      default:
        CHECK(event == 19);
        history_.add(What::Came, worker, job, now_);
        REQUIRE(table_.note_return("p", Millis{5000}, now_) == history_.came_within(Millis{5000}, now_));
    }
    compare(worker);
  }

 private:
  int roll(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(dice_); }

  void compare(int worker) {
    const auto found = table_.proven_against(worker_named(worker), now_);
    REQUIRE(found == history_.proven_against(worker, now_));
    proven += found.size() >= 3 ? 1 : 0;
    const int lost = table_.lost_alone(worker_named(worker), "p", 2, now_);
    REQUIRE(lost == history_.lost_alone(worker, 2, now_));
    alone += lost >= 3 ? 1 : 0;
    crowds += lost < history_.lost_alone(worker, kWorkers, now_) ? 1 : 0;
  }

  std::mt19937_64 dice_;
  MonoTime now_{};
  ConductTable table_;
  ConductHistory history_;
};

TEST_CASE("conduct: a model that looks through all events agrees with the table") {
  const char* wanted = std::getenv("ROTA_MODEL_EVENTS");
  const long events = wanted == nullptr ? 20'000 : std::atol(wanted);
  long done = 0, proven = 0, alone = 0, crowds = 0;
  for (std::uint64_t seed = 1; done < events; ++seed) {
    ConductWorld world(seed);
    for (int i = 0; i < 2'000 && done < events; ++i, ++done) world.step();
    proven += world.proven;
    alone += world.alone;
    crowds += world.crowds;
  }
  CHECK(proven > events / 100);
  CHECK(alone > events / 100);
  CHECK(crowds > events / 100);
  MESSAGE(done << " events, " << proven << " times three jobs, " << alone << " times three lives, 0 differences");
}

TEST_CASE("conduct: of many jobs that fail on one worker the latest are kept") {
  ConductTable table;
  const int many = static_cast<int>(kJobsKept) + 8;
  for (int job = 1; job <= many; ++job) table.note_failure("w1", JobId{job}, MonoTime{Millis{job}});
  for (int job = 1; job <= many; ++job) table.note_success("w2", JobId{job}, MonoTime{Millis{1000}});
  const auto proven = table.proven_against("w1", MonoTime{Millis{1000}});
  REQUIRE(proven.size() == kJobsKept);
  CHECK(proven.front() == JobId{9});
}

}  // namespace
}  // namespace rota::master::core
