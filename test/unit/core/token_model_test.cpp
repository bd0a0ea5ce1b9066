// Semaphores against a reference of a few lines: random lines that ask, step back, leave and take, runs that give
// back, counts that change. After each event both say the same of every line, no semaphore has given more than its
// count to those who asked since it was last lowered, and no line that would get its tokens stands unheard.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "master/core/tables/token_table.h"

namespace rota::master::core {

/// The table alone, without runs.
struct TokenSurgery {
  static void take(TokenTable& table, RunId run, const SlotQueueKey& queue) {
    table.leave(queue);
    table.take(run, queue.uses);
  }
  static void give_back(TokenTable& table, RunId run, const TokenNeeds& uses) { table.give_back(run, uses); }
};

namespace {

constexpr int kSemaphores = 4;
constexpr int kLines = 9;

SemaphoreName named(int i) { return {"default", "s" + std::to_string(i)}; }

/// What is plainly right: everything is looked for again each time.
class Reference {
 public:
  struct Line {
    TokenNeeds uses;
    long asked = 0;                    ///< 0: has no ticket
    bool stands = false;
  };

  std::map<SemaphoreName, int> counts;
  std::map<RunId, TokenNeeds> holders;
  std::vector<Line> lines;

  long held(const SemaphoreName& name) const {
    long sum = 0;
    for (const auto& [run, uses] : holders) {
      if (const auto at = uses.find(name); at != uses.end()) sum += at->second;
    }
    return sum;
  }
  bool is_possible(const Line& line) const {
    for (const auto& [name, wanted] : line.uses) {
      const auto count = counts.find(name);
      if (count == counts.end() || count->second < wanted) return false;
    }
    return true;
  }
  bool would_get(const Line& line) const {
    if (!is_possible(line)) return false;
    for (const auto& [name, wanted] : line.uses) {
      if (held(name) + wanted > counts.at(name)) return false;
      for (const Line& other : lines) {
        const bool is_before = other.stands && &other != &line && (line.asked == 0 || other.asked < line.asked);
        if (is_before && other.uses.contains(name)) return false;
      }
    }
    return true;
  }
  bool ask(Line& line) {
    if (line.asked == 0) line.asked = ++clock_;
    const bool gets = would_get(line);
    line.stands = !gets && is_possible(line);
    return gets;
  }
  void changed(const SemaphoreName& name) {
    for (Line& line : lines) {
      if (line.uses.contains(name) && !is_possible(line)) line.stands = false;
    }
  }

 private:
  long clock_ = 0;
};

class World {
 public:
  explicit World(std::uint64_t seed) : dice_(seed) {
    for (int i = 0; i < kSemaphores; ++i) set_count(i, 2 + roll(7));
    for (int i = 0; i < kLines; ++i) {
      SlotQueueKey key{"pool" + std::to_string(i), {}, {}};
      for (int s = 0; s < kSemaphores; ++s) {
        if (roll(2) == 0) key.uses[named(s)] = 1 + roll(3);
      }
      if (key.uses.empty()) key.uses[named(roll(kSemaphores))] = 1;
      keys_.push_back(key);
      reference_.lines.push_back({key.uses, 0, false});
    }
  }

  void step() {
    const int event = roll(20);
    if (event < 9) ask(roll(kLines));
    else if (event < 14) give_back();
    else if (event < 16) step_back(roll(kLines));
    else if (event < 18) leave(roll(kLines));
    else if (event < 19) set_count(roll(kSemaphores), roll(10));
    else remove(roll(kSemaphores));
    for (const std::string& pool : table_.take_pools()) woken_.insert(pool);
    compare();
  }

  long taken = 0, refused = 0, raised = 0;

 private:
  int roll(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(dice_); }

