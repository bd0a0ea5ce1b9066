#include "master/store/mysql/late_rows.h"

#include <fmt/format.h>

#include "common/base/log.h"

namespace rota::master::store {
namespace {

struct Needed {
  Epoch epoch;
  bool by_rows = false;
};

Result<Needed> read_needed(Connection& connection, const NewerRows& rows) {
  Needed found;
  const std::string sql = fmt::format("SELECT value, {} FROM epoch WHERE partition_no = 1", rows.needed);
  auto asked = connection.stream(sql, [&](Row& row) -> Result<void> {
    found.epoch = Epoch{row.integer()};
    found.by_rows = row.integer() != 0;
    return {};
  });
  if (!asked) return fail(asked.error());
  return found;
}

}  // namespace

Result<bool> are_known(Connection& connection, const NewerRows& rows) {
  const auto found = read_needed(connection, rows);
  if (!found) return fail(found.error());
  return found->by_rows;
}

Result<void> need_rows(Connection& connection, const NewerRows& rows, Epoch epoch) {
  if (auto begun = connection.begin(); !begun) return begun;
  if (auto expected = connection.expect_write(); !expected) return expected;
  auto done = connection.change(
      fmt::format("UPDATE epoch SET {1} = value, {0} = 1 WHERE partition_no = 1 AND value = ? AND {0} = 0",
                  rows.needed, rows.read_by),
      [&](Binder& binder) { binder.integer(epoch.value); });
  if (!done) return fail(done.error());
  if (*done > 0) {
    if (auto ended = connection.end_transaction(); !ended) return ended;
    log_info("store", rows.told, {{"epoch", epoch.value}});
    return {};
  }
  if (auto undone = connection.undo(); !undone) return undone;
  const auto found = read_needed(connection, rows);
  if (!found) return fail(found.error());
  if (found->epoch == epoch && found->by_rows) return {};
  return fail(ErrorCode::Fenced, fmt::format("epoch {} is in force", found->epoch.value));
}

}  // namespace rota::master::store
