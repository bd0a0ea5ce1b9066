// Jobs as the leader knows them: saved ones, and one-off jobs with unfinished runs. Their names, the order in
// which they are due, and how long the longest of them lets a tick be late.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "master/core/tables/id_set.h"
#include "master/core/tables/run_table.h"
#include "master/core/tables/walk.h"
#include "master/core/time/schedule.h"

namespace rota::master::core {

inline constexpr std::size_t kDeletedMost = 1000;

/// What decisions need of a job. What an index depends on is read here and changed by JobTable alone.
class JobEntry {
 public:
  JobEntry(model::Job row_in, RulesPtr rules) : row(std::move(row_in)), rules_(std::move(rules)) {}

  model::Job row;                      ///< its id, space, name and one_off never change
  ZonePtr zone;
  WallTime valid_from{};
  WallTime anchor{};
  std::uint64_t definition_hash = 0;
  CompiledSchedule schedule;           ///< who changes it plans the next tick anew
  std::string last_worker;             ///< round robin: the id that got the last attempt

  const model::JobRules& rules() const { return *rules_; }
  const RulesPtr& shared_rules() const { return rules_; }
  const std::optional<WallTime>& next_tick() const { return next_tick_; }
  const IdSet<RunId>& unfinished() const { return unfinished_; }
  const IdSet<RunId>& behind() const { return behind_; }  ///< of these: wait for a run of the same job

 private:
  friend class JobTable;
  friend class State;

  RulesPtr rules_;
  std::optional<WallTime> next_tick_;
  IdSet<RunId> unfinished_;
  IdSet<RunId> behind_;
};

/// A job, and when it fires next.
struct DueTick {
  WallTime at{};
  JobId job;
  auto operator<=>(const DueTick&) const = default;
};

/// Thread: the Scheduler's. Every function keeps all indexes in step.
class JobTable {
 public:
  // --- entries
  JobEntry& add(JobEntry entry);
  JobEntry* find(JobId id);
  const JobEntry* find(JobId id) const;
  /// Jobs with a higher id, in order.
  auto after(JobId id) { return Walk(jobs_.upper_bound(id), jobs_.end()); }
  auto after(JobId id) const { return Walk(jobs_.upper_bound(id), jobs_.end()); }
  auto all() { return walk(jobs_); }
  auto all() const { return walk(jobs_); }
  /// Gives back a deleted or one-off job without unfinished runs.
  void forget_if_done(JobId id);
  void set_rules(JobEntry& job, RulesPtr rules);
  /// The longest tick_grace of any saved job: what is older is late, whose it may be.
  Millis longest_grace() const { return graces_.empty() ? Millis{0} : graces_.rbegin()->first; }

  // --- names of saved jobs that are not deleted
  JobEntry* find_named(const std::string& space, const std::string& name);
  bool has_name(const std::string& space, const std::string& name) const {
    return names_.contains({space, name});
  }
  std::size_t named() const { return names_.size(); }
  void give_name(const JobEntry& job) { names_[{job.row.space, job.row.name}] = job.row.id; }
  void release_name(const JobEntry& job);
  /// Remembered for a while: who has read its rows before must not bring it back as it was then.
  void note_deleted(const JobEntry& job);
  /// Whether a version later than this one was deleted a while ago.
  bool was_deleted_later(JobId id, JobVersion version) const;

  // --- ticks
  void set_next_tick(JobEntry& job, std::optional<WallTime> tick);
  /// In order of time.
  auto due() const { return walk(due_); }
  std::size_t due_count() const { return due_.size(); }
  bool is_due(const DueTick& tick) const { return due_.contains(tick); }
  std::optional<DueTick> first_due() const;
  /// The first one that is due later than that.
  std::optional<DueTick> first_due_after(WallTime at) const;
  /// Of the jobs that fire often.
  std::optional<DueTick> first_due_often() const;
  /// A tick to come has its run already.
  void note_taken(JobId id, WallTime tick) { taken_[id].insert(tick); }
  /// The job's next tick that has its run already, if it is due by `end`. Forgets those before its next tick.
  std::optional<WallTime> next_taken(const JobEntry& job, WallTime end);

 private:
  friend struct StateSurgery;          // tests break it on purpose
  void erase(JobId id);
  void count_grace(const JobEntry& job, std::int64_t change);

  std::map<JobId, JobEntry> jobs_;
  std::map<std::pair<std::string, std::string>, JobId> names_;
  std::deque<std::pair<JobId, JobVersion>> newly_deleted_;  ///< bounded by kDeletedMost
  std::set<DueTick> due_;
  std::set<DueTick> due_often_;
  std::map<JobId, std::set<WallTime>> taken_;
  std::map<Millis, std::int64_t> graces_;                   ///< of saved jobs: how many have it
};

}  // namespace rota::master::core
