#include "master/store/mysql/epoch_fence.h"

#include <optional>
#include <string>
#include <utility>

#include "master/store/mysql/mysql_errors.h"

namespace rota::master::store {
namespace {

const std::string kReadLocked =
    "SELECT value, contents_needed FROM epoch WHERE partition_no = 1 LOCK IN SHARE MODE";
/// It always changes the row: an update that leaves a row as it was is not certified.
const std::string kChange = "UPDATE epoch SET fences = fences + 1 WHERE partition_no = 1";
/// Behind the change, which has locked the row.
const std::string kRead = "SELECT value, contents_needed FROM epoch WHERE partition_no = 1";

Result<Epoch> found_or_missing(const std::optional<Epoch>& found) {
  if (!found) return fail(no_epoch_row());
  return *found;
}

}  // namespace

void add_fence(BatchText& batch, Visit visit) {
  if (batch.connection().certifies()) {
    Connection& connection = batch.connection();
    batch.ask(std::string(kLastWrite), [&connection](Row& row) -> Result<void> {
      connection.expect_write_after(row.text());
      return {};
    });
    batch.add(kMarkFence);
    batch.add(kChange);
    batch.ask(kRead, std::move(visit));
  } else {
    batch.ask(kReadLocked, std::move(visit));
  }
}

Result<Epoch> enter_fence(Connection& connection) {
  if (connection.certifies()) {
    if (auto expected = connection.expect_write(); !expected) return fail(expected.error());
    if (auto changed = connection.change(kChange, {}); !changed) return fail(changed.error());
  }
  std::optional<Epoch> found;
  const auto& read = connection.certifies() ? kRead : kReadLocked;
  auto asked = connection.query(read, {}, [&](Row& row) -> Result<void> {
    found = Epoch{row.integer()};
    return {};
  });
  if (!asked) return fail(asked.error());
  return found_or_missing(found);
}

/// Between the certified change and its commit nobody else's claim can come: what was read is in force then.
Result<Epoch> check_fence(Connection& connection) {
  if (!connection.certifies()) return enter_fence(connection);
  std::optional<Epoch> found;
  BatchText text(connection);
  text.add("START TRANSACTION");
  add_fence(text, [&](Row& row) -> Result<void> {
    found = Epoch{row.integer()};
    return {};
  });
  if (auto done = text.finish(); !done) return fail(done.error());
  if (auto ended = connection.end_transaction(); !ended) return fail(ended.error());
  return found_or_missing(found);
}

}  // namespace rota::master::store
