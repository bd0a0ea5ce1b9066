#include "master/verify/hold_check.h"

#include <algorithm>

#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

constexpr std::int32_t kHoldsRead = 100'000;  // the newest

}  // namespace

/// Within a Term decisions have times that never go back; of those in one millisecond the order is not known.
bool is_against(const model::WorkerHold& hold, WallTime dispatched) {
  WallTime open = hold.ended.value_or(WallTime::max());
  if (hold.trial) open = std::min(open, *hold.trial);
  return dispatched > hold.since && dispatched < open;
}

Result<void> HoldCheck::read() {
  auto rows = sources_.reader.holds_of("", kHoldsRead);
  if (!rows) return fail(rows.error());
  holds_.emplace();
  for (model::WorkerHold& hold : *rows) {
    const Epoch term = epoch_of(RunId{hold.number});
    (*holds_)[{term, hold.worker}].push_back(std::move(hold));
  }
  return {};
}

Result<void> HoldCheck::look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  if (!holds_) {
    if (auto done = read(); !done) return done;
  }
  if (holds_->empty()) return {};
  const Epoch term = epoch_of(run.id);
  bool has_row = false;
  for (const model::AttemptRow& row : earlier) {
    has_row = has_row || row.attempt == run.progress.attempt;
    if (!row.dispatched || row.late || row.epoch != term) continue;
    look_at_attempt(run.id, row.attempt, row.worker.id, *row.dispatched);
  }
  const model::RunProgress& last = run.progress;
  if (has_row || last.attempt == 0 || !last.dispatched || last.epoch != term) return {};
  look_at_attempt(run.id, last.attempt, last.worker.id, *last.dispatched);
  return {};
}

void HoldCheck::look_at_attempt(RunId run, AttemptNo attempt, const std::string& worker,
                                WallTime dispatched) {
  const auto found = holds_->find({epoch_of(run), worker});
  if (found == holds_->end()) return;
  ++check_.planned;
  for (const model::WorkerHold& hold : found->second) {
    if (!is_against(hold, dispatched)) continue;
    wrong(check_, fmt::format("run {} attempt {} was sent to worker {}, which was {} since {} ms before",
                              run.value, attempt, worker, name_of(hold.kind),
                              (dispatched - hold.since).count()));
  }
}

}  // namespace rota::master::verify
