#include "test/bench/rows.h"

#include <fmt/format.h>

#include <thread>

namespace rota::bench {
namespace {

using master::store::Connection;
using master::store::Row;

constexpr Millis kRowLook{5};
constexpr std::int64_t kChunk = 5000;  // in one statement

/// What stands in this column of an old run: of the row `r`, numbered by `s.seq`.
std::string value_of(const std::string& column, std::int64_t newest_ms, std::int64_t count) {
  if (column == "run_id") return "s.seq";
  if (column == "request_key") return "MD5(CONCAT(RAND(), s.seq))";
  if (!column.ends_with("_ms")) return "r." + column;
  return fmt::format("IF(r.{0} IS NULL, NULL, {1} + s.seq)", column, newest_ms - count);
}

Result<std::string> insert_of(Connection& connection, std::int64_t newest_ms, std::int64_t count) {
  std::string columns, values;
  auto read = connection.stream(
      "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() "
      "AND table_name = 'run' ORDER BY ordinal_position",
      [&](Row& row) -> Result<void> {
        const std::string name = row.text();
        columns += (columns.empty() ? "" : ", ") + name;
        values += (values.empty() ? "" : ", ") + value_of(name, newest_ms, count);
        return {};
      });
  if (!read) return fail(read.error());
  return fmt::format("INSERT INTO run ({}) SELECT {} FROM run r JOIN ", columns, values);
}

}  // namespace

Result<std::optional<std::int64_t>> ask_maybe(Connection& connection, const std::string& sql) {
  std::optional<std::int64_t> found;
  auto asked = connection.stream(sql, [&](Row& row) -> Result<void> {
    found = row.maybe_integer();
    return {};
  });
  if (!asked) return fail(asked.error());
  return found;
}

Result<std::int64_t> ask_number(Connection& connection, const std::string& sql) {
  auto found = ask_maybe(connection, sql);
  if (!found) return fail(found.error());
  return found->value_or(0);
}

Result<std::int64_t> await_number(Connection& connection, const std::string& sql,
                                  std::int64_t above, Millis patience) {
  const MonoTime give_up = BootClock::now() + patience;
  while (BootClock::now() < give_up) {
    auto found = ask_maybe(connection, sql);
    if (!found) return fail(found.error());
    if (*found && **found > above) return **found;
    std::this_thread::sleep_for(kRowLook);
  }
  return fail(ErrorCode::TimedOut,
              fmt::format("not within {} s: {}", patience.count() / 1000, sql));
}

Result<void> add_old_runs(Connection& connection, std::int64_t model, std::int64_t count,
                          Millis age) {
  const std::int64_t newest_ms = to_ms(SystemClock().wall()) - age.count();
  auto insert = insert_of(connection, newest_ms, count);
  if (!insert) return fail(insert.error());
  for (std::int64_t first = 1; first <= count; first += kChunk) {
    auto added =
        connection.run_text(fmt::format("{}seq_{}_to_{} s WHERE r.run_id = {}", *insert, first,
                                        std::min(first + kChunk - 1, count), model));
    if (!added) return fail(added.error());
  }
  return {};
}

Result<void> erase_old_runs(Connection& connection, std::int64_t count) {
  for (std::int64_t first = 1; first <= count; first += kChunk) {
    auto erased =
        connection.run_text(fmt::format("DELETE FROM run WHERE run_id >= {} AND run_id < {}", first,
                                        std::min(first + kChunk, count + 1)));
    if (!erased) return fail(erased.error());
  }
  return {};
}

}  // namespace rota::bench
