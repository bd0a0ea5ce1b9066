#include "master/core/time/freeze_rules.h"

#include <algorithm>
#include <utility>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "master/core/admission/firing.h"
#include "master/core/admission/late_rules.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/batch_rows.h"
#include "master/core/memory_rules.h"
#include "master/core/notices.h"
#include "master/core/time/time_rules.h"

namespace rota::master::core {
namespace {

constexpr Millis kInstant{1};           // times are whole milliseconds
constexpr int kThawedAtOnce = 5000;
constexpr std::int64_t kRunsATurn = 2000;

void refuse(Context& ctx, Token token, ErrorCode code, std::string message) {
  reply(ctx, token, Error(code, std::move(message)));
}

std::string name_of(const std::string& space) {
  return space.empty() ? "every namespace" : "namespace '" + shown_text(space) + "'";
}

std::string moment(WallTime at) { return format_moment(at); }

void store(Context& ctx, const model::Freeze& freeze) {
  ctx.state.freezes().put(freeze);
  ctx.out.changes.freezes.push_back(freeze);
}

void tell_freeze(Context& ctx, std::string_view sentence, const model::Freeze& freeze,
                 const std::string& by) {
  tell(ctx, sentence, {{"freeze", std::to_string(freeze.id)},
                       {"namespace", freeze.space.empty() ? "all" : freeze.space},
                       {"until", moment(freeze.end())},
                       {"by", by},
                       {"why", freeze.why}});
}

/// Starts the run that stands for this frozen tick; it waits until it is caught up.
void start_for(Context& ctx, JobEntry& job, const model::Freeze& freeze, WallTime tick) {
  const std::string key = model::freeze_key(freeze.id, job.row.id, tick);
  Firing firing;
  firing.kind = model::RunKind::AfterFreeze;
  firing.scheduled = tick;
  firing.is_late = true;
  firing.principal = model::kFreezePrincipal;
  firing.request_key = key;
  begin_run(ctx, job, firing, {});
  remember_firing(ctx, job, ctx.state.recorded_through(job));
}

/// How many runs may stand for frozen ticks of the job.
std::int64_t most_runs(const Context& ctx, const JobEntry& job) {
  const model::JobRules& rules = job.rules();
  std::int64_t most = 1;
  if (rules.late == model::LatePolicy::FireAll) {
    most = late_room(job.caught_up().size(), ctx.state.catch_up().size());
  }
  if (rules.firings > 0) most = std::min<std::int64_t>(most, rules.firings - job.row.memory().fired);
  most = std::min(most, firings_left(ctx.state, job.row.space(), ctx.at));
  return std::max<std::int64_t>(most, 0);
}

/// What came due after the end of a run while the job was frozen waits for the planned end of the freeze.
void bring_forward(Context& ctx, JobEntry& job, const model::Freeze& freeze) {
  if (!freeze.ended || job.schedule().after_end() == nullptr) return;
  if (job.row.memory().due == freeze.until) be_due_now(ctx.state, job);
}

/// Gives how many runs it started.
std::int64_t make_up(Context& ctx, JobEntry& job, const model::Freeze& freeze) {
  if (!is_planned(job)) return 0;
  bring_forward(ctx, job, freeze);
  if (job.rules().late == model::LatePolicy::Skip) return 0;
  const CompiledSchedule& schedule = job.schedule();
  const WallTime last = freeze.end() - kInstant;
  const auto first = schedule.next_after(std::max(job.valid_from, freeze.from));
  if (!first || *first > last) return 0;
  const std::int64_t most = most_runs(ctx, job);
  if (most == 0) return 0;
  const std::int64_t all = schedule.count_between(*first - kInstant, last, most + 1);
  const WallTime begin = all > most ? newest_begin(schedule, *first, last, most) : *first - kInstant;
  std::int64_t started = 0;
  for (auto tick = schedule.next_after(begin); tick && *tick <= last; tick = schedule.next_after(*tick)) {
    start_for(ctx, job, freeze, *tick);
    ++started;
  }
  return started;
}

bool is_over(const State& state, const model::Freeze& freeze, WallTime at) {
  return freeze.end() <= at && state.ticks().watermark().through >= freeze.end();
}

/// The next jobs, in order of their ids.
void thaw_part(Context& ctx, model::Freeze freeze) {
  const auto rest = ctx.state.jobs().after(freeze.thawed);
  auto at = rest.begin();
  std::int64_t started = 0;
  for (int looked = 0; at != rest.end() && looked < kThawedAtOnce && started < kRunsATurn; ++at, ++looked) {
    JobEntry& job = at->second;
    if (freeze.is_of(job.row.space())) started += make_up(ctx, job, freeze);
    freeze.thawed = at->first;
  }
  freeze.done = at == rest.end();
  store(ctx, freeze);
  if (freeze.done) tell_freeze(ctx, "freeze is over and made up for", freeze, freeze.principal);
}

}  // namespace

void handle_begin_freeze(Context& ctx, const BeginFreeze& event) {
  if (!ctx.state.ticks().may_store_late_rows()) {
    return refuse(ctx, event.token, ErrorCode::Unavailable,
                  "a master of an older version is registered, or was a moment ago; it could not read a "
                  "freeze. Try again when all are new");
  }
  if (event.until <= ctx.at) {
    return refuse(ctx, event.token, ErrorCode::InvalidArgument,
                  "until: " + moment(event.until) + " is over already");
  }
  const model::Freeze* known = ctx.state.freezes().in_force(event.space, ctx.at);
  if (known == nullptr && ctx.state.freezes().size() >= kFreezesMost) {
    return refuse(ctx, event.token, ErrorCode::Conflict, "there are too many freezes already; end one first");
  }
  model::Freeze freeze;
  if (known != nullptr) {
    if (known->space != event.space || event.until < known->end()) {
      return refuse(ctx, event.token, ErrorCode::Conflict,
                    name_of(known->space) + " is frozen already, until " + moment(known->end()) + ", by " +
                        known->principal + "; end that first, or give its namespace and a later moment");
    }
    freeze = *known;
  } else {
    freeze.id = ctx.state.new_freeze_id();
    freeze.space = event.space;
    freeze.from = ctx.at;
  }
  freeze.until = event.until;
  freeze.principal = event.principal;
  freeze.why = event.why;
  store(ctx, freeze);
  tell_freeze(ctx, "ticks are frozen", freeze, event.principal);
  reply(ctx, event.token, FreezeTaken{freeze});
}

void handle_end_freeze(Context& ctx, const EndFreeze& event) {
  const model::Freeze* known = ctx.state.freezes().in_force(event.space, ctx.at);
  if (known == nullptr || known->space != event.space) {
    return refuse(ctx, event.token, ErrorCode::NotFound, name_of(event.space) + " is not frozen");
  }
  model::Freeze freeze = *known;
  // Ticks of this millisecond may be recorded already, as frozen.
  freeze.ended = std::min(ctx.at + kInstant, freeze.until);
  store(ctx, freeze);
  tell_freeze(ctx, "freeze was ended", freeze, event.principal);
  reply(ctx, event.token, FreezeTaken{freeze});
}

void thaw_due(Context& ctx) {
  if (ctx.state.freezes().empty() || ctx.state.ticks().are_held()) return;
  for (const auto& [id, freeze] : ctx.state.freezes().all()) {
    if (!is_over(ctx.state, freeze, ctx.at)) continue;
    if (!freeze.done) thaw_part(ctx, freeze);
    const std::int64_t number = id;
    if (ctx.state.freezes().find(number)->done) ctx.state.freezes().erase(number);
    return;
  }
}

std::optional<Millis> thaw_wake(const State& state, Now now) {
  std::optional<Millis> wake;
  if (state.ticks().are_held()) return wake;
  const WallTime at = std::max(now.wall, state.core_time());
  for (const auto& [id, freeze] : state.freezes().all()) {
    const Millis in = freeze.end() <= at ? Millis{0} : freeze.end() - now.wall;
    wake = std::min(wake.value_or(in), in);
  }
  return wake;
}

}  // namespace rota::master::core
