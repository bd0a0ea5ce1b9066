// Which expectations of jobs (`expect`) are open: of unfinished runs, in the order of the moments at which
// they are looked at, and of paused jobs; and workers that are away, in the order in which they left.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/expect.h"
#include "common/model/zone.h"
#include "master/core/tables/due_index.h"

namespace rota::master::core {

/// What is expected of one unfinished run.
struct Expected {
  std::optional<WallTime> start_by, finish_by;
  std::bitset<3> told;                 ///< by ToldOnce
  std::array<std::optional<WallTime>, 3> looks;  ///< when each is looked at next; ExpectTable's
};

/// Thread: the Scheduler's.
class ExpectTable {
 public:
  using Due = std::tuple<WallTime, RunId, model::ToldOnce>;

  // --- runs
  Expected& add(RunId run, Expected expected) {
    return runs_.insert_or_assign(run, std::move(expected)).first->second;
  }
  Expected* find(RunId run) {
    const auto found = runs_.find(run);
    return found == runs_.end() ? nullptr : &found->second;
  }
  void erase(RunId run) {
    const auto found = runs_.find(run);
    if (found == runs_.end()) return;
    for (std::size_t i = 0; i < found->second.looks.size(); ++i) {
      forget_look(run, found->second, static_cast<model::ToldOnce>(i));
    }
    runs_.erase(found);
  }
  std::size_t size() const { return runs_.size(); }
  /// Of a run that was added; instead of an earlier moment for the same.
  void look_at(WallTime at, RunId run, model::ToldOnce what) {
    Expected* expected = find(run);
    if (expected == nullptr) return;
    forget_look(run, *expected, what);
    expected->looks.at(static_cast<std::size_t>(what)) = at;
    due_.emplace(at, run, what);
  }
  /// Takes the first out that is due.
  std::optional<Due> pop_due(WallTime now) {
    if (due_.empty() || std::get<0>(*due_.begin()) > now) return std::nullopt;
    const Due due = *due_.begin();
    forget_look(std::get<1>(due), *find(std::get<1>(due)), std::get<2>(due));
    return due;
  }
  /// When something of a run or a paused job is looked at next.
  std::optional<WallTime> first() const {
    std::optional<WallTime> out;
    if (!due_.empty()) out = std::get<0>(*due_.begin());
    if (const auto paused = paused_.first()) out = std::min(out.value_or(paused->at), paused->at);
    return out;
  }

  // --- zones, by name
  void know_zone(model::ZonePtr zone) {
    if (zone != nullptr) zones_[zone->name] = std::move(zone);
  }
  const model::ZoneRules* zone(const std::string& name) const {
    const auto found = zones_.find(name);
    return found == zones_.end() ? nullptr : found->second.get();
  }

  // --- how long jobs take
  const model::JobPace* pace(JobId job) const {
    const auto found = paces_.find(job);
    return found == paces_.end() ? nullptr : &found->second;
  }
  void put_pace(model::JobPace pace) { paces_.insert_or_assign(pace.job, std::move(pace)); }

  // --- the first tick that a pause kept from firing
  DueIndex& paused() { return paused_; }
  /// What was told of such ticks, also before this Term.
  std::set<std::tuple<JobId, WallTime, model::ToldOnce>>& told_paused() { return told_paused_; }

  // --- workers
  void note_away(const std::string& worker, WallTime left, std::string why) {
    note_back(worker);
    if (told_dead_.contains({worker, left})) return;
    away_[worker] = {left, std::move(why)};
    away_order_.emplace(left, worker);
  }
  void note_back(const std::string& worker) {
    const auto found = away_.find(worker);
    if (found == away_.end()) return;
    away_order_.erase({found->second.first, worker});
    away_.erase(found);
  }
  struct Away {
    std::string worker;
    WallTime left{};
    std::string why;
  };
  /// Who left first of those that were not told to be dead.
  std::optional<Away> first_away() const {
    if (away_order_.empty()) return std::nullopt;
    const auto& [left, worker] = *away_order_.begin();
    return Away{worker, left, away_.at(worker).second};
  }
  void note_told_dead(const std::string& worker, WallTime left) { told_dead_.emplace(worker, left); }

  // --- the Term's mark
  /// It expects something, or watches workers.
  void want_mark() { is_mark_wanted_ = true; }
  /// True once, when it is wanted.
  bool mark() { return is_mark_wanted_ && !std::exchange(is_marked_, true); }

 private:
  void forget_look(RunId run, Expected& expected, model::ToldOnce what) {
    auto& look = expected.looks.at(static_cast<std::size_t>(what));
    if (look) due_.erase({*look, run, what});
    look.reset();
  }

  std::map<RunId, Expected> runs_;
  std::set<Due> due_;
  std::map<std::string, model::ZonePtr> zones_;
  std::map<JobId, model::JobPace> paces_;
  DueIndex paused_;
  std::set<std::tuple<JobId, WallTime, model::ToldOnce>> told_paused_;
  std::map<std::string, std::pair<WallTime, std::string>> away_;
  std::set<std::pair<WallTime, std::string>> away_order_;
  std::set<std::pair<std::string, WallTime>> told_dead_;
  bool is_mark_wanted_ = false, is_marked_ = false;
};

}  // namespace rota::master::core
