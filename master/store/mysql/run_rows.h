// Runs, attempts and gaps as rows: the columns, in one order for writing and for reading.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/run.h"
#include "master/core/effect.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/multi_row.h"

namespace rota::master::store {

/// All columns of a run for read_run, of `run` under the alias r and run_open under the alias o, where a
/// dispatch may stand alone (kept_runs.h).
extern const std::string kRunColumns;
inline const std::string kWithOpen = "LEFT JOIN run_open o ON o.run_id = r.run_id ";
/// What is true of the run, of both.
inline constexpr std::string_view kRunState = "IF(o.attempt > 0, 'dispatched', r.state)";
inline constexpr std::string_view kRunWorker = "IF(o.attempt > 0, o.worker_id, r.worker_id)";
inline constexpr std::string_view kRunIncarnation =
    "IF(o.attempt > 0, o.worker_incarnation, r.worker_incarnation)";
extern const std::string kAttemptColumns;
inline constexpr std::string_view kGapColumns =
    "job_id, job_version, from_ms, to_ms, tick_count, reason, reference, epoch";
/// The states of runs that are not final, as a list for IN.
extern const std::string kUnfinishedStates;

/// A new run without an outcome (an outcome follows as an update). A repeat changes nothing.
extern const MultiRow kInsertRuns;
void bind_new_run(Binder& binder, const model::Run& run, const std::string* parameters_json);
/// The same of runs that nothing happened to yet, but that they may have a worker: each value that is bound
/// costs, and most new runs are such.
extern const MultiRow kInsertYoungRuns;
bool is_young(const model::RunProgress& progress);
void bind_young_run(Binder& binder, const model::Run& run, const std::string* parameters_json);

/// The same of runs that wait for their first worker, without parameters of their own.
extern const MultiRow kInsertBareRuns;
bool is_bare(const model::Run& run);
void bind_bare_run(Binder& binder, const model::Run& run);

/// The part of a run that changes, to absolute values, without and with an outcome.
extern const MultiRow kUpdateRuns;
extern const MultiRow kUpdateRunsWithOutcome;
/// The same of runs that succeeded with nothing to say about it, as most do: half as many values.
extern const MultiRow kUpdateSucceededRuns;
bool is_plain_success(const model::RunProgress& progress);
void bind_success(Binder& binder, RunId id, const model::RunProgress& progress);
/// The same of many that have much in common: that stands once, in the end of the statement. Each row ends
/// with state and reason, which have no default.
struct AlikeForm {
  std::string_view head;
  int columns = 0;
  std::string_view tail;
  void (*bind_tail)(Binder& binder, const model::RunProgress& progress);
  void (*bind_row)(Binder& binder, RunId id, const model::RunProgress& progress);
};
/// Of those that share attempt, worker, epoch and exit status, and whose attempts began when their runs did.
extern const AlikeForm kAlikeSuccesses;
bool has_one_start(const model::RunProgress& progress);
void bind_set_alike_success(Binder& binder, const model::RunProgress& progress);
void bind_alike_success(Binder& binder, RunId id, const model::RunProgress& progress);
/// Of those that also printed and used the same, mostly nothing, and ended when their attempts did.
extern const AlikeForm kAlikeCosts;
bool has_one_end(const model::RunProgress& progress);
void bind_set_alike_costs(Binder& binder, const model::RunProgress& progress);
void bind_alike_costs(Binder& binder, RunId id, const model::RunProgress& progress);
/// The first dispatch of many runs at once, into run_open. When no attempt was before, neither a start nor an
/// outcome nor a loss stands in their own rows.
extern const std::string kDispatchApart;
bool is_first_dispatch(const model::RunProgress& progress);
void bind_first_dispatch(Binder& binder, const model::RunProgress& progress);
/// The same without an outcome, for many runs at once: the progress, then "(?, …)" with their ids.
extern const std::string kUpdateRunsAlike;
void bind_progress_alike(Binder& binder, const model::RunProgress& progress);
void bind_progress(Binder& binder, RunId id, const model::RunProgress& progress);
void bind_outcome(Binder& binder, const model::Outcome& outcome);

extern const MultiRow kUpsertAttempts;
void bind_attempt(Binder& binder, const model::AttemptRow& attempt);

/// A run's note: what is set replaces what stands.
extern const MultiRow kUpsertNotes;
void bind_note(Binder& binder, const model::RunNote& note);
inline constexpr std::string_view kNoteColumns =
    "run_id, attempt, said_ms, percent, progress_text, checkpoint_attempt, checkpoint_ms, checkpoint";
Result<model::RunNote> read_note(Row& row);

extern const MultiRow kInsertGaps;
void bind_gap(Binder& binder, const model::Gap& gap);

/// "1,2,3" for an IN of a statement as text; "0" for none.
std::string run_numbers(const std::vector<RunId>& runs);

/// Corrupt when a name in the row is none that this program knows.
Result<model::Run> read_run(Row& row);
Result<model::AttemptRow> read_attempt(Row& row);
Result<model::Gap> read_gap(Row& row);

/// Whether anything is known of how it ended.
inline bool has_outcome(const model::Outcome& outcome) { return outcome != model::Outcome{}; }

}  // namespace rota::master::store
