#include "master/store/mysql/mysql_recovery.h"

#include "master/store/mysql/mysql_rewind.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "master/store/calendars.h"
#include "master/store/mysql/calendar_rows.h"
#include "master/store/mysql/child_rows.h"
#include "master/store/mysql/quota_rows.h"
#include "master/store/mysql/hold_rows.h"
#include "master/store/expect_zones.h"
#include "master/store/mysql/late_told_rows.h"
#include "master/store/mysql/notification_rows.h"
#include "master/store/mysql/scale_rows.h"
#include "master/store/mysql/semaphore_rows.h"
#include "master/store/mysql/setting_rows.h"
#include "master/store/mysql/content_cache.h"
#include "master/store/mysql/contents.h"
#include "master/store/mysql/job_loading.h"
#include "master/store/mysql/job_rows.h"
#include "master/store/mysql/kept_runs.h"
#include "master/store/mysql/late_rows.h"
#include "master/store/newest_lives.h"
#include "master/store/mysql/run_rows.h"
#include "master/store/store.h"

namespace rota::master::store {
namespace {

/// What was promised to unfinished runs of versions that have been edited since.
Result<std::vector<core::RecoveredRules>> load_older_rules(Connection& connection,
                                                            const std::string& open_runs) {
  std::vector<core::RecoveredRules> all;
  RulesReader reader;
  auto read = connection.stream(
      fmt::format("SELECT u.job_id, u.job_version, {} "
                  "FROM (SELECT DISTINCT r.job_id, r.job_version FROM {} WHERE r.state IN ({})) u "
                  "JOIN job j ON j.job_id = u.job_id "
                  "JOIN job_version v ON v.job_id = u.job_id AND v.version = u.job_version {} "
                  "WHERE u.job_version <> j.version",
                  rules_of_version(), open_runs, kUnfinishedStates, kJoinContent),
      [&](Row& row) -> Result<void> {
        core::RecoveredRules one;
        one.job = JobId{row.integer()};
        one.version = static_cast<JobVersion>(row.integer());
        const auto text = row.maybe_text();
        if (!text) return fail(ErrorCode::Corrupt, std::string(kMissingContent));
        auto rules = reader.read(*text);
        if (!rules) return fail(rules.error());
        one.rules = std::make_shared<const core::KeptRules>(std::move(*rules));
        all.push_back(std::move(one));
        return {};
      });
  if (!read) return fail(read.error());
  return all;
}

/// The leader gives an attempt up without knowing when it started: outcome_started_ms is 0. A worker that
/// reports a loss itself knows it, and has proven the loss.
constexpr std::string_view kGivenUp = "outcome_reason = 'worker_lost' AND t.outcome_started_ms = 0";

/// Attempts that another one followed, and the last attempts of lost runs whose late result has not come
/// yet. By the primary key, and by the state of those that ended badly: a long history does not slow a
/// takeover down.
Result<std::vector<model::AttemptKey>> load_given_up(Connection& connection, const KeptRuns& kept) {
  const std::string followed = fmt::format(
      "SELECT t.run_id, t.attempt FROM (SELECT run_id, attempt, late, outcome_state, outcome_reason, "
      "outcome_started_ms FROM attempt ORDER BY run_id DESC, attempt DESC LIMIT {}) t "
      "WHERE t.late = 0 AND t.outcome_state = 'lost' AND t.{}",
      kGivenUpAttempts, kGivenUp);
  const std::string last = fmt::format(
      "SELECT t.run_id, t.attempt FROM (SELECT r.run_id, r.attempt, r.outcome_reason, r.outcome_started_ms "
      "FROM {} r.state = 'lost' ORDER BY r.run_id DESC LIMIT {}) t "
      "LEFT JOIN attempt a ON a.run_id = t.run_id AND a.attempt = t.attempt "
      "WHERE a.run_id IS NULL AND t.{}",
      kept.ended ? "run_unsuccessful n STRAIGHT_JOIN run r ON r.run_id = n.run_id WHERE n.state = 'lost' AND"
                 : "run r WHERE",
      kGivenUpLostRuns, kGivenUp);
  std::vector<model::AttemptKey> keys;
  for (const std::string& sql : {followed, last}) {
    auto read = connection.stream(sql, [&](Row& row) -> Result<void> {
      const RunId run{row.integer()};
      keys.push_back({run, static_cast<AttemptNo>(row.integer())});
      return {};
    });
    if (!read) return fail(read.error());
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

Result<std::vector<model::Run>> load_unfinished(Connection& connection, const std::string& open_runs) {
  std::vector<model::Run> runs;
  auto read = connection.stream(
      fmt::format("SELECT {} FROM {} WHERE r.state IN ({}) ORDER BY r.run_id", kRunColumns, open_runs,
                  kUnfinishedStates),
      [&](Row& row) -> Result<void> {
        auto run = read_run(row);
        if (!run) return fail(run.error());
        runs.push_back(std::move(*run));
        return {};
      });
  if (!read) return fail(read.error());
  return runs;
}

/// Of the unfinished runs (ordered by id): failed attempts, which count against their retry rule, by exit
/// status; and when the first attempt was dispatched. The few unfinished runs lead to their attempts, never
/// the long history to its runs.
Result<void> load_past_attempts(Connection& connection, core::Recovered& recovered,
                                const std::string& open_runs) {
  return connection.stream(
      fmt::format("SELECT a.run_id, {0}, COALESCE(a.exit_status, -1), COUNT(*), MIN(a.dispatched_ms) "
                  "FROM {1} STRAIGHT_JOIN attempt a ON a.run_id = r.run_id "
                  "WHERE r.state IN ({2}) AND r.attempt > 0 "
                  "GROUP BY a.run_id, {0}, COALESCE(a.exit_status, -1) ORDER BY 1, 3",
                  "CASE WHEN a.late = 0 THEN COALESCE(a.outcome_state, '') ELSE '' END",
                  open_runs, kUnfinishedStates),
      [&](Row& row) -> Result<void> {
        const RunId id{row.integer()};
        const std::string state = row.text();
        const auto exit_status = static_cast<std::int32_t>(row.integer());
        const auto count = static_cast<std::int32_t>(row.integer());
        const auto at = std::ranges::lower_bound(recovered.runs, id, {}, &model::Run::id);
        if (at == recovered.runs.end() || at->id != id) return {};
        const auto first = row.maybe_time();
        auto& known = at->progress.first_dispatched;
        if (first && (!known || *first < *known)) known = first;
        if (state == "failed" || state == "timed_out") at->progress.failures += count;
        if (state == "failed" && exit_status > 0) recovered.failed_exits.push_back({id, exit_status, count});
        return {};
      });
}

Result<std::vector<model::WorkerDrain>> load_drains(Connection& connection) {
  std::vector<model::WorkerDrain> drains;
  auto read = connection.stream(
      fmt::format("SELECT {} FROM worker_drain WHERE draining = 1 ORDER BY worker_id", kDrainColumns),
      [&](Row& row) -> Result<void> {
        drains.push_back(read_drain(row));
        return {};
      });
  if (!read) return fail(read.error());
  return drains;
}

Result<std::vector<model::Freeze>> load_freezes(Connection& connection,
                                                std::optional<WallTime> through) {
  std::vector<model::Freeze> freezes;
  auto read = connection.stream(
      fmt::format("SELECT {} FROM freeze WHERE done = 0 OR COALESCE(ended_ms, until_ms) > {} "
                  "ORDER BY freeze_id", kFreezeColumns, through ? to_ms(*through) : INT64_MAX),
      [&](Row& row) -> Result<void> {
        freezes.push_back(read_freeze(row));
        return {};
      });
  if (!read) return fail(read.error());
  return freezes;
}

Result<std::vector<core::WorkerLife>> load_newest_lives(Connection& connection) {
  std::vector<core::WorkerLife> lives;
  auto read = connection.stream(
      fmt::format("SELECT {} FROM worker_life JOIN (SELECT worker_id AS id, MAX(joined_ms) AS newest "
                  "FROM worker_life GROUP BY worker_id) n ON n.id = worker_id AND n.newest = joined_ms "
                  "ORDER BY left_ms IS NULL DESC, left_ms DESC LIMIT {}",
                  kLifeColumns, kNewestLivesMost),
      [&](Row& row) -> Result<void> {
        lives.push_back(read_life(row));
        return {};
      });
  if (!read) return fail(read.error());
  return newest_of_each(std::move(lives));
}

/// Of each worker and state folder the last one that was accepted.
Result<std::vector<model::WorkerStart>> load_newest_starts(Connection& connection) {
  std::vector<model::WorkerStart> starts;
  auto read = connection.stream(
      fmt::format("SELECT {} FROM worker_start s JOIN (SELECT worker_id AS id, home AS folder, "
                  "MAX(start_number) AS newest FROM worker_start GROUP BY worker_id, home) n "
                  "ON n.id = s.worker_id AND n.folder = s.home AND n.newest = s.start_number "
                  "ORDER BY s.start_number DESC LIMIT {}",
                  kStartColumns, kNewestStartsMost),
      [&](Row& row) -> Result<void> {
        starts.push_back(read_start(row));
        return {};
      });
  if (!read) return fail(read.error());
  return starts;
}

/// Starts from the few attempts that are under way, never from a long history of deaths.
Result<std::vector<model::WorkerDeath>> load_confirmed(Connection& connection,
                                                       const std::string& open_runs) {
  std::vector<model::WorkerDeath> deaths;
  auto read = connection.stream(
      fmt::format("SELECT DISTINCT {} FROM {} STRAIGHT_JOIN worker_death d ON d.worker_id = {} "
                  "AND d.incarnation = {} WHERE {} IN ('dispatched', 'running') "
                  "AND d.came_back_ms IS NULL ORDER BY d.worker_id, d.incarnation",
                  kDeathColumns, open_runs, kRunWorker, kRunIncarnation, kRunState),
      [&](Row& row) -> Result<void> {
        deaths.push_back(read_death(row));
        return {};
      });
  if (!read) return fail(read.error());
  return deaths;
}

/// Which ZooKeeper this is, and the lives with attempts that it has not seen since it is another one.
Result<void> load_unseen(Connection& connection, core::Recovered& recovered, const std::string& open_runs) {
  std::int64_t below = 0;
  auto known = connection.stream("SELECT number, wait_below FROM zookeeper WHERE one = 1",
                                 [&](Row& row) -> Result<void> {
                                   recovered.zookeeper_number = row.integer();
                                   below = row.integer();
                                   return {};
                                 });
  if (!known || below == 0) return known;
  return connection.stream(
      fmt::format("SELECT DISTINCT {0} AS id, {1} AS incarnation FROM {2} LEFT JOIN worker_life l "
                  "ON l.worker_id = {0} AND l.incarnation = {1} "
                  "WHERE {3} IN ('dispatched', 'running') AND COALESCE(l.seen_in, 0) < {4} ORDER BY 1, 2",
                  kRunWorker, kRunIncarnation, open_runs, kRunState, below),
      [&](Row& row) -> Result<void> {
        std::string id = row.text();
        recovered.unseen.push_back({std::move(id), row.text()});
        return {};
      });
}

Result<std::vector<model::CalendarRow>> load_calendars(Connection& connection) {
  std::vector<model::CalendarRow> rows;
  auto read = connection.stream(
      fmt::format("SELECT {} FROM calendar c ORDER BY c.namespace, c.name, c.version", kCalendarColumns),
      [&](Row& row) -> Result<void> {
        auto one = read_calendar(row);
        if (!one) return fail(one.error());
        rows.push_back(std::move(*one));
        return {};
      });
  if (!read) return fail(read.error());
  return rows;
}

Result<void> load_quotas(Connection& connection, core::Recovered& recovered) {
  return connection.stream(fmt::format("SELECT {} {}", kQuotaColumns, kQuotasOfTerm),
                           [&](Row& row) -> Result<void> {
                             auto one = read_quota(row);
                             if (!one) return fail(one.error());
                             recovered.quotas.push_back(std::move(*one));
                             return {};
                           });
}

Result<void> load_settings(Connection& connection, core::Recovered& recovered) {
  return connection.stream(fmt::format("SELECT {} {}", kSettingColumns, kNewestSettings),
                           [&](Row& row) -> Result<void> {
                             auto one = read_setting(row);
                             if (!one) return fail(one.error());
                             recovered.settings.push_back(std::move(*one));
                             return {};
                           });
}

Result<void> load_semaphores(Connection& connection, core::Recovered& recovered) {
  return connection.stream(fmt::format("SELECT {} {}", kSemaphoreColumns, kNewestSemaphores),
                           [&](Row& row) -> Result<void> {
                             auto one = read_semaphore(row);
                             if (!one) return fail(one.error());
                             recovered.semaphores.push_back(std::move(*one));
                             return {};
                           });
}

Result<void> load_holds(Connection& connection, core::Recovered& recovered) {
  return connection.stream(
      fmt::format("SELECT {} FROM worker_hold h WHERE h.ended_ms IS NULL ORDER BY h.hold_number",
                  kHoldColumns),
      [&](Row& row) -> Result<void> {
        auto one = read_hold(row);
        if (!one) return fail(one.error());
        recovered.holds.push_back(std::move(*one));
        return {};
      });
}

Result<void> load_notifications(Connection& connection, core::Recovered& recovered) {
  return connection.stream(
      fmt::format("SELECT {} FROM notification n WHERE n.state = 'open' ORDER BY n.id", kNotificationColumns),
      [&](Row& row) -> Result<void> {
        auto one = read_notification(row);
        if (!one) return fail(one.error());
        recovered.notifications.push_back(std::move(*one));
        return {};
      });
}

Result<void> load_scaling(Connection& connection, core::Recovered& recovered) {
  return connection.stream(fmt::format("SELECT {} {}", kScaleColumns, kNewestScaling),
                           [&](Row& row) -> Result<void> {
                             auto one = read_scale_change(row);
                             if (!one) return fail(one.error());
                             recovered.scaling.push_back(std::move(*one));
                             return {};
                           });
}

/// Of the few unfinished runs of child jobs, and what is owed.
Result<void> load_children(Connection& connection, core::Recovered& recovered, const std::string& open_runs) {
  const auto known = are_known(connection, kChildRunRows);
  if (!known) return fail(known.error());
  recovered.child_runs_known = *known;
  auto read = connection.stream(
      fmt::format("SELECT {} FROM {} STRAIGHT_JOIN run_child c ON c.run_id = r.run_id WHERE r.state IN ({}) "
                  "AND r.kind = 'child' ORDER BY c.run_id",
                  kChildColumns, open_runs, kUnfinishedStates),
      [&](Row& row) -> Result<void> {
        auto one = read_child(row);
        if (!one) return fail(one.error());
        recovered.children.push_back(std::move(*one));
        return {};
      });
  if (!read) return read;
  return connection.stream(fmt::format("SELECT {} FROM child_owed w ORDER BY w.parent_id", kOwedColumns),
                           [&](Row& row) -> Result<void> {
                             auto one = read_owed(row);
                             if (!one) return fail(one.error());
                             recovered.children_owed.push_back(std::move(*one));
                             return {};
                           });
}

Result<std::optional<core::Watermark>> load_watermark(Connection& connection) {
  std::optional<core::Watermark> watermark;
  auto read = connection.stream(
      fmt::format("SELECT {} FROM watermark w WHERE w.partition_no = 1", kWatermarkColumns),
      [&](Row& row) -> Result<void> {
        watermark = read_watermark(row);
        return {};
      });
  if (!read) return fail(read.error());
  return watermark;
}

}  // namespace

Result<core::Recovered> load_recovered(Connection& connection, const OpenConnection& another,
                                       const ZoneSource& zones, const ContentCache& ahead) {
  core::Recovered recovered;
  auto watermark = load_watermark(connection);
  if (!watermark) return fail(watermark.error());
  recovered.watermark = *watermark;
  const auto kept = look_at_kept_runs(connection);
  if (!kept) return fail(kept.error());
  const std::string open_runs = from_open_runs(*kept);
  auto jobs = load_jobs(connection, {{another, kept->epoch}, zones, ahead}, open_runs);
  if (!jobs) return fail(jobs.error());
  recovered.jobs = std::move(*jobs);
  auto runs = load_unfinished(connection, open_runs);
  if (!runs) return fail(runs.error());
  recovered.runs = std::move(*runs);
  auto counted = load_past_attempts(connection, recovered, open_runs);
  if (!counted) return fail(counted.error());
  auto older = load_older_rules(connection, open_runs);
  if (!older) return fail(older.error());
  recovered.older_rules = std::move(*older);
  const auto through = recovered.watermark ? std::optional(recovered.watermark->through) : std::nullopt;
  auto taken = load_taken(connection, through);
  if (!taken) return fail(taken.error());
  recovered.taken = std::move(*taken);
  auto given_up = load_given_up(connection, *kept);
  if (!given_up) return fail(given_up.error());
  recovered.given_up = std::move(*given_up);
  auto unseen = load_unseen(connection, recovered, open_runs);
  if (!unseen) return fail(unseen.error());
  auto drains = load_drains(connection);
  if (!drains) return fail(drains.error());
  recovered.drains = std::move(*drains);
  auto freezes = load_freezes(connection, through);
  if (!freezes) return fail(freezes.error());
  recovered.freezes = std::move(*freezes);
  auto lives = load_newest_lives(connection);
  if (!lives) return fail(lives.error());
  recovered.newest_lives = std::move(*lives);
  auto confirmed = load_confirmed(connection, open_runs);
  if (!confirmed) return fail(confirmed.error());
  recovered.confirmed = std::move(*confirmed);
  const auto late_known = are_known(connection, kLateRows);
  if (!late_known) return fail(late_known.error());
  recovered.late_rows_known = *late_known;
  const auto starts_known = are_known(connection, kWorkerStartRows);
  if (!starts_known) return fail(starts_known.error());
  recovered.worker_starts_known = *starts_known;
  auto starts = load_newest_starts(connection);
  if (!starts) return fail(starts.error());
  recovered.starts = std::move(*starts);
  if (auto read = load_children(connection, recovered, open_runs); !read) return fail(read.error());
  auto calendars = load_calendars(connection);
  if (!calendars) return fail(calendars.error());
  recovered.calendars = calendars_to_recover(std::move(*calendars), recovered, zones);
  if (auto quotas = load_quotas(connection, recovered); !quotas) return fail(quotas.error());
  if (auto settings = load_settings(connection, recovered); !settings) return fail(settings.error());
  if (auto semaphores = load_semaphores(connection, recovered); !semaphores) return fail(semaphores.error());
  if (auto holds = load_holds(connection, recovered); !holds) return fail(holds.error());
  if (auto told = load_notifications(connection, recovered); !told) return fail(told.error());
  if (auto scaling = load_scaling(connection, recovered); !scaling) return fail(scaling.error());
  if (auto told = load_told(connection, recovered, open_runs); !told) return fail(told.error());
  find_expect_zones(recovered, zones);
  return recovered;
}

}  // namespace rota::master::store
