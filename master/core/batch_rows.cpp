#include "master/core/batch_rows.h"

#include <utility>

namespace rota::master::core {
namespace {

void write_new(Context& ctx, RunEntry& run) {
  run.is_new = false;
  ctx.out.index.new_runs[run.id()] = ctx.out.changes.new_runs.size();
  ctx.out.changes.new_runs.push_back(run.row());
  ++ctx.state.counters().runs_recorded;
}

void write_changed(Context& ctx, const RunEntry& run) {
  Changes& changes = ctx.out.changes;
  BatchIndex& index = ctx.out.index;
  if (const auto at = index.new_runs.find(run.id()); at != index.new_runs.end()) {
    changes.new_runs[at->second].progress = run.progress();
    return;
  }
  const auto [at, added] = index.updated_runs.emplace(run.id(), changes.updated_runs.size());
  if (added) {
    changes.updated_runs.push_back({run.id(), run.progress()});
  } else {
    changes.updated_runs[at->second].progress = run.progress();
  }
}

}  // namespace

void write_touched(Context& ctx) {
  State& state = ctx.state;
  for (const RunId id : state.runs().touched()) {
    RunEntry* run = state.find_run(id);
    if (run == nullptr) continue;
    state.runs().timers().clear(id, RunTimer::LazyWrite);
    run->set_epoch(state.epoch());
    if (run->is_new) {
      write_new(ctx, *run);
    } else {
      write_changed(ctx, *run);
    }
    if (model::is_final(run->progress().state)) state.erase_run(id);
  }
  state.runs().clear_touched();
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

void write_job(Context& ctx, const JobEntry& job) { ctx.out.changes.jobs.push_back(job.row); }

}  // namespace rota::master::core
