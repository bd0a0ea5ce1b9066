#include "master/store/mysql/mysql_office.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/log.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/epoch_fence.h"
#include "master/store/mysql/job_rows.h"
#include "master/store/mysql/late_rows.h"
#include "master/store/mysql/mysql_errors.h"
#include "master/store/mysql/mysql_recovery.h"
#include "master/store/mysql/mysql_rewind.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

constexpr Millis kFillInBeat{50};
constexpr Millis kClaimAgainFor{2000};
constexpr Millis kAheadPatience{1000}, kAheadPause{30'000};
constexpr std::string_view kNowMs = "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)";

Result<void> put_zookeeper(Connection& connection, const KnownZookeeper& known) {
  auto put = connection.change(
      "INSERT INTO zookeeper (one, identity, created_zxid, number, wait_below) VALUES (1, ?, ?, ?, ?) "
      "ON DUPLICATE KEY UPDATE identity = VALUES(identity), created_zxid = VALUES(created_zxid), "
      "number = VALUES(number), wait_below = VALUES(wait_below)",
      [&](Binder& binder) {
        binder.text(known.identity.value)
            .integer(known.identity.created_zxid)
            .integer(known.number)
            .integer(known.wait_below);
      });
  return put ? Result<void>() : fail(put.error());
}

}  // namespace

MysqlOffice::MysqlOffice(MysqlOptions options, ZoneSource zones)
    : options_(std::move(options)), zones_(std::move(zones)) {}
MysqlOffice::~MysqlOffice() = default;

/// A kept connection may have died since its last use. Checking it costs one round trip, and a takeover is
/// rare.
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
  bool has_row = false;
  auto read = (*connection)->stream(
      fmt::format("SELECT e.value, {}, c.cluster_uuid, {}, e.holder, e.address, z.identity, "
                  "z.created_zxid, z.number, z.wait_below, z.beats, "
                  "(SELECT MAX(s.change_number) FROM setting_version s) FROM epoch e "
                  "LEFT JOIN watermark w ON w.partition_no = 1 LEFT JOIN zookeeper z ON z.one = 1 "
                  "LEFT JOIN cluster c ON c.one = 1 WHERE e.partition_no = 1",
                  kWatermarkColumns, kNowMs),
      [&](Row& row) -> Result<void> {
        marks.epoch = Epoch{row.integer()};
        marks.watermark = read_watermark(row);
        marks.cluster_uuid = row.text();
        marks.database_now = row.time();
        has_row = true;
        marks.holder = {row.text(), row.text()};
        KnownZookeeper known{{row.text(), row.integer()}, row.integer(), row.integer()};
        marks.beats = row.integer();
        marks.newest_setting = row.integer();
        if (!known.identity.value.empty()) marks.zookeeper = std::move(known);
        return {};
      });
  if (!read) return fail(read.error());
  if (!has_row) return fail(no_epoch_row());
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

Result<Millis> MysqlOffice::settle_grant(Millis own) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  auto put = (*connection)->change(
      fmt::format("INSERT INTO setting (namespace, name, value, principal, changed_ms) "
                  "VALUES ('', 'longest_grant_ms', ?, '', {}) ON DUPLICATE KEY UPDATE "
                  "value = IF(CAST(value AS SIGNED) < ?, VALUES(value), value)",
                  kNowMs),
      [&](Binder& binder) { binder.text(std::to_string(own.count())).integer(own.count()); });
  if (!put) return fail(put.error());
  Millis longest = own;
  auto read = (*connection)->stream(
      "SELECT CAST(value AS SIGNED) FROM setting WHERE namespace = '' AND name = 'longest_grant_ms'",
      [&](Row& row) -> Result<void> {
        longest = std::max(longest, Millis{row.integer()});
        return {};
      });
  if (!read) return fail(read.error());
  return longest;
}

