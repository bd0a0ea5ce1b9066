#include "master/store/mysql/mysql_rewind.h"

#include <fmt/format.h>

#include "master/core/time/calendar_lead.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

Result<void> only(const Result<std::int64_t>& changed) {
  return changed ? Result<void>() : fail(changed.error());
}

/// A change of the epoch's row is the fence: no other transaction on it ends before this one, and on a server
/// that certifies writes it conflicts with the others.
Result<bool> is_ours(Connection& connection, const Rewind& rewind) {
  auto fenced = connection.change(
      "UPDATE epoch SET taken_ms = taken_ms + 1 WHERE partition_no = 1 AND value = ?",
      [&](Binder& binder) { binder.integer(rewind.epoch.value); });
  if (!fenced) return fail(fenced.error());
  auto moved = connection.change(
      "UPDATE watermark SET value_ms = ?, reaching_ms = NULL, job_id = NULL WHERE partition_no = 1 "
      "AND value_ms = ? AND GREATEST(value_ms, COALESCE(reaching_ms, 0)) = ?",
      [&](Binder& binder) { binder.time(rewind.to).time(rewind.from_through).time(rewind.from); });
  if (!moved) return fail(moved.error());
  return *fenced == 1 && *moved == 1;
}

Result<void> change_gaps(Connection& connection, const Rewind& rewind) {
  for (const model::Gap& gap : rewind.erased) {
    auto erased = connection.change(
        "DELETE FROM gap WHERE job_id = ? AND job_version = ? AND from_ms = ?",
        [&](Binder& binder) { binder.integer(gap.job.value).integer(gap.version).time(gap.from); });
    if (!erased) return only(erased);
  }
  for (const model::Gap& gap : rewind.cut) {
    auto cut = connection.change(
        "UPDATE gap SET to_ms = ?, tick_count = ? WHERE job_id = ? AND job_version = ? AND from_ms = ?",
        [&](Binder& binder) {
          binder.time(gap.to).integer(gap.count).integer(gap.job.value).integer(gap.version).time(gap.from);
        });
    if (!cut) return only(cut);
  }
  return {};
}

/// How far any job is recorded: to the watermark, or by its own row, or by an edit, beyond it.
Result<void> note_rewind(Connection& connection, const Rewind& rewind) {
  return only(connection.change(
      "INSERT INTO tick_rewind (epoch, from_ms, to_ms) SELECT ?, GREATEST(?, "
      "COALESCE((SELECT MAX(ticks_through_ms) FROM job), 0), "
      "COALESCE((SELECT MAX(valid_from_ms) FROM job_version), 0)), ?",
      [&](Binder& binder) { binder.integer(rewind.epoch.value).time(rewind.from).time(rewind.to); }));
}

Result<void> change_rest(Connection& connection, const Rewind& rewind) {
  auto versions = connection.change(
      "UPDATE job_version SET valid_from_ms = LEAST(valid_from_ms, ?), valid_to_ms = LEAST(valid_to_ms, ?) "
      "WHERE valid_from_ms > ? OR valid_to_ms > ?",
      [&](Binder& binder) { binder.time(rewind.to).time(rewind.to).time(rewind.to).time(rewind.to); });
  if (!versions) return only(versions);
  auto calendars = connection.change(
      "UPDATE calendar SET from_ms = LEAST(from_ms, ? + version), changed_ms = ? WHERE changed_ms > ?",
      [&](Binder& binder) { binder.time(rewind.to + core::kCalendarLead).time(rewind.to).time(rewind.to); });
  if (!calendars) return only(calendars);
  auto jobs = connection.change("UPDATE job SET ticks_through_ms = ? WHERE ticks_through_ms > ?",
                                [&](Binder& binder) { binder.time(rewind.to).time(rewind.to); });
  return only(jobs);
}

}  // namespace

Result<std::vector<model::Gap>> load_gaps_beyond(Connection& connection, WallTime moment) {
  std::vector<model::Gap> gaps;
  auto read = connection.stream(
      fmt::format("SELECT {} FROM gap WHERE to_ms > {} ORDER BY job_id, from_ms", kGapColumns, to_ms(moment)),
      [&](Row& row) -> Result<void> {
        auto gap = read_gap(row);
        if (!gap) return fail(gap.error());
        gaps.push_back(std::move(*gap));
        return {};
      });
  if (!read) return fail(read.error());
  return gaps;
}

Result<void> write_rewind(Connection& connection, const Rewind& rewind) {
  if (auto begun = connection.begin(); !begun) return begun;
  const auto ours = is_ours(connection, rewind);
  if (!ours) return fail(ours.error());
  if (!*ours) {
    if (auto undone = connection.undo(); !undone) return undone;
    return fail(ErrorCode::Conflict, "another master took office, or recorded ticks, meanwhile");
  }
  if (auto expected = connection.expect_write(); !expected) return expected;
  if (auto noted = note_rewind(connection, rewind); !noted) return noted;
  if (auto gaps = change_gaps(connection, rewind); !gaps) return gaps;
  if (auto rest = change_rest(connection, rewind); !rest) return rest;
  return connection.end_transaction();
}

Result<std::vector<std::pair<JobId, WallTime>>> load_taken(Connection& connection,
                                                           std::optional<WallTime> watermark) {
  std::vector<std::pair<JobId, WallTime>> taken;
  bool was_rewound = false;
  const std::int64_t from = watermark ? to_ms(*watermark) : 0;
  auto asked = connection.stream(fmt::format("SELECT COUNT(*) FROM tick_rewind WHERE from_ms > {}", from),
                                 [&](Row& row) -> Result<void> {
                                   was_rewound = row.integer() > 0;
                                   return {};
                                 });
  if (!asked) return fail(asked.error());
  if (!was_rewound) return taken;
  // For each job a range of its unique key.
  auto read = connection.stream(
      fmt::format("SELECT r.job_id, r.tick_ms FROM job j JOIN run r ON r.job_id = j.job_id "
                  "AND r.tick_ms > {} WHERE j.saved_name IS NOT NULL",
                  from),
      [&](Row& row) -> Result<void> {
        const JobId job{row.integer()};
        taken.emplace_back(job, row.time());
        return {};
      });
  if (!read) return fail(read.error());
  return taken;
}

}  // namespace rota::master::store
