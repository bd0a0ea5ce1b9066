#include "master/core/batch_rows.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace rota::master::core {
namespace {

/// The run's row in this batch, if any. A run knows the place of its last row; what stands there says whose
/// it is.
template <typename Row>
Row* row_in_batch(std::vector<Row>& rows, const RunEntry& run) {
  return run.place < rows.size() && rows[run.place].id == run.id() ? &rows[run.place] : nullptr;
}

void write_changed(Context& ctx, RunEntry& run) {
  Changes& changes = ctx.out.changes;
  model::RunProgress progress = run.write_progress(ctx.state.epoch());
  if (model::Run* row = row_in_batch(changes.new_runs, run)) {
    row->progress = std::move(progress);
  } else if (RunUpdate* update = row_in_batch(changes.updated_runs, run)) {
    update->progress = std::move(progress);
  } else {
    run.place = static_cast<std::uint32_t>(changes.updated_runs.size());
    changes.updated_runs.push_back({run.id(), std::move(progress)});
  }
}

}  // namespace

std::uint32_t add_row(Context& ctx, model::Run row) {
  std::vector<model::Run>& rows = ctx.out.changes.new_runs;
  rows.push_back(std::move(row));
  ++ctx.state.counters().runs_recorded;
  return static_cast<std::uint32_t>(rows.size() - 1);
}

void write_touched(Context& ctx) {
  State& state = ctx.state;
  for (const RunId id : state.runs().take_touched()) {
    RunEntry* run = state.find_run(id);
    if (run == nullptr) continue;
    state.runs().timers().clear(id, RunTimer::LazyWrite);
    write_changed(ctx, *run);
    if (model::is_final(run->progress().state)) state.erase_run(id);
  }
  if (!ctx.out.changes.empty() && state.ticks().is_ahead_of_batch()) {
    ctx.out.changes.watermark = state.ticks().put_in_batch(ctx.now.mono);
  }
}

void reply(Context& ctx, Token token, ReplyBody body) {
  if (!token) return;
  Reply& added = ctx.out.replies.emplace_back();
  added.token = token;
  added.body = std::move(body);
}

void write_job(Context& ctx, const JobEntry& job) { ctx.out.changes.jobs.push_back(job.row.as_row()); }

}  // namespace rota::master::core
