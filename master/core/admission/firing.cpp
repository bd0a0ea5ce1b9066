#include "master/core/admission/firing.h"

#include "common/base/check.h"
#include "master/core/attempts/cancel_rules.h"
#include "master/core/attempts/end_rules.h"
#include "master/core/batch_rows.h"
#include "master/core/attempts/limit_rules.h"
#include "master/core/notify/expect_rules.h"

namespace rota::master::core {
namespace {

model::Run row_of(Context& ctx, const JobEntry& job, const Firing& firing) {
  model::Run row;
  row.id = ctx.state.new_run_id();
  row.job = job.row.id;
  row.version = job.row.version;
  row.kind = firing.kind;
  row.space = job.row.space();
  row.principal = firing.principal;
  row.tick = firing.tick;
  row.scheduled = firing.scheduled;
  row.recorded = ctx.at;
  row.request_key = firing.request_key;
  row.request_hash = firing.request_hash;
  row.parameters = firing.parameters;
  return row;
}

std::size_t ending_of(const State& state, const JobEntry& job) {
  std::size_t ending = 0;
  for (const RunId id : job.unfinished()) ending += state.find_run(id)->progress().cancel_asked ? 1 : 0;
  return ending;
}

}  // namespace

OverlapChoice overlap_of(const State& state, const JobEntry& job, model::RunKind kind) {
  if (kind == model::RunKind::OneOff) return {};
  RunsNow now{job.under_way(), job.behind().size()};
  const bool may_end_others = job.rules().overlap == model::Overlap::Replace ||
                              job.rules().overlap == model::Overlap::Terminate;
  if (may_end_others) now.ending = ending_of(state, job);
  return decide_overlap(job.rules(), now);
}

RunId blocking_run(const JobEntry& job) {
  for (const RunId id : job.unfinished()) {
    if (!job.behind().contains(id)) return id;
  }
  return job.unfinished().empty() ? RunId{} : *job.unfinished().begin();
}

/// The timer of that wait is the one of a retry delay, which is over in the same way.
void let_start(State& state, RunEntry& run, WallTime not_before, MonoTime now) {
  const WallTime at = state.core_time();
  if (not_before <= at) {
    run.set_not_before(std::nullopt);
    return state.enter_slot_queue(run);
  }
  state.set_state(run, model::RunState::Waiting, model::Reason::Jitter);
  run.set_not_before(not_before);
  state.runs().timers().set(run.id(), RunTimer::RetryDelay, now + (not_before - at));
}

RunId begin_run(Context& ctx, JobEntry& job, const Firing& firing, const OverlapChoice& choice) {
  const RunId blocking = blocking_run(job);
  model::Run row = row_of(ctx, job, firing);
  const RunId id = row.id;
  if (choice.kind == OverlapChoice::Kind::Skip) {
    CHECK_OR_DIE(!firing.tick, "a skipped tick is a gap, not a run");
    std::string why(firing.skipped_for);
    skip_run(ctx, job, std::move(row), choice.reason, why.empty() ? std::to_string(blocking.value) : why);
    return id;
  }
  ctx.state.quotas().count_firing(job.row.space(), firing.tick.value_or(ctx.at));
  if (job.skipped_behind(blocking) > 0) job.note_skipped(blocking, 0);
  RunEntry entry(facts_of(row), job.shared_rules());
  if (firing.start != nullptr) entry.bind_to(*firing.start);
  if (firing.parentage != nullptr) entry.set_parentage(*firing.parentage);
  RunEntry& run = ctx.state.add_run(std::move(entry));
  run.place = add_row(ctx, std::move(row));
  ctx.state.touch(run);
  if (firing.is_late) {
    ctx.state.wait_to_catch_up(run);
  } else if (choice.kind != OverlapChoice::Kind::Fire) {
    ctx.state.wait_behind(run, blocking);
    if (firing.not_before > ctx.at) run.set_not_before(firing.not_before);  // another Term may let it go
    if (choice.kind == OverlapChoice::Kind::Replace) make_way(ctx, job, id, choice.ends);
  } else {
    let_start(ctx.state, run, firing.not_before, ctx.now.mono);
  }
  watch_limit(ctx.state, run, ctx.at, ctx.now.mono);
  expect_run(ctx.state, run);
  return id;
}

}  // namespace rota::master::core
