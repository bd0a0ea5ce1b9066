#include "master/core/workers/drain_rules.h"

#include <algorithm>
#include <utility>

#include "common/base/utf8.h"
#include "master/core/batch_rows.h"
#include "master/core/admission/dispatch_rules.h"
#include "master/core/notices.h"
#include "master/core/workers/scale_desk.h"
#include "master/core/workers/conduct_rules.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::core {
namespace {

constexpr Millis kTellAgain{2000};
constexpr Millis kAskAgain{5000};

std::vector<model::WorkerKey> lives_of(const State& state, const std::string& id) {
  std::vector<model::WorkerKey> all;
  for (const auto& [key, life] : state.workers().lives_of(id)) all.push_back(key);
  return all;
}

void begin_drain(Context& ctx, const DrainWorker& event) {
  model::WorkerDrain drain;
  drain.worker = event.worker;
  if (event.deadline > Millis{0}) drain.deadline = ctx.at + event.deadline;
  drain.principal = event.principal;
  drain.why = event.why;
  drain.changed = ctx.at;
  ctx.out.changes.drains.push_back(drain);
  NoticeKeys keys = {{"worker", drain.worker}, {"by", drain.principal}, {"why", drain.why}};
  if (drain.deadline) keys.emplace_back("hands_over_at", second_text(*drain.deadline));
  tell(ctx, "drain started", std::move(keys));
  ctx.state.workers().begin_drain(std::move(drain));
}

/// Attempts that were told to end at the deadline still end.
void end_drain(Context& ctx, const DrainWorker& event) {
  model::WorkerDrain drain = ctx.state.workers().end_drain(event.worker);
  drain.draining = false;
  drain.deadline.reset();
  drain.principal = event.principal;
  drain.why = event.why;
  drain.changed = ctx.at;
  tell(ctx, "drain ended", {{"worker", drain.worker}, {"by", drain.principal}, {"why", drain.why}});
  ctx.out.changes.drains.push_back(std::move(drain));
}

/// True when this life must be told (again); then notes what it is told.
bool must_tell(State& state, LifeEntry& life, bool wanted) {
  const bool told = life.told_drain() ? life.told_drain()->draining : *life.info().drain_told;
  const bool knows = told == wanted;
  if (knows && life.drain_ack_pending()) return true;
  if (knows && *life.info().drain_told == wanted) return false;
  state.workers().tell_drain(life, {wanted, state.new_drain_order()});
  return true;
}

/// True when this changes something: a second drain may move the deadline.
bool is_news(const State& state, const DrainWorker& event) {
  const model::WorkerDrain* found = state.workers().find_drain(event.worker);
  if (found == nullptr) return event.draining;
  if (found->principal == kAutoscaler && event.principal != kAutoscaler) return true;  // a person's now
  return !event.draining || event.deadline > Millis{0} || found->deadline.has_value();
}

}  // namespace

void handle_drain_worker(Context& ctx, const DrainWorker& event) {
  State& state = ctx.state;
  const std::vector<model::WorkerKey> lives = lives_of(state, event.worker);
  const bool is_drained = state.workers().find_drain(event.worker) != nullptr;
  const bool is_known = is_drained || state.departed().contains(event.worker);
  if (lives.empty() && !is_known) {
    reply(ctx, event.token, Error(ErrorCode::NotFound, "no worker '" + shown_text(event.worker) +
                                                           "' is here; rota worker list names them"));
    return;
  }
  if (event.principal != kAutoscaler) {
    if (auto why = why_not_resumed(state, event.worker)) return reply(ctx, event.token, std::move(*why));
  }
  const bool changed = is_news(state, event);
  if (changed) event.draining ? begin_drain(ctx, event) : end_drain(ctx, event);
  for (const model::WorkerKey& key : lives) {
    LifeEntry& life = *state.find_life(key);
    if (changed) follow_drain(ctx, life);
    state.workers().mark_pool(life.info().pool);
  }
  if (!lives.empty()) keep_within_third(ctx, state.find_life(lives.front())->info().pool);
  const std::size_t running = state.workers().runs_on(event.worker).size();
  reply(ctx, event.token, DrainTaken{changed, static_cast<std::int32_t>(running)});
}

void follow_drain(Context& ctx, LifeEntry& life) {
  State& state = ctx.state;
  const model::WorkerKey& key = life.key();
  state.workers().timers().clear(key, LifeTimer::TellDrain);
  state.workers().timers().clear(key, LifeTimer::HandOver);
  if (!life.is_present() || !life.is_reconciled()) return;
  const model::WorkerDrain* drain = state.workers().find_drain(key.id);
  const bool wanted = drain != nullptr;
  if (wanted && drain->deadline) {
    const Millis left = std::max(*drain->deadline - ctx.at, Millis{0});
    state.workers().timers().set(key, LifeTimer::HandOver, ctx.now.mono + left);
  }
  if (!life.info().drain_told || !must_tell(state, life, wanted)) return;
  ctx.out.sends.push_back(SendDrain{key, life.info().address, wanted, life.told_drain()->order});
  state.workers().timers().set(key, LifeTimer::TellDrain, ctx.now.mono + kTellAgain);
}

void apply_drain_ack(Context& ctx, LifeEntry& life, const std::optional<model::DrainAck>& word) {
  ctx.state.workers().set_says_draining(life, false);
  ctx.state.workers().timers().clear(life.key(), LifeTimer::AskAgain);
  if (!word || !life.info().drain_order || word->order < *life.info().drain_order) return;
  ctx.state.workers().set_drain_heard(life, word->told, word->order);
  ctx.state.workers().set_says_draining(life, word->draining);
  if (!word->draining || life.info().draining) return;
  ctx.state.workers().timers().set(life.key(), LifeTimer::AskAgain, ctx.now.mono + kAskAgain);
}

void apply_drain_ack_of_node(Context& ctx, LifeEntry& life, const model::WorkerInfo& known) {
  WorkerTable& workers = ctx.state.workers();
  if (!known.drain_order || !life.info().drain_order || *life.info().drain_order >= *known.drain_order) {
    return workers.set_says_draining(life, false);
  }
  workers.set_drain_heard(life, known.drain_told, known.drain_order);
}

void hand_over(Context& ctx, LifeEntry& life) {
  State& state = ctx.state;
  if (state.workers().find_drain(life.key().id) == nullptr) return;
  std::int64_t ended = 0;
  for (const RunId id : state.workers().runs_on(life.key().id)) {
    RunEntry& run = *state.find_run(id);
    if (!run.is_held() || run.progress().cancel_asked || run.handed_over) continue;
    run.handed_over = true;
    ++state.counters().handed_over;
    ++ended;
    send_cancel(ctx, run);
  }
  if (ended == 0) return;
  tell(ctx, "drain's deadline passed; attempts are ended and handed over",
       {{"worker", life.key().id}, {"attempts", std::to_string(ended)}});
}

bool was_handed_over(const Context& ctx, const RunEntry& run) {
  if (run.progress().cancel_asked || run.timed_out) return false;
  if (run.handed_over) return true;
  const model::WorkerDrain* drain = ctx.state.workers().find_drain(run.progress().worker().id);
  return drain != nullptr && drain->deadline && *drain->deadline <= ctx.at;
}

}  // namespace rota::master::core
