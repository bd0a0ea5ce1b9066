// Jobs, their versions and worker lives as rows: the columns, in one order for writing and reading.
#pragma once

#include "common/base/result.h"
#include "common/model/job.h"
#include "master/core/effect.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/contents.h"
#include "master/store/mysql/multi_row.h"

namespace rota::master::store {

/// Columns of a job for read_job, of the table under the alias j; of a version for read_version, under v,
/// with its job under j and kJoinContent (contents.h).
inline constexpr std::string_view kJobColumns =
    "j.job_id, j.namespace, j.name, j.version, j.state, j.one_off, j.state_by, j.state_why, "
    "j.created_ms, j.changed_ms, j.ticks_through_ms, j.fired_ticks, j.failures_in_row, j.due_after_end_ms, "
    "j.over_since_ms";
inline constexpr std::string_view kVersionColumns =
    "v.job_id, v.version, v.valid_from_ms, v.valid_to_ms, v.anchor_ms, v.enabled, v.principal, "
    "j.namespace, j.name, IF(v.content_hash IS NULL, v.definition, d.body)";
/// "… job_version v" of these.
inline constexpr std::string_view kVersionsOfJobs =
    "job_version v JOIN job j ON j.job_id = v.job_id LEFT JOIN definition d ON d.hash = v.content_hash";
inline constexpr std::string_view kLifeColumns =
    "worker_id, incarnation, host, port, pool, joined_ms, left_ms, why_left, seen_in, forgotten, slots, "
    "offers";
inline constexpr std::string_view kDrainColumns =
    "worker_id, draining, deadline_ms, principal, why, changed_ms";

/// Of the table under the alias w, for read_watermark; all are null where there is no row.
inline constexpr std::string_view kWatermarkColumns = "w.value_ms, w.reaching_ms, w.job_id";

/// Inserted, or all that may change of it set. A row of another id is never touched: a second saved job
/// of one name leaves the first as it is, and no row of its own.
extern const MultiRow kUpsertJobs;
void bind_job(Binder& binder, const model::Job& job);

/// With its definition: inserted, or valid_to set.
extern const MultiRow kUpsertVersions;
void bind_version(Binder& binder, const model::JobVersionRow& version, const ContentTexts& texts);

/// Without its definition: valid_to set, or inserted with the definition of the version before it.
extern const std::string kCloseOrCarryVersion;
void bind_close_or_carry(Binder& binder, const model::JobVersionRow& version);

extern const MultiRow kUpsertLives;
void bind_life(Binder& binder, const core::WorkerLife& life);

/// Of the table under the alias d.
inline constexpr std::string_view kDeathColumns =
    "d.worker_id, d.incarnation, d.principal, d.why, d.epoch, d.confirmed_ms, d.came_back_ms";
extern const MultiRow kUpsertDeaths;
void bind_death(Binder& binder, const model::WorkerDeath& death);
model::WorkerDeath read_death(Row& row);

inline constexpr std::string_view kFreezeColumns =
    "freeze_id, namespace, from_ms, until_ms, ended_ms, principal, why, thawed_job, done";
extern const MultiRow kUpsertFreezes;
void bind_freeze(Binder& binder, const model::Freeze& freeze);
model::Freeze read_freeze(Row& row);

/// Of the table under the alias s.
inline constexpr std::string_view kStartColumns =
    "s.worker_id, s.start_id, s.home, s.pool, s.accepted_ms, s.start_number";
extern const MultiRow kInsertStarts;
void bind_start(Binder& binder, const model::WorkerStart& start);
model::WorkerStart read_start(Row& row);

extern const MultiRow kUpsertDrains;
void bind_drain(Binder& binder, const model::WorkerDrain& drain);

/// Whether its name is taken among the saved jobs.
bool holds_its_name(const model::Job& job);

/// Corrupt when a name in the row is none that this program knows, or a definition is missing.
Result<model::Job> read_job(Row& row);
Result<model::JobVersionRow> read_version(Row& row);
core::WorkerLife read_life(Row& row);
std::optional<core::Watermark> read_watermark(Row& row);
model::WorkerDrain read_drain(Row& row);

}  // namespace rota::master::store