/// What is kept beside the runs (kept_runs.h) is carried on where it was kept for the epoch before: the
/// server assigns from left to right. From here on no older master takes office (dispatch_apart_for).
Result<void> MysqlOffice::try_office(Connection& connection, const Claim& claim) {
  const Epoch epoch = claim.epoch;
  if (auto begun = connection.begin(); !begun) return begun;
  if (auto expected = connection.expect_write(); !expected) return expected;
  auto raised = connection.change(
      fmt::format("UPDATE epoch SET open_kept_for = IF(open_kept_for = value, ?, open_kept_for), "
                  "ended_kept_for = IF(ended_kept_for = value, ?, ended_kept_for), "
                  "edits_told_from_ms = IF(edits_told_by = value, edits_told_from_ms, {0}), "
                  "edits_told_by = ?, "
                  "value = ?, dispatch_apart_for = ?, contents_read_by = ?, late_rows_read_by = ?, "
                  "worker_starts_read_by = ?, child_runs_read_by = ?, "
                  "holder = ?, address = ?, taken_ms = {0} "
                  "WHERE partition_no = 1 AND value < ?",
                  kNowMs),
      [&](Binder& binder) {
        binder.integer(epoch.value)
            .integer(epoch.value)
            .integer(epoch.value)
            .integer(epoch.value)
            .integer(epoch.value)
            .integer(epoch.value)
            .integer(epoch.value)
            .integer(epoch.value)
            .integer(epoch.value)
            .prose(claim.holder.name, 255)
            .prose(claim.holder.address, 300)
            .integer(epoch.value);
      });
  if (!raised) return fail(raised.error());
  if (*raised == 0) {
    if (auto undone = connection.undo(); !undone) return undone;
    return fail(ErrorCode::Conflict,
                fmt::format("the epoch in the database is {} or higher already", epoch.value));
  }
  auto told = connection.change(
      fmt::format("INSERT INTO term (epoch, holder, address, taken_ms) VALUES (?, ?, ?, {}) "
                  "ON DUPLICATE KEY UPDATE epoch = VALUES(epoch)",
                  kNowMs),
      [&](Binder& binder) {
        binder.integer(epoch.value).prose(claim.holder.name, 255).prose(claim.holder.address, 300);
      });
  if (!told) return fail(told.error());
  auto cleared = connection.change("DELETE FROM loop_connection WHERE epoch < ?",
                                   [&](Binder& binder) { binder.integer(epoch.value); });
  if (!cleared) return fail(cleared.error());
  if (claim.zookeeper) {
    if (auto put = put_zookeeper(connection, *claim.zookeeper); !put) return put;
  }
  return connection.end_transaction();
}

Result<void> MysqlOffice::settle_zookeeper(Epoch epoch, const KnownZookeeper& zookeeper) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  if (auto begun = (*connection)->begin(); !begun) return begun;
  const auto found = enter_fence(**connection);
  if (!found) return fail(found.error());
  if (*found != epoch) {
    if (auto undone = (*connection)->undo(); !undone) return undone;
    return fail(ErrorCode::Fenced, fmt::format("epoch {} is in force", found->value));
  }
  if (auto put = put_zookeeper(**connection, zookeeper); !put) return put;
  return (*connection)->end_transaction();
}

/// Each beat also does a little of what a takeover left over.
Result<void> MysqlOffice::beat(Epoch epoch) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  if (auto done = beat_once(**connection, epoch); !done) return done;
  const MonoTime began = BootClock::now();
  do {
    auto filled = fill_.step(**connection, epoch);
    if (filled) continue;
    log_warn("store", "the list of runs that ended badly is not whole yet",
             {{"why", filled.error().message}});
    connection_.reset();
    break;
  } while (!fill_.is_over() && BootClock::now() - began < kFillInBeat);
  return fill_contents(epoch);
}

/// A connection that failed is made anew with the next beat.
Result<void> MysqlOffice::fill_contents(Epoch epoch) {
  const MonoTime began = BootClock::now();
  do {
    if (!connection_) return {};
    auto filled = contents_.step(*connection_, epoch);
    if (filled) continue;
    log_warn("store", "not all definitions are stored by content yet", {{"why", filled.error().message}});
    connection_.reset();
  } while (!contents_.is_over() && BootClock::now() - began < kFillInBeat);
  return {};
}

Result<void> MysqlOffice::need_contents(Epoch epoch) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  contents_ = ContentFill{};  // it may have found that they are not needed
  return store::need_contents(**connection, epoch);
}

Result<void> MysqlOffice::need_late_rows(Epoch epoch) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  return need_rows(**connection, kLateRows, epoch);
}

Result<void> MysqlOffice::need_worker_starts(Epoch epoch) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  return need_rows(**connection, kWorkerStartRows, epoch);
}

Result<void> MysqlOffice::need_child_runs(Epoch epoch) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  return need_rows(**connection, kChildRunRows, epoch);
}

