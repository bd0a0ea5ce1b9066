#include "master/store/mysql/mysql_store.h"

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/change_writer.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/epoch_fence.h"
#include "master/store/mysql/job_rows.h"
#include "master/store/mysql/mysql_errors.h"

namespace rota::master::store {
namespace {

/// A repeat cannot help when the rows themselves are refused.
bool is_permanent(const Error& error) {
  return error.code == ErrorCode::AlreadyExists || error.code == ErrorCode::NotFound ||
         error.code == ErrorCode::InvalidArgument;
}

ApplyResult failed(const Error& error, bool permanent = false) {
  return {ApplyOutcome::Failed, error.message, {}, permanent};
}

ApplyResult fenced(Epoch mine, Epoch found) {
  return {ApplyOutcome::Fenced,
          fmt::format("the epoch in force is {}, not {}", found.value, mine.value), found, false};
}

/// Fails under another epoch, so that the server does not even begin with the rows behind it: they would be
/// locked until it notices that the connection is gone. It is no fence.
std::string stop_unless(Epoch epoch) {
  return fmt::format(
      "SELECT IF(value = {}, 0, value + 9223372036854775807) FROM epoch WHERE partition_no = 1", epoch.value);
}

/// Rows that are statements already.
class GatheredRows final : public PreparedRows {
 public:
  BatchText batch;
};

/// So many are prepared at most: about 10 MB of text.
constexpr std::size_t kMostPrepared = 50'000;

Result<void> finish_with(BatchText& batch, const core::Changes& changes, PreparedRows* rows,
                         bool by_content) {
  if (rows == nullptr) return write_changes(batch, changes, by_content);
  batch.append(static_cast<GatheredRows&>(*rows).batch);
  return batch.finish();
}

/// The transaction up to its COMMIT, in one text. Gives the epoch that it found: under another one nothing
/// may be committed. `by_content`: whether versions point at their definitions; told here for the next batch.
Result<Epoch> write_under(Epoch epoch, Connection& connection, const core::Changes& changes,
                          PreparedRows* rows, std::atomic<bool>& by_content) {
  std::optional<Epoch> found;
  BatchText batch(connection);
  batch.add("START TRANSACTION");
  add_fence(batch, [&](Row& row) -> Result<void> {
    found = Epoch{row.integer()};
    by_content = row.integer() != 0;
    return *found == epoch ? Result<void>() : fail(ErrorCode::Fenced, "another epoch is in force");
  });
  batch.ask(stop_unless(epoch), [](Row&) -> Result<void> { return {}; });
  auto written = finish_with(batch, changes, rows, by_content);
  if (found && *found != epoch) return *found;
  if (!written) return fail(written.error());
  if (!found) return fail(no_epoch_row());
  return *found;
}

}  // namespace

MysqlStore::MysqlStore(MysqlOptions options) : options_(std::move(options)) {}
MysqlStore::~MysqlStore() = default;

/// Connects when there is no connection, and names the loop's connection under this epoch, so that a
/// successor can end it when this process is frozen inside a transaction.
Result<void> MysqlStore::connect(Epoch epoch) {
  if (!connection_) {
    announced_ = Epoch{};
    by_content_ = false;  // the server may be another one, with an older copy; both forms can be read
    auto opened = Connection::open(options_, Texts::Many);
    if (!opened) return fail(opened.error());
    connection_ = std::move(*opened);
    connection_->tell_progress(progress_);
  }
  if (announced_ == epoch) return {};
  auto named = connection_->change(
      "INSERT INTO loop_connection (epoch, connection_id, node) VALUES (?, ?, ?) "
      "ON DUPLICATE KEY UPDATE connection_id = VALUES(connection_id), node = VALUES(node)",
      [&](Binder& binder) {
        binder.integer(epoch.value).integer(connection_->id()).text(connection_->node());
      });
  if (!named) return fail(named.error());
  announced_ = epoch;
  return {};
}

/// Every batch with rows moves the watermark, so the watermark shows whether the database has lost the
/// newest batches. A new connection may lead to another server than before. Under a higher epoch the
/// successor decides: the loss may have been accepted already.
///
/// On Galera the question also makes the node wait until it has what was committed through others: the
/// batches behind it rely on rows of those before.
Result<bool> MysqlStore::has_gone_back(Epoch epoch) {
  if ((stored_for_ != epoch || !stored_) && !connection_->certifies()) return false;
  std::optional<Epoch> in_force;
  std::optional<core::Watermark> standing;
  auto asked = connection_->query(
      fmt::format("SELECT e.value, {} FROM epoch e LEFT JOIN watermark w ON w.partition_no = e.partition_no "
                  "WHERE e.partition_no = 1", kWatermarkColumns),
      {}, [&](Row& row) -> Result<void> {
        in_force = Epoch{row.integer()};
        standing = read_watermark(row);
        return {};
      });
  if (!asked) return fail(asked.error());
  if (!in_force) return fail(no_epoch_row());
  if (stored_for_ != epoch || !stored_) return false;
  return *in_force <= epoch && (!standing || *standing < *stored_);
}

void MysqlStore::tell_progress(std::function<void()> progress) {
  progress_ = std::move(progress);
  if (connection_) connection_->tell_progress(progress_);
}

std::unique_ptr<PreparedRows> MysqlStore::prepare(const core::Changes& changes) {
  if (changes.new_runs.size() + changes.updated_runs.size() > kMostPrepared) return nullptr;
  auto rows = std::make_unique<GatheredRows>();
  if (!gather_changes(rows->batch, changes, by_content_)) return nullptr;  // apply tells why
  return rows;
}

ApplyResult MysqlStore::apply(Epoch epoch, const core::Changes& changes) {
  return apply_once(epoch, changes, nullptr);
}

ApplyResult MysqlStore::apply_prepared(Epoch epoch, const core::Changes& changes, PreparedRows& rows) {
  return apply_once(epoch, changes, &rows);
}

ApplyResult MysqlStore::apply_once(Epoch epoch, const core::Changes& changes, PreparedRows* rows) {
  thread_local const MysqlThread guard;  // not always the thread that opened the connection
  const ApplyResult result = try_once(epoch, changes, rows);
  if (result.outcome != ApplyOutcome::Applied) {
    connection_.reset();
  } else if (changes.watermark) {
    stored_for_ = epoch;
    stored_ = changes.watermark;
  }
  return result;
}

ApplyResult MysqlStore::try_once(Epoch epoch, const core::Changes& changes, PreparedRows* rows) {
  // It commits nothing but under fences, so it can not be named under this epoch.
  if (connection_ && connection_->certifies() && announced_ != epoch) connection_.reset();
  const bool is_new = !connection_;
  if (auto connected = connect(epoch); !connected) return failed(connected.error());
  if (is_new) {
    auto gone_back = has_gone_back(epoch);
    if (!gone_back) return failed(gone_back.error());
    if (*gone_back) {
      return {ApplyOutcome::Failed, "the database lacks what this leader stored in it", {}, true, true};
    }
    if (auto alone = connection_->only_write_under_fences(); !alone) return failed(alone.error());
  }
  if (changes.empty()) {
    auto found = check_fence(*connection_);
    if (!found) return failed(found.error());
    return *found == epoch ? ApplyResult{ApplyOutcome::Applied, "", {}, false} : fenced(epoch, *found);
  }
  auto found = write_under(epoch, *connection_, changes, rows, by_content_);
  if (!found) {
    if (is_permanent(found.error())) {
      log_error("store", "a batch contradicts the store", {{"why", found.error().message}});
    }
    return failed(found.error(), is_permanent(found.error()));
  }
  if (*found != epoch) return fenced(epoch, *found);
  if (written_) written_();
  auto ended = connection_->end_transaction();
  if (ended) return {ApplyOutcome::Applied, "", {}, false};
  if (ended.error().code == ErrorCode::UnknownOutcome) {
    return {ApplyOutcome::Unknown, ended.error().message, {}, false};
  }
  return failed(ended.error());
}

}  // namespace rota::master::store