  void ask(int i) {
    Reference::Line& line = reference_.lines[at(i)];
    const bool gets = table_.ask(keys_[at(i)]);
    REQUIRE(gets == reference_.ask(line));
    woken_.erase(keys_[at(i)].pool);
    if (!gets) return void(++refused);
    ++taken;
    const RunId run{++runs_};
    TokenSurgery::take(table_, run, keys_[at(i)]);
    reference_.holders.emplace(run, line.uses);
    line.asked = 0;
    line.stands = false;
    // The pump goes on with a pool in which a run was sent.
    woken_.insert(keys_[at(i)].pool);
  }
  void give_back() {
    if (reference_.holders.empty()) return;
    auto at = reference_.holders.begin();
    std::advance(at, roll(static_cast<int>(reference_.holders.size())));
    TokenSurgery::give_back(table_, at->first, at->second);
    reference_.holders.erase(at);
  }
  void step_back(int i) {
    table_.step_back(keys_[at(i)]);
    reference_.lines[at(i)].stands = false;
  }
  void leave(int i) {
    table_.leave(keys_[at(i)]);
    reference_.lines[at(i)].stands = false;
    reference_.lines[at(i)].asked = 0;
  }
  void set_count(int i, int count) {
    ++raised;
    table_.put({"default", named(i).second, ++versions_, count, {}, versions_, "tester", false});
    reference_.counts[named(i)] = count;
    reference_.changed(named(i));
  }
  void remove(int i) {
    if (table_.find(named(i)) == nullptr) return;
    table_.put({"default", named(i).second, ++versions_, 1, {}, versions_, "tester", true});
    reference_.counts.erase(named(i));
    reference_.changed(named(i));
  }

  void compare() {
    for (int i = 0; i < kLines; ++i) {
      const Reference::Line& line = reference_.lines[at(i)];
      const bool gets = table_.would_get(keys_[at(i)]);
      REQUIRE(gets == reference_.would_get(line));
      REQUIRE((table_.lacking(keys_[at(i)]) == nullptr) == gets);
      if (gets && line.stands) REQUIRE_MESSAGE(woken_.contains(keys_[at(i)].pool), keys_[at(i)].pool);
      for (const auto& [name, wanted] : line.uses) {
        std::size_t before = 0;
        for (const Reference::Line& other : reference_.lines) {
          const bool is_before = other.stands && &other != &line && (line.asked == 0 || other.asked < line.asked);
          if (is_before && other.uses.contains(name)) ++before;
        }
        REQUIRE(table_.lines_before(keys_[at(i)], name) == before);
      }
    }
    for (int i = 0; i < kSemaphores; ++i) {
      const TokenTable::Entry* entry = table_.find(named(i));
      REQUIRE((entry != nullptr) == reference_.counts.contains(named(i)));
      if (entry != nullptr) REQUIRE(entry->held() == reference_.held(named(i)));
    }
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  std::mt19937_64 dice_;
  TokenTable table_;
  Reference reference_;
  std::vector<SlotQueueKey> keys_;
  std::set<std::string> woken_;
  std::int64_t runs_ = 0;
  std::int32_t versions_ = 0;
};

TEST_CASE("tokens: a model of random lines and runs agrees with the table") {
  const char* wanted = std::getenv("ROTA_MODEL_EVENTS");
  const long events = wanted == nullptr ? 20'000 : std::atol(wanted);
  long done = 0, taken = 0, refused = 0;
  for (std::uint64_t seed = 1; done < events; ++seed) {
    World world(seed);
    for (int i = 0; i < 2'000 && done < events; ++i, ++done) world.step();
    taken += world.taken;
    refused += world.refused;
  }
  CHECK(taken > events / 20);
  CHECK(refused > events / 20);
  MESSAGE(done << " events, " << taken << " taken, " << refused << " refused, 0 differences");
}

/// All lines ask in turn, and whoever gets tokens gives them back some turns later.
TEST_CASE("tokens: one that takes many is not passed forever by those that take few") {
  TokenTable table;
  table.put({"default", "s0", 1, 3, {}, 1, "tester", false});
  std::vector<SlotQueueKey> few;
  for (int i = 0; i < 5; ++i) {
    few.push_back({"p", {}, "h" + std::to_string(i)});
    few.back().uses[named(0)] = 1;
  }
  SlotQueueKey many{"p", {}, "many"};
  many.uses[named(0)] = 3;
  std::map<long, std::pair<RunId, TokenNeeds>> ends;
  std::int64_t runs = 0;
  int wide = 0;
  for (long now = 0; now < 100; ++now) {
    if (const auto at = ends.find(now); at != ends.end()) {
      TokenSurgery::give_back(table, at->second.first, at->second.second);
      ends.erase(at);
    }
    for (const SlotQueueKey& line : few) {
      if (!table.ask(line)) continue;
      TokenSurgery::take(table, RunId{++runs}, line);
      ends.emplace(ends.empty() ? now + 2 : ends.rbegin()->first + 1, std::pair{RunId{runs}, line.uses});
    }
    if (!table.ask(many)) continue;
    ++wide;
    TokenSurgery::take(table, RunId{++runs}, many);
    ends.emplace(now + 3, std::pair{RunId{runs}, many.uses});
  }
  CHECK(wide >= 5);
  CHECK(runs - wide >= 25);
}

}  // namespace
}  // namespace rota::master::core
