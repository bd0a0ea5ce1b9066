#include "master/core/workers/drain_rules.h"

#include <algorithm>
#include <utility>

#include "common/base/utf8.h"
#include "master/core/batch_rows.h"
#include "master/core/admission/dispatch_rules.h"
#include "master/core/notices.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::core {
namespace {

constexpr Millis kTellAgain{2000};
constexpr Millis kAskAgain{5000};

std::vector<model::WorkerKey> lives_of(const State& state, const std::string& id) {
  std::vector<model::WorkerKey> all;
  for (auto at = state.lives.lower_bound({id, ""}); at != state.lives.end() && at->first.id == id; ++at) {
    all.push_back(at->first);
  }
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
  tell(ctx, "drain begun", std::move(keys));
  ctx.state.drains[event.worker] = std::move(drain);
}

/// What was told to end at the deadline still ends.
void end_drain(Context& ctx, const DrainWorker& event) {
  State& state = ctx.state;
  model::WorkerDrain drain = state.drains.at(event.worker);
  drain.draining = false;
  drain.deadline.reset();
  drain.principal = event.principal;
  drain.why = event.why;
  drain.changed = ctx.at;
  tell(ctx, "drain ended", {{"worker", drain.worker}, {"by", drain.principal}, {"why", drain.why}});
  ctx.out.changes.drains.push_back(std::move(drain));
  state.drains.erase(event.worker);
}

/// True when this life has to hear of the wish (again); notes what it is told then.
bool must_tell(State& state, LifeEntry& life, bool wanted) {
  const bool knows = life.told_drain ? life.told_drain->draining == wanted : *life.info.drain_told == wanted;
  if (knows && life.drain_ack_pending()) return true;
  if (knows && *life.info.drain_told == wanted) return false;
  life.told_drain = DrainTelling{wanted, state.new_drain_order()};
  return true;
}

/// True when the wish differs from what stands: a second drain may move the deadline.
bool is_news(const State& state, const DrainWorker& event) {
  const auto found = state.drains.find(event.worker);
  if (found == state.drains.end()) return event.draining;
  return !event.draining || event.deadline > Millis{0} || found->second.deadline.has_value();
}

}  // namespace

void handle_drain_worker(Context& ctx, const DrainWorker& event) {
  State& state = ctx.state;
  const std::vector<model::WorkerKey> lives = lives_of(state, event.worker);
  const bool is_known = state.drains.contains(event.worker) || state.departed.contains(event.worker);
  if (lives.empty() && !is_known) {
    reply(ctx, event.token, Error(ErrorCode::NotFound, "no worker '" + shown_text(event.worker) +
                                                           "' is here; rota worker list names them"));
    return;
  }
  const bool changed = is_news(state, event);
  if (changed) event.draining ? begin_drain(ctx, event) : end_drain(ctx, event);
  for (const model::WorkerKey& key : lives) {
    LifeEntry& life = *state.find_life(key);
    if (changed) follow_drain(ctx, life);
    state.refresh(life);
    state.pools_to_pump.insert(life.info.pool);
  }
  reply(ctx, event.token, DrainTaken{changed, static_cast<std::int32_t>(state.runs_on(event.worker).size())});
}

void follow_drain(Context& ctx, LifeEntry& life) {
  State& state = ctx.state;
  const model::WorkerKey& key = life.info.key;
  state.life_timers.clear(key, LifeTimer::TellDrain);
  state.life_timers.clear(key, LifeTimer::HandOver);
  if (!life.present || !life.reconciled) return;
  const auto drain = state.drains.find(key.id);
  const bool wanted = drain != state.drains.end();
  if (wanted && drain->second.deadline) {
    const Millis left = std::max(*drain->second.deadline - ctx.at, Millis{0});
    state.life_timers.set(key, LifeTimer::HandOver, ctx.now.mono + left);
  }
  if (!life.info.drain_told || !must_tell(state, life, wanted)) return;
  ctx.out.sends.push_back(SendDrain{key, life.info.address, wanted, life.told_drain->order});
  state.life_timers.set(key, LifeTimer::TellDrain, ctx.now.mono + kTellAgain);
}

void apply_drain_ack(Context& ctx, LifeEntry& life, const std::optional<model::DrainAck>& word) {
  life.says_draining = false;
  ctx.state.life_timers.clear(life.info.key, LifeTimer::AskAgain);
  if (!word || !life.info.drain_order || word->order < *life.info.drain_order) return;
  life.info.drain_told = word->told;
  life.info.drain_order = word->order;
  life.says_draining = word->draining;
  if (!word->draining || life.info.draining) return;
  ctx.state.life_timers.set(life.info.key, LifeTimer::AskAgain, ctx.now.mono + kAskAgain);
}

void apply_drain_ack_of_node(LifeEntry& life, const model::WorkerInfo& known) {
  if (!known.drain_order || !life.info.drain_order || *life.info.drain_order >= *known.drain_order) {
    life.says_draining = false;
    return;
  }
  life.info.drain_told = known.drain_told;
  life.info.drain_order = known.drain_order;
}

void hand_over(Context& ctx, LifeEntry& life) {
  State& state = ctx.state;
  if (!state.drains.contains(life.info.key.id)) return;
  std::int64_t ended = 0;
  for (const RunId id : state.runs_on(life.info.key.id)) {
    RunEntry& run = *state.find_run(id);
    if (!run.is_held() || run.progress().cancel_asked || run.handed_over) continue;
    run.handed_over = true;
    ++state.counters.handed_over;
    ++ended;
    send_cancel(ctx, run);
  }
  if (ended == 0) return;
  tell(ctx, "drain's deadline passed; attempts are ended and handed over",
       {{"worker", life.info.key.id}, {"attempts", std::to_string(ended)}});
}

bool was_handed_over(const Context& ctx, const RunEntry& run) {
  if (run.progress().cancel_asked || run.timed_out) return false;
  if (run.handed_over) return true;
  const auto drain = ctx.state.drains.find(run.progress().worker.id);
  return drain != ctx.state.drains.end() && drain->second.deadline && *drain->second.deadline <= ctx.at;
}

}  // namespace rota::master::core
