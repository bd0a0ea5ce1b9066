// A leader's core in a random world, judged after each event by what docs/schedules.md, docs/calendars.md and
// docs/late.md say of each planned tick.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dice.h"
#include "expected.h"
#include "harness.h"

namespace rota::when_model {

inline constexpr std::size_t kMostJobs = 6;

struct Tally {
  std::int64_t events = 0;       ///< ticks that were judged, moments that edits took away, and changes
  std::int64_t differences = 0;
  std::map<std::string, std::int64_t> kinds;  ///< events, by what became of them
};

/// Thread: one.
class World {
 public:
  World(std::uint64_t seed, Tally& tally);

  void step();

 private:
  struct Job {
    std::string space, name;
    JobId id;
    std::vector<PlainEntry> entries;
    Rules rules;
    JobVersion version = 0;
    bool enabled = true, deleted = false;
    int edits = 0;
    Ms anchor = 0, valid_from = 0;
    Ms recorded = 0;             ///< all its ticks through here were judged
    Plan plan;
    Ms planned_from = 0, planned_through = 0;
    std::int32_t fired = 0, failures = 0;
    bool has_succeeded = false;
    std::optional<Ms> due;       ///< of its entry after_end
    std::optional<Ms> over_since;  ///< a run has ended by which it is over, while ticks are held
    std::int64_t caught_up = 0;  ///< runs that wait for that, after its ticks were recorded
    std::map<std::int64_t, std::vector<Ms>> frozen;  ///< by freeze, of this version
    bool has_after_end() const { return entries.front().kind == Kind::AfterEnd; }
  };
  using Standings = std::map<JobId, Standing>;

  // --- what happens
  void live();
  void nap(Ms length);
  void hold(Ms length);
  void clock_back();
  void take_over(Ms away);
  void change_leader(const std::string& hold);
  void pass(Ms by);
  void look();
  void finish();
  void edit_something();
  void freeze();
  void end_freeze();
  void edit_calendar(const std::string& name, bool at_a_tick);
  void move_dues(const std::string& name);

  // --- jobs
  void create();
  void fill(Job& job);
  void apply(Job& job);
  void pause(Job& job, bool paused);
  void remove(Job& job);
  void bring_back(Job& job);
  void open_version(Job& job, bool has_other_entries);
  Job* any_job();
  master::core::Event applied(const Job& job) const;

  // --- what is judged
  void handle(const master::core::Event& event);
  Standings standings() const;
  void judge(Job& job, const Standing& standing, bool is_recorded = true);
  std::optional<Ms> judge_ticks(Job& job, Standing standing, bool is_recorded);
  void judge_over(Job& job, const Standing& standing);
  void judge_all(const Standings& before);
  void judge_rows(Job& job, const Expected& expected);
  void judge_after_end(Job& job, const Standing& standing, Expected& expected);
  std::set<JobId> judge_thaw(const std::map<JobId, std::optional<Ms>>& over);
  void judge_end(Job& job, bool is_over, std::optional<Ms> tick);
  void judge_state(const Job& job);
  void ensure_plan(Job& job, Ms through);
  std::map<Ms, Ms> ticks_of(const Job& job, Ms after, Ms through) const;
  void differ(const Job& job, const std::string& what);
  void count(const std::string& kind, std::int64_t number = 1);
  void forget();

  Dice dice_;
  Tally& tally_;
  master::core::CoreOptions options_;
  std::unique_ptr<test::Harness> h_;
  std::vector<Job> jobs_;
  PlainCalendars calendars_;
  std::vector<Frozen> freezes_;                  ///< not made up for
  std::map<JobId, std::set<Ms>> fired_;          ///< since the last look
  std::map<JobId, std::multiset<Ms>> made_up_;
  std::map<JobId, std::vector<PlainEntry>> entries_before_;  ///< of the version in force
  std::map<RunId, MonoTime> not_before_;
  RunId newest_;
  Ms at_ = 0;
  bool is_held_ = false;
  std::int64_t epoch_ = 7;
  std::int64_t token_ = 1'000'000;
  int lives_ = 0, names_ = 0;
};

}  // namespace rota::when_model
