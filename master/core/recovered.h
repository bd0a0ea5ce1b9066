// What a new Term starts from: everything that decisions need, read from the store after the epoch
// transaction, so that no older Term can change it any more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/model/calendar.h"
#include "common/model/child.h"
#include "common/model/quota.h"
#include "common/model/setting.h"
#include "common/model/scaling.h"
#include "common/model/semaphore.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "common/model/zone.h"
#include "master/core/effect.h"
#include "master/core/kept_rules.h"
#include "master/core/time/watermark.h"

namespace rota::master::core {

struct RecoveredJob {
  model::Job job;
  RulesPtr rules;                                   ///< of the newest version
  model::Zones zone;
  WallTime valid_from{};
  WallTime anchor{};
  std::uint64_t definition_hash = 0;                ///< definition_hash() of the newest version; 0: not known
};

/// The rules of an unfinished run whose version is not the newest of its job.
struct RecoveredRules {
  JobId job;
  JobVersion version = 0;
  RulesPtr rules;
};

struct RecoveredCalendar {
  model::CalendarRow row;
  std::shared_ptr<const model::ZoneRules> zone;     ///< empty: it is not known here
};

/// How many attempts of an unfinished run failed with this exit status; they are among its failures.
struct RecoveredExits {
  RunId run;
  std::int32_t exit_status = 0;        ///< 1 at least
  std::int32_t count = 0;
  auto operator<=>(const RecoveredExits&) const = default;
};

struct Recovered {
  std::optional<Watermark> watermark;               ///< none in a new database
  std::vector<RecoveredJob> jobs;                   ///< not deleted, or with unfinished runs
  std::vector<model::Run> runs;                     ///< unfinished, ordered by id
  std::vector<RecoveredExits> failed_exits;         ///< ordered by run and exit status
  std::vector<RecoveredRules> older_rules;
  std::vector<model::AttemptKey> given_up;          ///< attempts counted as lost without a proof, recent ones
  /// Ticks after the watermark that already have their run, because the ticks were rewound.
  std::vector<std::pair<JobId, WallTime>> taken;
  std::vector<model::WorkerDrain> drains;           ///< in force
  std::vector<model::WorkerHold> holds;             ///< in force
  std::vector<model::WorkerDeath> confirmed;        ///< in force, of lives with attempts
  std::vector<model::Freeze> freezes;               ///< not done, or beyond the watermark
  bool late_rows_known = true;                      ///< see LateRowsKnown
  bool worker_starts_known = true;                  ///< see WorkerStartsKnown
  bool child_runs_known = true;                     ///< see ChildRunsKnown
  std::vector<model::ChildRow> children;            ///< of the unfinished runs of child jobs
  std::vector<model::OwedChildren> children_owed;   ///< by parent
  std::vector<model::SemaphoreRow> semaphores;      ///< of each the newest, also of deleted ones
  std::vector<model::QuotaRow> quotas;              ///< of each the newest
  std::vector<model::SettingRow> settings;          ///< of each the newest
  std::vector<model::WorkerStart> starts;           ///< of each worker and state folder the last
  std::vector<model::Notification> notifications;   ///< open, ordered by id
  std::vector<model::ScaleChange> scaling;          ///< of each pool the newest
  /// What was told of runs that have not ended, of ticks of paused jobs, and of dead workers.
  std::vector<model::LateRow> told;
  std::vector<model::JobPace> paces;
  std::vector<model::ZonePtr> expect_zones;         ///< that `expect.finish_by` of these jobs and runs needs
  std::int64_t zookeeper_number = 0;                ///< of the ZooKeeper in use; grows with each other one
  std::vector<model::WorkerKey> unseen;             ///< lives with attempts that it has never seen
  std::vector<WorkerLife> newest_lives;             ///< of each worker the last, unless it left long ago
  /// By namespace, name and version: those that may count for a tick after the watermark, and the last
  /// version of each deleted one.
  std::vector<RecoveredCalendar> calendars;
  bool database_went_back = false;                  ///< P9: ticks are held until accepted
};

}  // namespace rota::master::core
