#include "master/core/workers/departed_rules.h"

#include <algorithm>
#include <utility>

#include "common/base/utf8.h"
#include "master/core/batch_rows.h"
#include "master/core/notices.h"
#include "master/core/workers/conduct_rules.h"
#include "master/core/notify/expect_rules.h"
#include "master/core/notify/notify_rules.h"

namespace rota::master::core {
namespace {

constexpr std::string_view kUnseenEnd = "its node was gone when this leader took office";

DepartedWorker departed_of(const WorkerLife& row) {
  DepartedWorker worker;
  worker.info.key = row.key;
  worker.info.address = row.address;
  worker.info.pool = row.pool;
  worker.info.slots = 0;
  worker.info.started = row.joined;
  worker.had_slots = row.slots;
  worker.info.offers = row.offers;
  worker.left = row.left.value_or(WallTime{});
  worker.why = row.why_left;
  return worker;
}

WorkerLife forgotten_row(const DepartedWorker& worker, std::int64_t seen_in) {
  WorkerLife row;
  row.key = worker.info.key;
  row.address = worker.info.address;
  row.pool = worker.info.pool;
  row.joined = worker.info.started;
  row.left = worker.left;
  row.why_left = worker.why;
  row.seen_in = seen_in;
  row.slots = worker.had_slots;
  row.offers = worker.info.offers;
  row.forgotten = true;
  return row;
}

void forget_drain(Context& ctx, const ForgetWorker& event) {
  if (ctx.state.workers().find_drain(event.worker) == nullptr) return;
  model::WorkerDrain drain = ctx.state.workers().end_drain(event.worker);
  drain.draining = false;
  drain.deadline.reset();
  drain.principal = event.principal;
  drain.why = "forgotten";
  drain.changed = ctx.at;
  ctx.out.changes.drains.push_back(std::move(drain));
}

}  // namespace

void bound_departed(State& state) {
  state.departed().keep_if([&](const DepartedWorker& each) {
    return is_kept(each, state.options().keep_offline, state.core_time());
  });
  state.departed().bound(kDepartedMost);
}

std::string_view why_it_left(const LifeEntry& life) {
  const bool was_stopping = life.info().stops_at || (life.info().draining && life.info().drain_told == false);
  return was_stopping && life.attempts().empty() ? kWasStopped : kVanished;
}

void note_departed(Context& ctx, const LifeEntry& life) {
  DepartedWorker worker;
  worker.info = life.info();
  worker.info.started = life.joined;
  worker.had_slots = life.info().slots;
  worker.left = ctx.at;
  worker.why = life.why;
  worker.heard = life.heard;
  if (worker.why != kWasStopped) {
    const std::string& id = life.key().id;
    notify_of_cluster(ctx, model::Happening::WorkerOffline, id, "worker " + id + " is gone: " + life.why);
    ctx.state.expects().note_away(id, ctx.at, life.why);
  }
  ctx.state.departed().depart(std::move(worker));
  bound_departed(ctx.state);
}

bool is_kept(const DepartedWorker& worker, Millis keep_offline, WallTime now) {
  const Millis keep = worker.why == kWasStopped ? std::min(kKeepStopped, keep_offline) : keep_offline;
  return now - worker.left < keep;
}

void recover_departed(State& state, std::vector<WorkerLife> lives) {
  for (WorkerLife& life : lives) {
    if (life.forgotten) continue;
    if (life.left) {
      recover_away(state, life.key.id, *life.left, life.why_left);
      state.departed().depart(departed_of(life));
    } else {
      state.departed().add_open_row(std::move(life));
    }
  }
  bound_departed(state);
}

void end_open_rows(Context& ctx) {
  State& state = ctx.state;
  for (auto& [id, row] : state.departed().close_rows()) {
    const WorkerEntry* worker = state.workers().find_worker(id);
    const bool is_here = worker != nullptr && !worker->present().empty();
    if (is_here && worker->present().contains(row.key.incarnation)) continue;
    row.left = ctx.at;
    row.why_left = kUnseenEnd;
    if (!is_here) state.departed().depart(departed_of(row));
    if (!is_here) {
      warn(ctx, "worker is gone", {{"worker", id}, {"why", row.why_left}});
      const std::string text = "worker " + id + " is gone: " + row.why_left;
      notify_of_cluster(ctx, model::Happening::WorkerOffline, id, text);
      ctx.state.expects().note_away(id, ctx.at, row.why_left);
    }
    ctx.out.changes.lives.push_back(std::move(row));
  }
  bound_departed(state);
  for (auto& [key, life] : state.workers().lives()) {
    if (life.is_present() || life.left) continue;
    const DepartedWorker* known = state.departed().find(key.id);
    life.left = known == nullptr ? ctx.at : known->left;
    life.why = known == nullptr ? std::string(kUnseenEnd) : known->why;
  }
}

void handle_forget_worker(Context& ctx, const ForgetWorker& event) {
  State& state = ctx.state;
  if (state.workers().has_life(event.worker)) {
    const bool is_here = !state.workers().worker_of(event.worker).present().empty();
    const std::string why = is_here ? "is here; stop it first"
                                    : "may still run attempts; ask again after their fence";
    return reply(ctx, event.token,
                 Error(ErrorCode::Conflict, "worker '" + shown_text(event.worker) + "' " + why));
  }
  const DepartedWorker* departed = state.departed().find(event.worker);
  if (departed == nullptr && state.workers().find_drain(event.worker) == nullptr) {
    return reply(ctx, event.token,
                 Error(ErrorCode::NotFound, "no worker '" + shown_text(event.worker) +
                                                "' is known; rota worker list names them"));
  }
  if (departed != nullptr) {
    ctx.out.changes.lives.push_back(forgotten_row(*departed, state.listings().zookeeper_number()));
    state.departed().forget(event.worker);
    state.expects().note_back(event.worker);
  }
  forget_drain(ctx, event);
  drop_hold(ctx, event.worker);
  tell(ctx, "worker forgotten", {{"worker", event.worker}, {"by", event.principal}});
  reply(ctx, event.token, WorkerForgotten{});
}

}  // namespace rota::master::core
