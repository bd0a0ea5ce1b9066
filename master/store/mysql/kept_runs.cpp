#include "master/store/mysql/kept_runs.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "common/model/run.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

constexpr int kScannedAtOnce = 50'000;           // rows of `run`, where it has no index on the state
constexpr int kFilledAtOnce = 5'000;
constexpr int kTriesToDrop = 3;

using Ids = std::vector<std::int64_t>;

std::vector<model::RunState> unsuccessful_states() {
  using enum model::RunState;
  return {Failed, TimedOut, Cancelled, Killed, KillFailed, Lost, Skipped};
}

Result<bool> has_state_index(Connection& connection) {
  bool has = false;
  auto asked = connection.stream(
      "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE() "
      "AND table_name = 'run' AND index_name = 'run_by_state'",
      [&](Row& row) -> Result<void> {
        has = row.integer() > 0;
        return {};
      });
  if (!asked) return fail(asked.error());
  return has;
}

Result<std::optional<std::int64_t>> ask_id(Connection& connection, const std::string& sql) {
  std::optional<std::int64_t> id;
  auto asked = connection.stream(sql, [&](Row& row) -> Result<void> {
    id = row.maybe_integer();
    return {};
  });
  if (!asked) return fail(asked.error());
  return id;
}

Result<void> fill_open(Connection& connection, const std::string& among) {
  auto done = connection.run_text(
      fmt::format("INSERT INTO run_open (run_id) SELECT r.run_id FROM run r WHERE r.state IN ({}){} "
                  "ON DUPLICATE KEY UPDATE run_id = run_open.run_id",
                  kUnfinishedStates, among));
  return done ? Result<void>() : fail(done.error());
}

Result<void> fill_unsuccessful(Connection& connection, const std::string& where) {
  auto done = connection.run_text(
      fmt::format("INSERT INTO run_unsuccessful (run_id, state) SELECT r.run_id, r.state FROM run r WHERE {} "
                  "ON DUPLICATE KEY UPDATE run_id = run_unsuccessful.run_id",
                  where));
  return done ? Result<void>() : fail(done.error());
}

/// Through all of `run` by its key, each statement for a short while. Nobody else writes runs: the epoch is
/// ours.
Result<void> fill_both_by_key(Connection& connection) {
  for (std::int64_t after = 0;;) {
    auto last = ask_id(connection,
                       fmt::format("SELECT MAX(t.run_id) FROM (SELECT run_id FROM run WHERE run_id > {} "
                                   "ORDER BY run_id LIMIT {}) t", after, kScannedAtOnce));
    if (!last) return fail(last.error());
    if (!*last) return {};
    const std::string among = fmt::format(" AND r.run_id > {} AND r.run_id <= {}", after, **last);
    if (auto open = fill_open(connection, among); !open) return open;
    auto ended = fill_unsuccessful(
        connection,
        fmt::format("r.state <> 'succeeded' AND r.state NOT IN ({}){}", kUnfinishedStates, among));
    if (!ended) return ended;
    after = **last;
  }
}

/// In each list a run 0, which never is: a table that was made anew or emptied since has none.
constexpr std::string_view kMarkOpen =
    "INSERT INTO run_open (run_id) VALUES (0) ON DUPLICATE KEY UPDATE run_id = 0";
constexpr std::string_view kMarkEnded =
    "INSERT INTO run_unsuccessful (run_id, state) VALUES (0, '') ON DUPLICATE KEY UPDATE run_id = 0";

struct NowWhole {
  bool open = false;
  bool ended = false;
};

/// Under a lock on the epoch, so that a successor's rows are safe.
Result<void> note_kept(Connection& connection, Epoch epoch, NowWhole whole) {
  if (auto begun = connection.begin(); !begun) return begun;
  auto noted = connection.change(
      fmt::format("UPDATE epoch SET open_kept_for = {}, ended_kept_for = {} "
                  "WHERE partition_no = 1 AND value = ?",
                  whole.open ? "value" : "open_kept_for", whole.ended ? "value" : "ended_kept_for"),
      [&](Binder& binder) { binder.integer(epoch.value); });
  if (!noted) return fail(noted.error());
  if (*noted == 0) return connection.undo();
  std::vector<std::string> statements;
  if (whole.open) {
    statements.push_back(fmt::format("DELETE o FROM run_open o LEFT JOIN run r ON r.run_id = o.run_id "
                                     "WHERE r.run_id IS NULL OR r.state NOT IN ({})", kUnfinishedStates));
    statements.emplace_back(kMarkOpen);
  }
  if (whole.ended) statements.emplace_back(kMarkEnded);
  for (const std::string& sql : statements) {
    if (auto done = connection.run_text(sql); !done) return fail(done.error());
  }
  return connection.end_transaction();
}

}  // namespace

Result<KeptRuns> look_at_kept_runs(Connection& connection) {
  KeptRuns kept;
  auto asked = connection.stream(
      "SELECT e.value, o.run_id IS NOT NULL AND e.open_kept_for = e.value, "
      "n.run_id IS NOT NULL AND e.ended_kept_for = e.value, o.run_id IS NULL AND e.open_kept_for = e.value "
      "FROM epoch e LEFT JOIN run_open o ON o.run_id = 0 "
      "LEFT JOIN run_unsuccessful n ON n.run_id = 0 WHERE e.partition_no = 1",
      [&](Row& row) -> Result<void> {
        kept.epoch = Epoch{row.integer()};
        kept.open = row.integer() != 0;
        kept.ended = row.integer() != 0;
        kept.open_was_emptied = row.integer() != 0;
        return {};
      });
  if (!asked) return fail(asked.error());
  return kept;
}

