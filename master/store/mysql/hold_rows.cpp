#include "master/store/mysql/hold_rows.h"

#include "master/store/mysql/multi_row.h"

namespace rota::master::store {
namespace {

constexpr std::size_t kHoldWhyBytes = 1000;

const MultiRow kUpsertHolds{
    "INSERT INTO worker_hold (hold_number, worker_id, pool, kind, strikes, since_ms, until_ms, trial_ms, "
    "ended_ms, why) VALUES",
    10,
    "ON DUPLICATE KEY UPDATE until_ms = VALUES(until_ms), trial_ms = VALUES(trial_ms), "
    "ended_ms = VALUES(ended_ms)"};

}  // namespace

void write_holds(BatchText& batch, const std::vector<model::WorkerHold>& rows) {
  batch.add_rows(kUpsertHolds, {rows.size(), [&](Binder& binder, std::size_t i) {
                                  const model::WorkerHold& row = rows[i];
                                  binder.integer(row.number)
                                      .text(row.worker)
                                      .text(row.pool)
                                      .text(name_of(row.kind))
                                      .integer(row.strikes)
                                      .time(row.since)
                                      .time(row.until)
                                      .time(row.trial)
                                      .time(row.ended)
                                      .prose(row.why, kHoldWhyBytes);
                                }});
}

Result<model::WorkerHold> read_hold(Row& row) {
  model::WorkerHold out;
  out.number = row.integer();
  out.worker = row.text();
  out.pool = row.text();
  const std::string kind = row.text();
  out.kind = kind == "flapping" ? model::WorkerHold::Kind::Flapping : model::WorkerHold::Kind::Excluded;
  out.strikes = static_cast<std::int32_t>(row.integer());
  out.since = row.time();
  out.until = row.time();
  out.trial = row.maybe_time();
  out.ended = row.maybe_time();
  out.why = row.text();
  return out;
}

}  // namespace rota::master::store
