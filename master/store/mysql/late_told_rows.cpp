#include "master/store/mysql/late_told_rows.h"

#include <fmt/format.h>

#include <charconv>

#include "master/store/mysql/multi_row.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

constexpr int kDeadForgottenAtOnce = 2000;

// The first row of its kind stands: a repeat of the batch brings the same.
const MultiRow kInsertLate{
    "INSERT INTO late_told (job_id, run_id, tick_ms, what, worker, namespace, job_name, epoch, due_ms, "
    "told_ms, was, limit_ms) VALUES",
    12, "ON DUPLICATE KEY UPDATE job_id = VALUES(job_id)"};

const MultiRow kUpsertPaces{
    "INSERT INTO job_pace (job_id, successes, lengths) VALUES", 3,
    "ON DUPLICATE KEY UPDATE successes = VALUES(successes), lengths = VALUES(lengths)"};

std::string text_of(const std::vector<Millis>& lengths) {
  std::string out;
  for (const Millis length : lengths) out += fmt::format("{}{}", out.empty() ? "" : ",", length.count());
  return out;
}

Result<void> stream_told(Connection& connection, core::Recovered& recovered, const std::string& sql) {
  return connection.stream(sql, [&](Row& row) -> Result<void> {
    auto one = read_late(row);
    if (!one) return fail(one.error());
    recovered.told.push_back(std::move(*one));
    return {};
  });
}

}  // namespace

void write_late(BatchText& batch, const core::Changes& changes) {
  const auto& rows = changes.late;
  batch.add_rows(kInsertLate, {rows.size(), [&](Binder& binder, std::size_t i) {
                                 const model::LateRow& row = rows[i];
                                 binder.integer(row.job.value)
                                     .integer(row.run.value)
                                     .integer(row.tick ? to_ms(*row.tick) : 0)
                                     .text(name_of(row.what))
                                     .text(row.worker)
                                     .text(row.space)
                                     .text(row.job_name)
                                     .integer(row.epoch.value)
                                     .time(row.due)
                                     .time(row.told)
                                     .text(row.was)
                                     .integer(row.limit.count());
                               }});
  batch.add_rows(kUpsertPaces, {changes.paces.size(), [&](Binder& binder, std::size_t i) {
                                  const model::JobPace& row = changes.paces[i];
                                  binder.integer(row.job.value)
                                      .integer(row.successes)
                                      .text(text_of(row.last));
                                }});
  if (!changes.forget_dead) return;
  batch.add(fmt::format("DELETE FROM late_told WHERE what = 'worker_dead' AND told_ms < {} "
                        "ORDER BY told_ms LIMIT {}",
                        to_ms(*changes.forget_dead), kDeadForgottenAtOnce));
}

Result<model::LateRow> read_late(Row& row) {
  model::LateRow out;
  out.job = JobId{row.integer()};
  out.run = RunId{row.integer()};
  const std::int64_t tick = row.integer();
  if (tick != 0) out.tick = wall_from_ms(tick);
  const std::string what = row.text();
  const auto known = model::told_once_named(what);
  if (!known) {
    return fail(ErrorCode::Unsupported,
                fmt::format("late_told has the kind '{}', which this program does not know", what));
  }
  out.what = *known;
  out.worker = row.text();
  out.space = row.text();
  out.job_name = row.text();
  out.epoch = Epoch{row.integer()};
  out.due = row.maybe_time();
  out.told = row.time();
  out.was = row.text();
  out.limit = Millis{row.integer()};
  return out;
}

Result<model::JobPace> read_pace(Row& row) {
  model::JobPace out;
  out.job = JobId{row.integer()};
  out.successes = row.integer();
  const std::string text = row.text();
  for (const char* at = text.data(); at < text.data() + text.size();) {
    std::int64_t length = 0;
    const auto read = std::from_chars(at, text.data() + text.size(), length);
    if (read.ec != std::errc()) {
      return fail(ErrorCode::Corrupt, fmt::format("job_pace of job {}: '{}'", out.job.value, text));
    }
    out.last.emplace_back(length);
    at = read.ptr + 1;
  }
  return out;
}

Result<void> load_told(Connection& connection, core::Recovered& recovered, const std::string& open_runs) {
  const std::string asked[] = {
      fmt::format("SELECT {} FROM {} JOIN late_told t ON t.run_id = r.run_id WHERE r.state IN ({})",
                  kLateColumns, open_runs, kUnfinishedStates),
      fmt::format("SELECT {} FROM late_told t JOIN job j ON j.job_id = t.job_id AND j.state = 'paused' "
                  "WHERE t.was = '{}'",
                  kLateColumns, model::kWasPaused),
      fmt::format("SELECT {} FROM late_told t WHERE t.what = 'worker_dead'", kLateColumns)};
  for (const std::string& sql : asked) {
    if (auto read = stream_told(connection, recovered, sql); !read) return read;
  }
  return connection.stream(fmt::format("SELECT {} FROM job_pace p", kPaceColumns),
                           [&](Row& row) -> Result<void> {
                             auto one = read_pace(row);
                             if (!one) return fail(one.error());
                             recovered.paces.push_back(std::move(*one));
                             return {};
                           });
}

}  // namespace rota::master::store
