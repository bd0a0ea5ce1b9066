#include "master/core/attempts/cancel_rules.h"

#include <utility>
#include <vector>

#include "master/core/admission/dispatch_rules.h"
#include "master/core/attempts/end_rules.h"

namespace rota::master::core {

using model::Reason;
using model::RunState;

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

bool is_replaced(const RunEntry& run) {
  return run.progress().cancel_asked && is_number(run.progress().detail());
}

Reason cancel_reason(const RunEntry& run) {
  return is_replaced(run) ? Reason::ReplacedBy : Reason::CancelledByUser;
}

Millis cancel_grace(const RunEntry& run) {
  const bool at_once = is_replaced(run) && run.job().rules().overlap == model::Overlap::Terminate;
  return at_once ? Millis{0} : run.rules().kill_grace;
}

void cancel_run(Context& ctx, RunEntry& run, std::string why) {
  if (!run.is_held()) {
    run.ask_cancel();
    const Reason reason = is_number(why) ? Reason::ReplacedBy : Reason::CancelledByUser;
    finish_run(ctx, run, RunState::Cancelled, reason, std::move(why));
    return;
  }
  if (run.progress().cancel_asked) return;
  run.ask_cancel();
  if (run.progress().reason == Reason::WaitsForConfirmation) {  // nothing follows it any more, so it may end
    run.set_reason(Reason::WaitsForFence);
    ctx.state.runs().timers().set(run.id(), RunTimer::Fence, ctx.now.mono);
  }
  run.set_detail(std::move(why));
  ctx.state.touch(run);
  send_cancel(ctx, run);
}

void make_way(Context& ctx, JobEntry& job, RunId newer, std::size_t count) {
  std::vector<RunId> ends;
  for (const RunId id : job.behind()) {
    if (id != newer) ends.push_back(id);
  }
  const std::size_t waiting = ends.size();
  for (const RunId id : job.unfinished()) {
    if (ends.size() - waiting == count) break;
    const bool goes_on = !job.behind().contains(id) && !ctx.state.find_run(id)->progress().cancel_asked;
    if (goes_on) ends.push_back(id);
  }
  for (const RunId id : ends) {
    ++ctx.state.counters().replaced;
    cancel_run(ctx, *ctx.state.find_run(id), std::to_string(newer.value));
  }
}

}  // namespace rota::master::core
