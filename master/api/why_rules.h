// The checks that a planned moment, or a run, passes on its way, in their order: which it passed, which
// stopped it, and what helps. From facts that the store and the leader's snapshot have; nothing is stored for
// it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/job.h"
#include "common/model/run.h"
#include "master/api/place_rules.h"
#include "master/api/tick_words.h"

namespace rota::master::api {

/// In the order in which the leader asks.
enum class Step {
  Job,          ///< the job is there
  Paused,
  Due,          ///< its schedule has a tick then
  Calendar,
  Leader,       ///< somebody led
  Held,         ///< ticks of the whole cluster are not held
  Frozen,
  Late,         ///< it was recorded within the job's grace, or `late` lets it fire
  Overlap,      ///< so many runs of the job may be under way
  Firings,      ///< so many runs of the namespace may be unfinished, or begin in a minute
  Start,        ///< its jitter is over; late ones are caught up
  Retry,        ///< the delay after a failed attempt is over
  LastWorker,   ///< the attempt before is surely over
  PoolLimit,
  NamespaceLimit,
  Worker,       ///< one of the pool is here, with its labels
  Handler,      ///< one of them knows the handler
  Open,         ///< one of these takes new runs
  Slot,         ///< a slot is free, and it is this run's turn
  Semaphore,
  Answer,       ///< the worker said that it started
  End
};
inline constexpr std::size_t kSteps = static_cast<std::size_t>(Step::End) + 1;

enum class Verdict { Passed, Stopped, NotReached, NotKnown };

struct Check {
  Step step{};
  Verdict verdict = Verdict::NotReached;
  std::string sentence;
  std::vector<std::string> holders;
  std::string command;
  bool operator==(const Check&) const = default;
};

/// "pool_limit"; docs/why.md lists them.
std::string_view name_of(Step step);
/// "not_reached".
std::string_view name_of(Verdict verdict);

/// The leader that decided, as far as known.
struct DecidedBy {
  Epoch epoch;
  std::string leader;
  std::optional<WallTime> since;       ///< it was in office
};

/// What is known of a run, as the leader has it or else as it is stored.
struct RunWhyFacts {
  model::Run run;                      ///< its progress is the newest that is known
  std::string job_name;
  model::JobRules rules;               ///< of its version
  std::string handler;                 ///< what it runs: "command", or a handler's name
  std::string sentence;                ///< why it is in its state
  std::optional<Place> place;
  std::vector<std::string> holders;    ///< who has what it waits for
  std::string drained_worker;          ///< of those that take nothing: one that an operator drains
  std::string semaphore;               ///< that lacks tokens
  bool is_away = false;                ///< its worker does not answer, or is gone
  std::optional<WallTime> before_wait; ///< of a retry: until when it waits
};

/// Which check a reason to wait, or to have been skipped, belongs to. Empty: to none.
std::optional<Step> step_of(model::Reason reason);

/// From `Overlap` on: what stands before is about the moment.
std::vector<Check> checks_of_run(const RunWhyFacts& facts);

/// What is known of a moment beside TickFacts.
struct MomentFacts {
  std::string space, job_name;
  std::optional<DecidedBy> by;         ///< of its run, or of its gap
  std::string hold;                    ///< why ticks are held now; empty: they are not
  bool is_hold_known = true;           ///< false: no leader could be asked
  Millis grace{0};                     ///< of the version that was valid then
};

/// Up to `Firings`; of a moment that fired, what stands behind are the checks of its run.
std::vector<Check> checks_of_moment(const TickFacts& tick, const MomentFacts& facts);

/// What follows `before`, without what both have.
std::vector<Check> joined(std::vector<Check> before, std::vector<Check> behind);

/// No leader was in office at that moment: the one that decided came later.
bool was_leaderless(WallTime at, const DecidedBy& by);

}  // namespace rota::master::api
