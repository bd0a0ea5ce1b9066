#include "master/verify/scale_check.h"

#include <algorithm>

#include "common/base/utf8.h"
#include "master/verify/findings.h"

namespace rota::master::verify {

using model::HookState;

namespace {

constexpr std::int32_t kChangesRead = 100'000;  // the newest

/// In force when that row was decided: numbers of both come from one count.
const model::Quota& quota_at(const std::vector<model::QuotaRow>& versions, std::int64_t id) {
  static const model::Quota kNone;
  const model::Quota* found = &kNone;
  for (const model::QuotaRow& row : versions) {
    if (row.number < id) found = &row.quota;
  }
  return *found;
}

std::string why_not_settled(const model::ScaleChange& row, bool is_newest) {
  if (row.hook.empty() != (row.state == HookState::NoHook)) return "its state does not fit its hook";
  if (row.state == HookState::Open && !is_newest) return "it is open, and a later one counts";
  if (row.state == HookState::Replaced && is_newest) return "it was replaced, and nothing came after it";
  const bool was_told = row.state == HookState::Delivered || row.state == HookState::GivenUp;
  return was_told && row.attempts == 0 ? "it is settled, and its hook was never called" : "";
}

}  // namespace

std::string why_not_within(const model::ScaleChange& row, const model::Quota& quota) {
  const std::int64_t most = quota.max_workers >= 0 ? quota.max_workers : model::kMaxPoolWorkers;
  const std::int64_t least = quota.min_workers >= 0 ? quota.min_workers : std::min<std::int64_t>(1, most);
  if (row.after >= least && row.after <= most) return {};
  return fmt::format("{} workers are wanted, allowed are {} to {}", row.after, least, most);
}

Result<void> ScaleCheck::look_at_rows() {
  auto rows = sources_.reader.list_scaling("", 0, kChangesRead);
  if (!rows) return fail(rows.error());
  std::ranges::reverse(*rows);         // the oldest first
  std::map<std::string, std::vector<const model::ScaleChange*>> pools;
  for (const model::ScaleChange& row : *rows) {
    pools[row.pool].push_back(&row);
    for (const model::WorkerKey& key : row.stoppable) named_[key].push_back(row.made);
  }
  for (const auto& [pool, those] : pools) {
    if (auto looked = look_at_pool(pool, those); !looked) return looked;
  }
  return {};
}

Result<void> ScaleCheck::look_at_pool(const std::string& pool,
                                      const std::vector<const model::ScaleChange*>& rows) {
  const auto versions = sources_.reader.quota_versions(model::QuotaOf::Pool, pool);
  if (!versions) return fail(versions.error());
  for (const model::ScaleChange* row : rows) {
    ++check_.planned;
    std::string why = why_not_within(*row, quota_at(*versions, row->id));
    if (why.empty()) why = why_not_settled(*row, row == rows.back());
    if (!why.empty()) wrong(check_, fmt::format("change {} of pool {}: {}", row->id, shown_text(pool), why));
  }
  return {};
}

void ScaleCheck::look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  if (named_.empty()) return;
  const auto look = [&](AttemptNo attempt, const model::WorkerKey& worker, const auto& dispatched,
                        const model::Outcome& outcome) {
    // By its own clock it lasted so long, and it began after it was sent, whatever the two clocks say.
    if (dispatched && to_ms(outcome.started) > 0 && outcome.ended > outcome.started) {
      look_at_attempt(run.id, attempt, worker, *dispatched, *dispatched + (outcome.ended - outcome.started));
    }
  };
  for (const model::AttemptRow& row : earlier) {
    if (row.attempt != run.progress.attempt) look(row.attempt, row.worker, row.dispatched, row.outcome);
  }
  const model::RunProgress& last = run.progress;
  if (last.attempt > 0 && model::is_final(last.state)) {
    look(last.attempt, last.worker, last.dispatched, last.outcome);
  }
}

/// A clock that was set while it ran may make it seem a little longer.
void ScaleCheck::look_at_attempt(RunId run, AttemptNo attempt, const model::WorkerKey& worker, WallTime from,
                                 WallTime to) {
  const auto found = named_.find(worker);
  if (found == named_.end()) return;
  ++check_.planned;
  for (const WallTime named : found->second) {
    if (from >= named || to <= named + kClockSkew) continue;
    wrong(check_, fmt::format("worker {} was named as one that may be stopped at least {} ms before attempt "
                              "{} of run {} ended there",
                              worker.id, (to - named).count(), attempt, run.value));
  }
}

}  // namespace rota::master::verify
