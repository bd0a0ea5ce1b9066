#include "master/store/mysql_office.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "common/base/log.h"
#include "common/wire/definition_json.h"
#include "master/store/connection.h"
#include "master/store/job_rows.h"
#include "master/store/mysql_errors.h"
#include "master/store/run_rows.h"

namespace rota::master::store {
namespace {

constexpr std::string_view kNowMs = "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)";

/// Jobs that share their rules share one object: most of a million jobs have few distinct ones.
class RulesCache {
 public:
  explicit RulesCache(const ZoneSource& zones) : zones_(zones) {}

  Result<void> fill(core::RecoveredJob& job, const std::string& json) {
    auto found = known_.find(json);
    if (found == known_.end()) {
      auto made = make(json);
      if (!made) return fail(made.error());
      found = known_.emplace(json, std::move(*made)).first;
    }
    job.rules = found->second.rules;
    job.zone = found->second.zone;
    return {};
  }

 private:
  struct Entry {
    std::shared_ptr<const model::JobRules> rules;
    std::shared_ptr<const model::ZoneRules> zone;
  };

  Result<Entry> make(const std::string& json) {
    auto rules = wire::rules_from_json(json);
    if (!rules) return fail(rules.error());
    auto zone = zones_(rules->schedule.time_zone);
    const bool needs_zone = rules->schedule.kind == model::ScheduleKind::Cron;
    if (!zone && needs_zone) return fail(ErrorCode::Unsupported, zone.error().message);
    return Entry{std::make_shared<const model::JobRules>(std::move(*rules)),
                 zone ? *zone : nullptr};
  }

