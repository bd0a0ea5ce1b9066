// Jobs as the leader knows them: saved ones, and one-off jobs with unfinished runs. Their names, the order in
// which they are due, and how long the longest of them lets a tick be late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "master/core/tables/due_index.h"
#include "master/core/tables/id_set.h"
#include "master/core/tables/name_index.h"
#include "master/core/tables/rules_shelf.h"
#include "master/core/tables/run_table.h"
#include "master/core/tables/walk.h"
#include "master/core/time/schedule.h"

namespace rota::master::core {

inline constexpr std::size_t kDeletedMost = 1000;

/// The row `job` (model::Job), kept small: there may be a million.
class JobFacts {
 public:
  explicit JobFacts(model::Job row);

  JobId id;                            ///< it, space, name and one_off never change
  std::string name;
  JobVersion version = 0;
  model::JobState state = model::JobState::Enabled;
  bool one_off = false;
  WallTime created{};
  WallTime changed{};
  MaybeTime ticks_through;

  const std::string& space() const { return *space_; }
  void set_state(model::JobState to, std::string by, std::string why);
  const model::JobMemory& memory() const { return rare_.get().memory; }
  void set_memory(const model::JobMemory& memory);
  /// Of a one-off job: who submitted it. Empty: everyone.
  const std::string& asked_by() const { return rare_.get().asked_by; }
  void set_asked_by(std::string principal);
  model::Job as_row() const;

 private:
  friend class JobTable;
  std::shared_ptr<const std::string> space_;  ///< shared by the jobs of the namespace
  struct Rare {
    std::string state_by, state_why;
    model::JobMemory memory;
    std::string asked_by = {};
    bool operator==(const Rare&) const = default;
  };
  Seldom<Rare> rare_;
};

/// Unfinished runs of one job.
struct RunsOfJob {
  IdSet<RunId> unfinished;
  IdSet<RunId> behind;                 ///< of these: wait for a run of the same job
  IdSet<RunId> caught_up;              ///< none of these: late ones whose turn has not come (CatchUpTable)
  RunId in_the_way;                    ///< the last skipped ticks found this one in their way
  std::int64_t skipped = 0;            ///< so many in a row
};

/// What decisions need of a job. What an index depends on is read here and changed by JobTable alone.
class JobEntry {
 public:
  /// Without a schedule it never fires.
  JobEntry(model::Job row_in, Plan plan);

  JobFacts row;
  WallTime valid_from{};
  WallTime anchor{};
  std::uint64_t definition_hash = 0;
  Seldom<std::string> last_worker;     ///< round robin: the id that got the last attempt

  const KeptRules& rules() const { return *plan_.rules; }
  const RulesPtr& shared_rules() const { return plan_.rules; }
  const CompiledSchedule& schedule() const { return *plan_.schedule; }
  /// How much later than this tick its run starts.
  Millis jitter_at(WallTime tick) const;
  /// How much later than that the run of this start of a worker begins.
  Millis jitter_at_start(WallTime at, std::string_view start) const;
  std::optional<WallTime> next_tick() const { return next_tick_; }
  /// Without those that wait to be caught up: these stand in nobody's way.
  const IdSet<RunId>& unfinished() const { return runs_.get().unfinished; }
  const IdSet<RunId>& behind() const { return runs_.get().behind; }
  const IdSet<RunId>& caught_up() const { return runs_.get().caught_up; }
  /// Those that wait for none of the others.
  std::size_t under_way() const { return unfinished().size() - behind().size(); }
  /// Ticks in a row that were skipped behind that run.
  std::int64_t skipped_behind(RunId run) const {
    return runs_.get().in_the_way == run ? runs_.get().skipped : 0;
  }
  void note_skipped(RunId behind, std::int64_t ticks) {
    runs_.change().in_the_way = behind;
    runs_.change().skipped = ticks;
  }
  bool has_runs() const { return !unfinished().empty() || !caught_up().empty(); }

 private:
  friend class JobTable;
  friend class State;
  void add_unfinished(RunId run) { runs_.change().unfinished.insert(run); }
  void add_behind(RunId run) { runs_.change().behind.insert(run); }
  void leave_behind(RunId run);
  void drop_unfinished(RunId run);
  void wait_to_catch_up(RunId run);
  void begin_to_catch_up(RunId run);

  Plan plan_;
  MaybeTime next_tick_;
  Seldom<RunsOfJob> runs_;
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
  /// Who changes it plans the next tick anew.
  void set_plan(JobEntry& job, Plan plan);
  /// Rules and the schedule that they make, shared where equal. InvalidArgument as compile() says.
  /// `hash` is the job's (cron_hash.h).
  Result<Plan> plan_of(RulesPtr rules, const model::Zones& zones, WallTime anchor, std::uint64_t hash,
                       const CalendarSource& calendars = {}) {
    return shelf_.plan(shelf_.share(std::move(rules)), zones, anchor, hash, calendars);
  }
  RulesPtr share(RulesPtr rules) { return shelf_.share(std::move(rules)); }
  /// So many saved jobs follow.
  void expect(std::size_t jobs) { names_.reserve(jobs); }
  /// The longest tick_grace of any saved job: what is older is late, whose it may be.
  Millis longest_grace() const { return graces_.empty() ? Millis{0} : graces_.rbegin()->first; }

