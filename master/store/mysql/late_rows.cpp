#include "master/store/mysql/late_rows.h"

#include <fmt/format.h>

#include "common/base/log.h"

namespace rota::master::store {
namespace {

struct Needed {
  Epoch epoch;
  bool by_rows = false;
};

Result<Needed> read_needed(Connection& connection) {
  Needed found;
  auto asked = connection.stream("SELECT value, late_rows_needed FROM epoch WHERE partition_no = 1",
                                 [&](Row& row) -> Result<void> {
                                   found.epoch = Epoch{row.integer()};
                                   found.by_rows = row.integer() != 0;
                                   return {};
                                 });
  if (!asked) return fail(asked.error());
  return found;
}

}  // namespace

Result<bool> are_late_rows_known(Connection& connection) {
  const auto found = read_needed(connection);
  if (!found) return fail(found.error());
  return found->by_rows;
}

Result<void> need_late_rows(Connection& connection, Epoch epoch) {
  if (auto begun = connection.begin(); !begun) return begun;
  if (auto expected = connection.expect_write(); !expected) return expected;
  auto done = connection.change(
      "UPDATE epoch SET late_rows_read_by = value, late_rows_needed = 1 "
      "WHERE partition_no = 1 AND value = ? AND late_rows_needed = 0",
      [&](Binder& binder) { binder.integer(epoch.value); });
  if (!done) return fail(done.error());
  if (*done > 0) {
    if (auto ended = connection.end_transaction(); !ended) return ended;
    log_info("store", "freezes may be stored from now on", {{"epoch", epoch.value}});
    return {};
  }
  if (auto undone = connection.undo(); !undone) return undone;
  const auto found = read_needed(connection);
  if (!found) return fail(found.error());
  if (found->epoch == epoch && found->by_rows) return {};
  return fail(ErrorCode::Fenced, fmt::format("epoch {} is in force", found->epoch.value));
}

}  // namespace rota::master::store
