#include "master/core/attempts/end_rules.h"

#include <utility>

#include "master/core/admission/firing.h"
#include "master/core/admission/overlap.h"
#include "master/core/batch_rows.h"
#include "master/core/graph/child_rules.h"
#include "master/core/memory_rules.h"
#include "master/core/notify/expect_rules.h"
#include "master/core/notify/notify_rules.h"

namespace rota::master::core {

using model::Reason;
using model::RunState;

namespace {

/// One of both is set: the entry of a run that had begun, or the row of one that had not.
struct EndOfRun {
  JobEntry& job;
  const RunEntry* begun = nullptr;
  const model::Run* skipped = nullptr;
};

void follow_end(Context& ctx, const EndOfRun& end) {
  if (end.skipped != nullptr) {
    expect_skipped(ctx, end.job, *end.skipped);
    return;  // nobody waits behind it, it says nothing about the job, and no child follows it
  }
  notify_of_end(ctx, *end.begun);
  settle_expectations(ctx, *end.begun);
  remember_end(ctx, end.job, *end.begun);
  owe_children(ctx, *end.begun);
  promote_waiting(ctx.state, end.job, ctx.now.mono);
}

}  // namespace

void finish_run(Context& ctx, RunEntry& run, RunState to, Reason reason, std::string detail) {
  State& state = ctx.state;
  state.end_run(run, to, reason, std::move(detail));
  const WallTime ended = run.progress().outcome().ended;
  run.set_ended(ended == WallTime{} ? ctx.at : ended);
  run.set_not_before(std::nullopt);
  ++state.counters().runs_finished;
  state.touch(run);
  follow_end(ctx, {run.job(), &run, nullptr});
}

void skip_run(Context& ctx, JobEntry& job, model::Run row, Reason reason, std::string detail) {
  row.progress.state = RunState::Skipped;
  row.progress.reason = reason;
  row.progress.detail = std::move(detail);
  row.progress.ended = ctx.at;
  row.progress.epoch = ctx.state.epoch();
  follow_end(ctx, {job, nullptr, &row});
  add_row(ctx, std::move(row));
}

void promote_waiting(State& state, JobEntry& job, MonoTime now) {
  while (!job.behind().empty() && has_place(job.rules(), job.under_way())) {
    RunEntry& run = *state.find_run(*job.behind().begin());
    let_start(state, run, run.progress().not_before().value_or(WallTime{}), now);
    state.touch(run);
  }
}

}  // namespace rota::master::core
