// The tables of MemoryStore, and what a batch does to them. Also the rows of the simulator's database, so
// that both take and refuse the same batches.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/model/node_minute.h"
#include "master/core/effect.h"
#include "master/core/recovered.h"
#include "master/store/log_store.h"
#include "master/store/rewind.h"
#include "master/store/store.h"
#include "master/store/zone_source.h"

namespace rota::master::store {

/// Job, run, tick (0: none), kind and worker.
using LateKey = std::tuple<JobId, RunId, std::int64_t, model::ToldOnce, std::string>;
inline LateKey key_of(const model::LateRow& row) {
  return {row.job, row.run, row.tick ? to_ms(*row.tick) : 0, row.what, row.worker};
}

struct MemoryTables {
  Epoch epoch;
  std::string cluster_uuid;
  Holder holder;
  std::map<Epoch, std::pair<Holder, WallTime>> terms;  ///< when each began; 0: the store has no clock
  std::optional<KnownZookeeper> zookeeper;
  std::int64_t beats = 0;
  Millis longest_grant{0};
  std::optional<core::Watermark> watermark;
  std::map<JobId, model::Job> jobs;
  std::map<std::pair<JobId, JobVersion>, model::JobVersionRow> versions;
  std::map<RunId, model::Run> runs;
  std::map<std::pair<JobId, WallTime>, RunId> run_of_tick;
  std::map<std::pair<std::string, std::string>, RunId> run_of_key;  ///< (principal, key)
  std::map<std::pair<std::string, std::string>, JobId> job_of_name; ///< (namespace, name), saved ones
  std::map<std::pair<RunId, AttemptNo>, model::AttemptRow> attempts;
  std::map<RunId, model::RunNote> notes;
  std::map<std::tuple<JobId, JobVersion, WallTime>, model::Gap> gaps;
  std::map<model::WorkerKey, core::WorkerLife> lives;
  std::map<std::string, model::WorkerDrain> drains;
  std::map<model::WorkerKey, model::WorkerDeath> deaths;
  std::map<std::tuple<std::string, std::string, std::int32_t>, model::CalendarRow> calendars;
  std::map<std::tuple<std::string, std::string, std::int32_t>, model::SemaphoreRow> semaphores;
  std::map<std::tuple<model::QuotaOf, std::string, std::int32_t>, model::QuotaRow> quotas;
  std::map<std::pair<std::string, std::int32_t>, model::SettingRow> settings;  ///< by name and version
  std::map<std::int64_t, model::Notification> notifications;
  std::map<std::int64_t, model::ScaleChange> scaling;
  std::map<std::pair<Epoch, std::string>, model::ReceiverRow> receivers;
  std::map<LateKey, model::LateRow> late;
  std::map<JobId, model::JobPace> paces;
  std::map<std::int64_t, model::Freeze> freezes;
  std::map<std::int64_t, model::WorkerHold> holds;
  std::map<std::tuple<std::string, WallTime, Epoch>, model::WorkerMinute> worker_minutes;
  std::map<std::tuple<std::string, WallTime, Epoch>, model::PoolMinute> pool_minutes;
  std::map<model::StartKey, model::WorkerStart> starts;
  std::map<std::pair<RunId, std::string>, model::ChildRow> children;  ///< by parent and name
  std::map<RunId, model::OwedChildren> children_owed;
  std::map<std::tuple<model::AttemptKey, LogStream, std::int64_t>, LogChunk> chunks;
  std::map<RunId, WallTime> pruned;
  RunId runs_gone_through;          ///< retention may have deleted runs up to this one
  std::vector<PastRewind> rewinds;
  std::map<JobId, WallTime> gone;   ///< up to here retention may have deleted rows of ticks
};

/// Of each setting that was ever set the newest, by name.
std::vector<model::SettingRow> newest_settings_in(const MemoryTables& tables);
/// The highest number of a change; 0: none was ever set.
std::int64_t newest_setting_number(const MemoryTables& tables);
/// Of each pool and namespace with limits the newest, by name.
std::vector<model::QuotaRow> newest_quotas_in(const MemoryTables& tables);
/// The same, with all versions of those that ever had default times.
std::vector<model::QuotaRow> quotas_of_term_in(const MemoryTables& tables);

/// Whether the batch fits what stands, as unique keys and foreign rows demand; rows that stand already are
/// fine. AlreadyExists, NotFound.
Result<void> check_changes(const MemoryTables& tables, const core::Changes& changes);

/// What is checked is put, all of it or part by part in this order.
void put_changes(MemoryTables& tables, const core::Changes& changes);
void put_definitions(MemoryTables& tables, const core::Changes& changes);  ///< jobs, versions
void put_new_runs(MemoryTables& tables, const core::Changes& changes);
void put_update(MemoryTables& tables, const core::RunUpdate& update);
void put_the_rest(MemoryTables& tables, const core::Changes& changes);

/// Attempts that are stored for a worker and have not ended.
std::int64_t held_in(const MemoryTables& tables);

/// What a takeover writes. Conflict: the epoch is not higher.
Result<void> put_claim(MemoryTables& tables, const Claim& claim);
std::vector<model::Gap> gaps_beyond(const MemoryTables& tables, WallTime moment);
/// Conflict: another epoch or watermark stands.
Result<void> put_rewind(MemoryTables& tables, const Rewind& rewind);

/// What a new Term starts from.
Result<core::Recovered> recover_from(const MemoryTables& tables, const ZoneSource& zones);

}  // namespace rota::master::store