  const ZoneSource& zones_;
  std::unordered_map<std::string, Entry> known_;
};

Result<void> load_jobs(Connection& connection, const std::string& from_where, RulesCache& rules,
                       std::vector<core::RecoveredJob>& out) {
  const std::string sql = fmt::format("SELECT {}, v.valid_from_ms, v.anchor_ms, v.rules {}", kJobColumns,
                                      from_where);
  return connection.stream(sql, [&](Row& row) -> Result<void> {
    core::RecoveredJob job;
    auto read = read_job(row);
    if (!read) return fail(read.error());
    job.job = std::move(*read);
    job.valid_from = row.time();
    job.anchor = row.time();
    if (auto filled = rules.fill(job, row.text()); !filled) {
      return fail(filled.error().code, fmt::format("job {} ('{}'): {}", job.job.id.value, job.job.name,
                                                   filled.error().message));
    }
    out.push_back(std::move(job));
    return {};
  });
}

/// Saved jobs, and those of no name any more (one-offs, deleted) that still have unfinished runs.
Result<std::vector<core::RecoveredJob>> load_all_jobs(Connection& connection, const ZoneSource& zones) {
  const std::string joined =
      "FROM job j JOIN job_version v ON v.job_id = j.job_id AND v.version = j.version ";
  RulesCache rules(zones);
  std::vector<core::RecoveredJob> jobs;
  auto saved = load_jobs(connection, joined + "WHERE j.saved_name IS NOT NULL", rules, jobs);
  if (!saved) return fail(saved.error());
  auto others = load_jobs(
      connection,
      fmt::format("FROM (SELECT DISTINCT r.job_id FROM run r WHERE r.state IN ({})) u "
                  "JOIN job j ON j.job_id = u.job_id "
                  "JOIN job_version v ON v.job_id = j.job_id AND v.version = j.version "
                  "WHERE j.saved_name IS NULL",
                  kUnfinishedStates),
      rules, jobs);
  if (!others) return fail(others.error());
  std::sort(jobs.begin(), jobs.end(),
            [](const auto& a, const auto& b) { return a.job.id < b.job.id; });
  return jobs;
}

/// What was promised to unfinished runs of versions that have been edited since.
Result<std::vector<core::RecoveredRules>> load_older_rules(Connection& connection) {
  std::vector<core::RecoveredRules> all;
  auto read = connection.stream(
      fmt::format("SELECT u.job_id, u.job_version, v.rules "
                  "FROM (SELECT DISTINCT r.job_id, r.job_version FROM run r WHERE r.state IN ({})) u "
                  "JOIN job j ON j.job_id = u.job_id "
                  "JOIN job_version v ON v.job_id = u.job_id AND v.version = u.job_version "
                  "WHERE u.job_version <> j.version",
                  kUnfinishedStates),
      [&](Row& row) -> Result<void> {
        core::RecoveredRules one;
        one.job = JobId{row.integer()};
        one.version = static_cast<JobVersion>(row.integer());
        auto rules = wire::rules_from_json(row.text());
        if (!rules) return fail(rules.error());
        one.rules = std::make_shared<const model::JobRules>(std::move(*rules));
        all.push_back(std::move(one));
        return {};
      });
  if (!read) return fail(read.error());
  return all;
}

/// Attempts that were counted as lost without a proof: should their results come, they are late and no
/// mere repeats. The newest ones, by the primary key and by the index on the state, so that a long
/// history does not slow a takeover down.
Result<std::vector<model::AttemptKey>> load_given_up(Connection& connection) {
  std::vector<model::AttemptKey> keys;
  for (const char* sql :
       {"SELECT t.run_id, t.attempt FROM (SELECT run_id, attempt, late, outcome_state, outcome_reason "
        "FROM attempt ORDER BY run_id DESC, attempt DESC LIMIT 20000) t "
        "WHERE t.late = 0 AND t.outcome_state = 'lost' AND t.outcome_reason = 'worker_lost'",
        "SELECT t.run_id, t.attempt FROM (SELECT run_id, attempt, outcome_reason FROM run "
        "WHERE state = 'lost' ORDER BY run_id DESC LIMIT 5000) t "
        "WHERE t.outcome_reason = 'worker_lost'"}) {
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

Result<std::vector<model::Run>> load_unfinished(Connection& connection) {
  std::vector<model::Run> runs;
  auto read = connection.stream(
      fmt::format("SELECT {} FROM run r WHERE r.state IN ({}) ORDER BY r.run_id", kRunColumns,
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

Result<std::optional<WallTime>> load_watermark(Connection& connection) {
  std::optional<WallTime> watermark;
  auto read = connection.stream("SELECT value_ms FROM watermark WHERE partition_no = 1",
                                [&](Row& row) -> Result<void> {
                                  watermark = row.time();
                                  return {};
                                });
  if (!read) return fail(read.error());
  return watermark;
}

}  // namespace

MysqlOffice::MysqlOffice(MysqlOptions options, ZoneSource zones)
    : options_(std::move(options)), zones_(std::move(zones)) {}
MysqlOffice::~MysqlOffice() = default;

/// A kept connection may have died since its last use; a look at it costs one round trip, and office is
/// taken rarely.
Result<Connection*> MysqlOffice::connection() {
  if (connection_ && !connection_->run_text("DO 1")) connection_.reset();
  if (!connection_) {
    auto opened = Connection::open(options_);
    if (!opened) return fail(opened.error());
    connection_ = std::move(*opened);
  }
  return connection_.get();
}

Result<Office::Marks> MysqlOffice::read_marks() {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  Marks marks;
  auto read = (*connection)->stream(
      fmt::format("SELECT e.value, c.cluster_uuid, {} FROM epoch e "
                  "LEFT JOIN cluster c ON c.one = 1 WHERE e.partition_no = 1",
                  kNowMs),
      [&](Row& row) -> Result<void> {
        marks.epoch = Epoch{row.integer()};
        marks.cluster_uuid = row.text();
        marks.database_now = row.time();
        return {};
      });
  if (!read) return fail(read.error());
  return marks;
}

Result<std::string> MysqlOffice::settle_uuid(const std::string& proposed) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  auto put = (*connection)->change(
      fmt::format("INSERT INTO cluster (one, cluster_uuid, created_ms) VALUES (1, ?, {}) "
                  "ON DUPLICATE KEY UPDATE one = one",
                  kNowMs),
      [&](Binder& binder) { binder.text(proposed); });
  if (!put) return fail(put.error());
  auto marks = read_marks();
  if (!marks) return fail(marks.error());
  return marks->cluster_uuid;
}

Result<void> MysqlOffice::try_office(Connection& connection, Epoch epoch, const std::string& holder) {
  if (auto begun = connection.begin(); !begun) return begun;
  auto raised = connection.change(
      fmt::format("UPDATE epoch SET value = ?, holder = ?, taken_ms = {} "
                  "WHERE partition_no = 1 AND value < ?",
                  kNowMs),
      [&](Binder& binder) { binder.integer(epoch.value).prose(holder, 255).integer(epoch.value); });
  if (!raised) return fail(raised.error());
  if (*raised == 0) {
    if (auto undone = connection.undo(); !undone) return undone;
    return fail(ErrorCode::Conflict,
                fmt::format("the epoch in the database is {} or higher already", epoch.value));
  }
  auto cleared = connection.change("DELETE FROM loop_connection WHERE epoch < ?",
                                   [&](Binder& binder) { binder.integer(epoch.value); });
  if (!cleared) return fail(cleared.error());
  return connection.end_transaction();
}

Result<void> MysqlOffice::take_office(Epoch epoch, const std::string& holder) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  auto shorter = (*connection)->run_text("SET innodb_lock_wait_timeout = 1");
  if (!shorter) return fail(shorter.error());
  auto taken = try_office(**connection, epoch, holder);
  const bool blocked = !taken && (*connection)->last_sql_error() == kLockWaitTimeout;
  connection_.reset();  // with its short lock wait
  if (!blocked) return taken;

  if (auto killed = kill_older_loops(epoch); !killed) {
    log_warn("store", "could not end an older leader's connection", {{"why", killed.error().message}});
  }
  connection = this->connection();
  if (!connection) return fail(connection.error());
  taken = try_office(**connection, epoch, holder);
  if (!taken) connection_.reset();
  return taken;
}

/// A connection id may have been given to somebody else since (the server restarted): only connections
/// of this account to this database are ended, which at worst makes one of our readers connect again.
Result<void> MysqlOffice::kill_older_loops(Epoch epoch) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  std::vector<std::int64_t> ids;
  auto read = (*connection)->stream(
      fmt::format("SELECT l.connection_id FROM loop_connection l "
                  "JOIN information_schema.processlist p ON p.id = l.connection_id "
                  "WHERE l.epoch < {} AND p.db = DATABASE() "
                  "AND p.user = SUBSTRING_INDEX(USER(), '@', 1)",
                  epoch.value),
      [&](Row& row) -> Result<void> {
        ids.push_back(row.integer());
        return {};
      });
  if (!read) return read;
  for (const std::int64_t id : ids) {
    log_warn("store", "ending an older leader's connection, which holds the epoch", {{"connection", id}});
    if (auto killed = (*connection)->run_text(fmt::format("KILL {}", id)); !killed) {
      return fail(killed.error());
    }
  }
  return {};
}

Result<core::Recovered> MysqlOffice::recover() {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  core::Recovered recovered;
  auto watermark = load_watermark(**connection);
  if (!watermark) return fail(watermark.error());
  recovered.watermark = *watermark;
  auto jobs = load_all_jobs(**connection, zones_);
  if (!jobs) return fail(jobs.error());
  recovered.jobs = std::move(*jobs);
  auto runs = load_unfinished(**connection);
  if (!runs) return fail(runs.error());
  recovered.runs = std::move(*runs);
  auto older = load_older_rules(**connection);
  if (!older) return fail(older.error());
  recovered.older_rules = std::move(*older);
  auto given_up = load_given_up(**connection);
  if (!given_up) return fail(given_up.error());
  recovered.given_up = std::move(*given_up);
  return recovered;
}

Result<void> MysqlOffice::probe() {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  return (*connection)->stream("SELECT value FROM epoch WHERE partition_no = 1",
                               [](Row&) -> Result<void> { return {}; });
}

}  // namespace rota::master::store
