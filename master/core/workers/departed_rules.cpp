#include "master/core/workers/departed_rules.h"

#include <algorithm>
#include <utility>

#include "common/base/utf8.h"
#include "master/core/batch_rows.h"
#include "master/core/notices.h"

namespace rota::master::core {
namespace {

constexpr std::string_view kUnseenEnd = "its node was gone when this leader took office";

/// Room for one more: who left first goes first.
void bound_departed(State& state) {
  std::erase_if(state.departed, [&](const auto& each) {
    return !is_kept(each.second, state.options.keep_offline, state.core_time);
  });
  while (state.departed.size() > kDepartedMost) {
    state.departed.erase(std::ranges::min_element(
        state.departed, {}, [](const auto& each) { return each.second.left; }));
  }
}

DepartedWorker departed_of(const WorkerLife& row) {
  DepartedWorker worker;
  worker.info.key = row.key;
  worker.info.address = row.address;
  worker.info.pool = row.pool;
  worker.info.slots = 0;
  worker.info.started = row.joined;
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
  row.forgotten = true;
  return row;
}

void forget_drain(Context& ctx, const ForgetWorker& event) {
  const auto found = ctx.state.drains.find(event.worker);
  if (found == ctx.state.drains.end()) return;
  model::WorkerDrain drain = std::move(found->second);
  ctx.state.drains.erase(found);
  drain.draining = false;
  drain.deadline.reset();
  drain.principal = event.principal;
  drain.why = "forgotten";
  drain.changed = ctx.at;
  ctx.out.changes.drains.push_back(std::move(drain));
}

}  // namespace

std::string_view why_it_left(const LifeEntry& life) {
  const bool was_stopping = life.info.stops_at || (life.info.draining && life.info.drain_told == false);
  return was_stopping && life.attempts.empty() ? kWasStopped : kVanished;
}

void note_departed(Context& ctx, const LifeEntry& life) {
  DepartedWorker& worker = ctx.state.departed[life.info.key.id];
  worker.info = life.info;
  worker.info.started = life.joined;
  worker.left = ctx.at;
  worker.why = life.why;
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
      state.departed.insert_or_assign(life.key.id, departed_of(life));
    } else {
      state.open_rows.insert_or_assign(life.key.id, std::move(life));
    }
  }
  bound_departed(state);
}

void end_open_rows(Context& ctx) {
  State& state = ctx.state;
  for (auto& [id, row] : std::exchange(state.open_rows, {})) {
    const auto worker = state.workers.find(id);
    const bool is_here = worker != state.workers.end() && !worker->second.present.empty();
    if (is_here && worker->second.present.contains(row.key.incarnation)) continue;
    row.left = ctx.at;
    row.why_left = kUnseenEnd;
    if (!is_here) state.departed.insert_or_assign(id, departed_of(row));
    if (!is_here) warn(ctx, "worker is gone", {{"worker", id}, {"why", row.why_left}});
    ctx.out.changes.lives.push_back(std::move(row));
  }
  bound_departed(state);
  for (auto& [key, life] : state.lives) {
    if (life.present || life.left) continue;
    const auto known = state.departed.find(key.id);
    life.left = known == state.departed.end() ? ctx.at : known->second.left;
    life.why = known == state.departed.end() ? std::string(kUnseenEnd) : known->second.why;
  }
}

void handle_forget_worker(Context& ctx, const ForgetWorker& event) {
  State& state = ctx.state;
  const auto life = state.lives.lower_bound({event.worker, ""});
  if (life != state.lives.end() && life->first.id == event.worker) {
    const bool is_here = !state.worker_of(event.worker).present.empty();
    const std::string why = is_here ? "is here; stop it first"
                                    : "may still run attempts; ask again after their fence";
    return reply(ctx, event.token,
                 Error(ErrorCode::Conflict, "worker '" + shown_text(event.worker) + "' " + why));
  }
  const auto departed = state.departed.find(event.worker);
  if (departed == state.departed.end() && !state.drains.contains(event.worker)) {
    return reply(ctx, event.token,
                 Error(ErrorCode::NotFound, "no worker '" + shown_text(event.worker) +
                                                "' is known; rota worker list names them"));
  }
  if (departed != state.departed.end()) {
    ctx.out.changes.lives.push_back(forgotten_row(departed->second, state.zookeeper_number));
    state.departed.erase(departed);
  }
  forget_drain(ctx, event);
  tell(ctx, "worker forgotten", {{"worker", event.worker}, {"by", event.principal}});
  reply(ctx, event.token, WorkerForgotten{});
}

}  // namespace rota::master::core