Result<void> MysqlOffice::beat_once(Connection& connection, Epoch epoch) {
  auto done = connection.change(
      "UPDATE zookeeper SET beats = beats + 1 WHERE one = 1 AND "
      "? = (SELECT value FROM epoch WHERE partition_no = 1)",
      [&](Binder& binder) { binder.integer(epoch.value); });
  return done ? Result<void>() : fail(done.error());
}

Result<std::int64_t> MysqlOffice::count_held() {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  const auto kept = look_at_kept_runs(**connection);
  if (!kept) return fail(kept.error());
  std::int64_t count = 0;
  auto read = (*connection)->stream(
      fmt::format("SELECT COUNT(*) FROM {} WHERE {} IN ('dispatched', 'running')", from_open_runs(*kept),
                  kRunState),
      [&](Row& row) -> Result<void> {
        count = row.integer();
        return {};
      });
  if (!read) return fail(read.error());
  return count;
}

/// On Galera the claim competes with the batches of an older leader that goes on through another node: of two
/// that are made at the same time only one is committed. It loses a few times at most, for it is short.
Result<void> MysqlOffice::claim(const Claim& claim) {
  const MonoTime end = BootClock::now() + kClaimAgainFor;
  for (;;) {
    bool has_lost = false;
    auto taken = claim_once(claim, has_lost);
    if (taken || !has_lost || BootClock::now() >= end) return taken;
    log_debug("store", "a takeover's claim lost against an older leader's batch; once more",
              {{"why", taken.error().message}});
  }
}

Result<void> MysqlOffice::claim_once(const Claim& claim, bool& has_lost) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  claimed_ = claim.epoch;
  auto shorter = (*connection)->run_text("SET innodb_lock_wait_timeout = 1");
  if (!shorter) return fail(shorter.error());
  auto taken = try_office(**connection, claim);
  const bool blocked = !taken && (*connection)->last_sql_error() == kLockWaitTimeout;
  has_lost = !taken && (*connection)->certifies() && (*connection)->last_sql_error() == kDeadlock;
  connection_.reset();  // with its short lock wait
  if (!blocked) return taken;

  if (auto killed = kill_older_loops(claim.epoch); !killed) {
    log_warn("store", "could not end an older leader's connection", {{"why", killed.error().message}});
  }
  connection = this->connection();
  if (!connection) return fail(connection.error());
  taken = try_office(**connection, claim);
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
                  "WHERE l.epoch < {} AND l.node = '{}' AND p.db = DATABASE() "
                  "AND p.user = SUBSTRING_INDEX(USER(), '@', 1)",
                  epoch.value, (*connection)->node()),
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

/// On a connection of its own, whose answers are not awaited for long: a takeover may wait for this call.
bool MysqlOffice::read_ahead(MonoTime now) {
  if (now < read_ahead_at_) return false;
  if (!ahead_connection_) {
    MysqlOptions hasty = options_;
    hasty.connect_timeout = hasty.read_timeout = kAheadPatience;
    if (auto opened = Connection::open(hasty)) ahead_connection_ = std::move(*opened);
  }
  if (ahead_connection_) {
    if (const auto more = ahead_.read_some(*ahead_connection_, now)) return *more;
  }
  ahead_connection_.reset();
  read_ahead_at_ = now + kAheadPause;
  return false;
}

Result<core::Recovered> MysqlOffice::recover() {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  const auto whole = settle_kept_runs(**connection, claimed_);
  if (!whole) return fail(whole.error());
  const auto another = [this] { return Connection::open(options_); };
  auto recovered = load_recovered(**connection, another, zones_, ahead_);
  ahead_connection_.reset();
  if (recovered && !*whole) recovered->database_went_back = true;
  return recovered;
}

Result<std::vector<model::Gap>> MysqlOffice::gaps_beyond(WallTime moment) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  return load_gaps_beyond(**connection, moment);
}

Result<void> MysqlOffice::rewind(const Rewind& rewind) {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  auto done = write_rewind(**connection, rewind);
  if (!done) connection_.reset();
  return done;
}

Result<void> MysqlOffice::probe() {
  auto connection = this->connection();
  if (!connection) return fail(connection.error());
  bool has_row = false;
  auto read = (*connection)->stream("SELECT value FROM epoch WHERE partition_no = 1",
                                    [&](Row&) -> Result<void> {
                                      has_row = true;
                                      return {};
                                    });
  if (!read || has_row) return read;
  return fail(no_epoch_row());
}

}  // namespace rota::master::store