  // --- names of saved jobs that are not deleted
  JobEntry* find_named(const std::string& space, const std::string& name);
  const JobEntry* find_named(const std::string& space, const std::string& name) const;
  bool has_name(const std::string& space, const std::string& name) const {
    return names_.find(space, name) != nullptr;
  }
  std::size_t named() const { return names_.size(); }
  std::int64_t named_in(const std::string& space) const;
  const std::map<std::string, std::int64_t>& named_by_space() const { return named_in_; }
  /// Whoever has had it is not found by it any more.
  void give_name(JobEntry& job);
  void release_name(const JobEntry& job);
  /// Remembered for a while: who has read its rows before must not bring it back as it was then.
  void note_deleted(const JobEntry& job);
  /// Whether a version later than this one was deleted a while ago.
  bool was_deleted_later(JobId id, JobVersion version) const;

  // --- what its rules remember (memory_rules.h)
  /// It is written with the batch of this event.
  void set_memory(JobEntry& job, const model::JobMemory& memory);
  /// Those whose memory has changed since the last call.
  std::set<JobId> take_changed_memories() { return std::exchange(changed_memories_, {}); }
  /// Jobs that their rules end, and the tick that fired last, if it was that which ended it.
  std::map<JobId, std::optional<WallTime>>& over() { return over_; }
  const std::map<JobId, std::optional<WallTime>>& over() const { return over_; }
  /// The saved jobs whose schedules name that calendar.
  const IdSet<JobId>& users_of(const std::string& space, const std::string& calendar) const;
  /// The saved jobs that use that semaphore.
  const IdSet<JobId>& users_of_semaphore(const std::string& space, const std::string& name) const;
  /// The saved jobs that name that one as a child.
  const IdSet<JobId>& parents_of(const std::string& space, const std::string& name) const;
  using Users = std::map<std::pair<std::string, std::string>, IdSet<JobId>>;
  const Users& calendar_users() const { return users_; }
  /// The saved jobs with an entry `@worker_start`, paused ones too.
  const std::set<JobId>& start_jobs() const { return start_jobs_; }

  // --- ticks
  void set_next_tick(JobEntry& job, std::optional<WallTime> tick);
  /// In order of time.
  const DueIndex& due() const { return due_; }
  std::size_t due_count() const { return due_.size(); }
  bool is_due(const DueTick& tick) const { return due_.contains(tick); }
  std::optional<DueTick> first_due() const;
  /// The first one that is due later than that.
  std::optional<DueTick> first_due_after(WallTime at) const;
  /// Of the jobs that fire often.
  std::optional<DueTick> first_due_often() const;
  /// A tick to come has its run already.
  bool is_taken(JobId id, WallTime tick) const;
  void note_taken(JobId id, WallTime tick) { taken_[id].insert(tick); }
  /// The job's next tick that has its run already, if it is due by `end`. Forgets those through `recorded`,
  /// and no others: the job may be paused, or be edited once more before they come.
  std::optional<WallTime> next_taken(const JobEntry& job, WallTime recorded, WallTime end);

 private:
  friend struct StateSurgery;          // tests break it on purpose
  struct LessText {
    using is_transparent = void;
    static std::string_view text(std::string_view text) { return text; }
    static std::string_view text(const std::shared_ptr<const std::string>& text) { return *text; }
    bool operator()(const auto& a, const auto& b) const { return text(a) < text(b); }
  };
  void share_space(JobFacts& row);
  void erase(JobId id);
  void count_grace(const JobEntry& job, std::int64_t change);
  void note_use(const JobEntry& job, bool uses);
  void count_named(const std::string& space, std::int64_t change);

  std::map<JobId, JobEntry> jobs_;
  NameIndex<JobEntry> names_;
  std::map<std::string, std::int64_t> named_in_;            ///< by namespace; none is 0
  std::set<std::shared_ptr<const std::string>, LessText> spaces_;
  RulesShelf shelf_;
  std::set<JobId> start_jobs_;
  Users semaphore_users_;                                   ///< by namespace and semaphore; none is empty
  Users parents_;                                           ///< by namespace and child; none is empty
  Users users_;                                             ///< by namespace and calendar; none is empty
  std::deque<std::pair<JobId, JobVersion>> newly_deleted_;  ///< bounded by kDeletedMost
  std::set<JobId> changed_memories_;
  std::map<JobId, std::optional<WallTime>> over_;
  DueIndex due_;
  std::set<DueTick> due_often_;
  std::map<JobId, std::set<WallTime>> taken_;
  std::map<Millis, std::int64_t> graces_;                   ///< of saved jobs: how many have it
};

}  // namespace rota::master::core