std::string from_open_runs(const KeptRuns& kept) {
  return kept.open ? "run_open o STRAIGHT_JOIN run r ON r.run_id = o.run_id" : "run r " + kWithOpen;
}

void forget_dispatch_apart(BatchText& batch, const std::vector<const core::RunUpdate*>& updates) {
  std::vector<std::string> ids;
  for (const core::RunUpdate* update : updates) {
    if (!model::is_final(update->progress.state)) ids.push_back(std::to_string(update->id.value));
  }
  batch.add_list("UPDATE run_open SET attempt = 0 WHERE attempt > 0 AND run_id IN (", ids, ")");
}

void write_kept_runs(BatchText& batch, const core::Changes& changes) {
  std::vector<std::string> opened, closed, unsuccessful;
  const auto note_end = [&](RunId id, model::RunState state) {
    if (state == model::RunState::Succeeded) return;
    unsuccessful.push_back(fmt::format("({},'{}')", id.value, name_of(state)));
  };
  for (const model::Run& run : changes.new_runs) {
    const model::RunState state = run.progress.state;
    if (model::is_final(state)) {
      note_end(run.id, state);
    } else {
      opened.push_back(fmt::format("({})", run.id.value));
    }
  }
  for (const core::RunUpdate& update : changes.updated_runs) {
    if (!model::is_final(update.progress.state)) continue;
    closed.push_back(std::to_string(update.id.value));
    note_end(update.id, update.progress.state);
  }
  batch.add_list("INSERT INTO run_open (run_id) VALUES", opened, "ON DUPLICATE KEY UPDATE run_id = run_id");
  batch.add_list("DELETE FROM run_open WHERE run_id IN (", closed, ")");
  batch.add_list("INSERT INTO run_unsuccessful (run_id, state) VALUES", unsuccessful,
                 "ON DUPLICATE KEY UPDATE state = VALUES(state)");
}

Result<bool> settle_kept_runs(Connection& connection, Epoch epoch) {
  const auto kept = look_at_kept_runs(connection);
  if (!kept) return fail(kept.error());
  if (kept->epoch != epoch || kept->open) return true;
  const auto has_index = has_state_index(connection);
  if (!has_index) return fail(has_index.error());
  log_info("store", "the list of unfinished runs is made anew", {{"by_index", *has_index}});
  auto filled = *has_index ? fill_open(connection, "") : fill_both_by_key(connection);
  if (!filled) return fail(filled.error());
  const auto noted = note_kept(connection, epoch, {.open = true, .ended = !*has_index});
  return noted ? Result<bool>(!kept->open_was_emptied) : fail(noted.error());
}

Result<void> UnsuccessfulFill::step(Connection& connection, Epoch epoch) {
  if (epoch_ != epoch) *this = UnsuccessfulFill{};
  epoch_ = epoch;
  if (is_over_) return {};
  const auto kept = look_at_kept_runs(connection);
  if (!kept) return fail(kept.error());
  is_over_ = kept->epoch != epoch || !kept->open;
  if (is_over_) return {};
  return kept->ended ? drop_index(connection) : fill_some(connection);
}

Result<void> UnsuccessfulFill::fill_some(Connection& connection) {
  const auto states = unsuccessful_states();
  if (state_ == states.size()) return note_kept(connection, epoch_, {.open = false, .ended = true});
  const std::string of_state =
      fmt::format("r.state = '{}' AND r.run_id > {}", name_of(states[state_]), after_);
  auto last = ask_id(connection,
                     fmt::format("SELECT r.run_id FROM run r WHERE {} ORDER BY r.run_id LIMIT 1 OFFSET {}",
                                 of_state, kFilledAtOnce - 1));
  if (!last) return fail(last.error());
  const std::string up_to = *last ? fmt::format(" AND r.run_id <= {}", **last) : "";
  if (auto filled = fill_unsuccessful(connection, of_state + up_to); !filled) return filled;
  after_ = last->value_or(0);
  if (!*last) ++state_;
  return {};
}

/// Behind somebody who reads `run` for long it does not wait: all others would wait behind it.
Result<void> UnsuccessfulFill::drop_index(Connection& connection) {
  const auto has = has_state_index(connection);
  if (!has) return fail(has.error());
  is_over_ = !*has || drops_failed_ >= kTriesToDrop;
  if (is_over_) return {};
  ++drops_failed_;
  if (auto set = connection.run_text("SET lock_wait_timeout = 1"); !set) return fail(set.error());
  auto dropped = connection.run_text("ALTER TABLE run DROP KEY run_by_state");
  // In any case: other statements of this connection may wait longer.
  auto reset = connection.run_text("SET lock_wait_timeout = DEFAULT");
  if (!dropped) return fail(dropped.error());
  log_info("store", "the index on the states of all runs is not needed any more, and dropped", {});
  return reset ? Result<void>() : fail(reset.error());
}

}  // namespace rota::master::store
