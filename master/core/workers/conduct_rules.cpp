#include "master/core/workers/conduct_rules.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/duration_text.h"
#include "master/core/attempts/fence_rules.h"
#include "master/core/notices.h"
#include "master/core/workers/worker_state_rules.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::core {

using model::WorkerHold;

namespace {

constexpr Millis kHoldForgotten{24 * 3'600'000};  // of a worker that is not here

void store(Context& ctx, const WorkerHold& hold) {
  ctx.state.workers().put_hold(hold);
  ctx.out.changes.holds.push_back(hold);
}

const std::string& name_of_failed_job(const State& state, JobId id) {
  static const std::string kGone = "a job that is gone";
  const JobEntry* job = state.find_job(id);
  return job == nullptr ? kGone : job->row.name;
}

void begin_hold(Context& ctx, const std::string& worker, const std::string& pool, WorkerHold::Kind kind,
                std::string why) {
  State& state = ctx.state;
  const Millis first = state.options().hold_first;
  WorkerHold hold;
  hold.number = state.new_hold_number();
  hold.worker = worker;
  hold.pool = pool;
  hold.kind = kind;
  const WorkerHold* before = state.workers().find_hold(worker);
  hold.strikes = (before != nullptr ? before->strikes : state.conduct().strikes(worker, ctx.now.mono)) + 1;
  hold.since = ctx.at;
  const Millis time = hold_time(first, hold.strikes);
  hold.until = ctx.at + time;
  hold.why = std::move(why);
  state.conduct().note_strikes(worker, hold.strikes, ctx.now.mono + time);
  if (before != nullptr) {
    WorkerHold ended = *before;
    ended.ended = ctx.at;
    store(ctx, ended);
  }
  store(ctx, hold);
  state.workers().hold_timers().set(worker, HoldTimer::End, ctx.now.mono + time);
  ++state.counters().holds;
  warn(ctx, kind == WorkerHold::Kind::Excluded ? "worker is excluded" : "worker is flapping",
       {{"worker", worker}, {"for", format_duration(time)}, {"why", hold.why}});
}

void end_hold(Context& ctx, WorkerHold hold, std::string_view why) {
  hold.ended = ctx.at;
  store(ctx, hold);
  tell(ctx, "worker gets its share again", {{"worker", hold.worker}, {"why", std::string(why)}});
}

const LifeEntry* present_life(const State& state, const std::string& worker) {
  for (const auto& [key, life] : state.workers().lives_of(worker)) {
    if (life.is_present()) return &life;
  }
  return nullptr;
}

/// A trial has no end in time, unless its worker stays away.
void watch_trial(Context& ctx, const std::string& worker) {
  WorkerTable& workers = ctx.state.workers();
  workers.hold_timers().clear(worker, HoldTimer::End);
  if (present_life(ctx.state, worker) != nullptr) return;
  workers.hold_timers().set(worker, HoldTimer::End, ctx.now.mono + kHoldForgotten);
}

/// Excluded: what it did until now does not count, and one attempt at a time shows how it is.
void begin_trial(Context& ctx, WorkerHold hold) {
  hold.trial = ctx.at;
  store(ctx, hold);
  watch_trial(ctx, hold.worker);
  ctx.state.conduct().forget_failures(hold.worker);
  tell(ctx, "worker is on trial", {{"worker", hold.worker}});
}

/// It is left out no longer, since its time is over or since too many are.
void let_back(Context& ctx, const WorkerHold& hold, std::string_view why) {
  hold.kind == WorkerHold::Kind::Excluded ? begin_trial(ctx, hold) : end_hold(ctx, hold, why);
}

void accuse(Context& ctx, const std::string& worker, const std::string& words) {
  for (const auto& [key, life] : ctx.state.workers().lives_of(worker)) {
    LifeEntry* accused = ctx.state.find_life(key);
    if (accused->accused == words) continue;
    accused->accused = words;
    judge_signs(ctx, *accused);
  }
}

std::size_t jobs_to_exclude(const State& state) {
  return static_cast<std::size_t>(state.options().jobs_to_exclude);
}

/// Whether jobs that failed there and succeed elsewhere are too many now.
void judge_failures(Context& ctx, const std::string& worker) {
  State& state = ctx.state;
  const LifeEntry* life = present_life(state, worker);
  if (life == nullptr) return;
  const WorkerHold* hold = state.workers().find_hold(worker);
  if (hold != nullptr && hold->is_closed()) return;
  const std::vector<JobId> proven = state.conduct().proven_against(worker, ctx.now.mono);
  const std::size_t too_many = hold != nullptr ? kJobsOnTrial : jobs_to_exclude(state);
  if (proven.size() < too_many) return accuse(ctx, worker, {});
  std::vector<std::string> names;
  for (const JobId job : proven) names.push_back(name_of_failed_job(state, job));
  const PoolCount count = state.workers().count_in(life->info().pool);
  if (!may_leave_out_more(count.here, count.left_out)) {
    return accuse(ctx, worker, excluded_words(names) + " (not excluded: at most a third of a pool is)");
  }
  accuse(ctx, worker, {});
  const std::string pool = life->info().pool;
  begin_hold(ctx, worker, pool, WorkerHold::Kind::Excluded, excluded_words(names));
  state.conduct().forget_failures(worker);
}

}  // namespace

void note_success_there(Context& ctx, const RunEntry& run) {
  State& state = ctx.state;
  const std::string worker = run.progress().worker().id;
  const std::vector<std::string> others =
      state.conduct().note_success(worker, run.row().job, ctx.now.mono);
  for (const std::string& other : others) judge_failures(ctx, other);
  const WorkerHold* hold = state.workers().find_hold(worker);
  const bool was_tried = hold != nullptr && hold->trial && run.progress().dispatched() &&
                         *run.progress().dispatched() >= *hold->trial;
  if (was_tried) end_hold(ctx, *hold, "an attempt on trial succeeded");
  const LifeEntry* life = run.life();
  if (life != nullptr && !life->accused.empty()) judge_failures(ctx, worker);
}

void note_failure_there(Context& ctx, const RunEntry& run) {
  const std::string worker = run.progress().worker().id;
  ctx.state.conduct().note_failure(worker, run.row().job, ctx.now.mono);
  judge_failures(ctx, worker);
}

void note_life_here(Context& ctx, LifeEntry& life) {
  State& state = ctx.state;
  const std::string id = life.key().id, pool = life.info().pool;
  if (life.is_settling()) state.workers().set_settling(life, false);
  const WorkerHold* hold = state.workers().find_hold(id);
  if (hold != nullptr && hold->trial) watch_trial(ctx, id);
  const PoolCount count = state.workers().count_in(pool);
  const int lost = state.conduct().lost_alone(id, pool, crowd_of(count.here), ctx.now.mono);
  const bool may_hold = hold == nullptr && may_leave_out_more(count.here, count.left_out);
  if (lost + 1 >= state.options().lives_to_flap && may_hold) {
    state.conduct().forget_lost(id, pool);
    begin_hold(ctx, id, pool, WorkerHold::Kind::Flapping, flapping_words(lost + 1));
  }
  const std::size_t came = state.conduct().note_return(pool, kCrowdSpread, ctx.now.mono);
  const auto crowd = static_cast<std::size_t>(state.options().return_crowd);
  const Millis wait = crowd_wait(came, crowd, hash_of(id));
  if (wait <= Millis{0}) return;
  ++state.counters().let_in_later;
  state.workers().set_settling(life, true);
  state.workers().timers().set(life.key(), LifeTimer::LetIn, ctx.now.mono + wait);
}

void let_in(Context& ctx, LifeEntry& life) {
  ctx.state.workers().set_settling(life, false);
  ctx.state.workers().mark_pool(life.info().pool);
}

void note_life_lost(Context& ctx, const LifeEntry& life) {
  const std::string& id = life.key().id;
  if (life.why != kWasStopped) ctx.state.conduct().note_lost(id, life.info().pool, ctx.now.mono);
  const WorkerHold* hold = ctx.state.workers().find_hold(id);
  if (hold != nullptr && hold->trial) watch_trial(ctx, id);
}

void judge_signs(Context& ctx, LifeEntry& life) {
  if (!life.accused.empty()) {
    const auto proven = ctx.state.conduct().proven_against(life.key().id, ctx.now.mono);
    if (proven.size() < jobs_to_exclude(ctx.state)) life.accused.clear();
  }
  WorkerSigns signs;
  signs.is_silent = silent_since(life, ctx.now.mono).has_value();
  signs.answer_ms = life.answer_ms();
  signs.slow_answer = ctx.state.options().slow_answer;
  signs.load_most = ctx.state.options().load_most;
  signs.clock_off_most = ctx.state.options().clock_off_most;
  if (life.info().vitals && life.has_fresh_figures) {
    signs.load_percent = life.info().vitals->load_percent;
    signs.health = life.info().vitals->health;
  }
  if (life.clock.is_known()) signs.clock_offset = life.clock.best();
  signs.accused = life.accused;
  const bool was = !life.warning.empty();
  life.warning = warning_words(signs, was);
  if (was == !life.warning.empty()) return;
  ctx.state.workers().set_half(life, !was);
  if (was) {
    tell(ctx, "worker gets its whole share again", {{"worker", life.key().id}});
  } else {
    ++ctx.state.counters().warnings;
    warn(ctx, "worker gets half of its share", {{"worker", life.key().id}, {"why", life.warning}});
  }
}

void judge_all_anew(Context& ctx) {
  std::vector<model::WorkerKey> here;
  for (const auto& [key, life] : ctx.state.workers().lives()) {
    if (life.is_present()) here.push_back(key);
  }
  for (const model::WorkerKey& key : here) {
    judge_failures(ctx, key.id);
    judge_signs(ctx, *ctx.state.find_life(key));
  }
}

/// Those that would be over by now end with the next look at the time.
void shorten_holds(Context& ctx) {
  State& state = ctx.state;
  std::vector<WorkerHold> longer;
  for (const auto& [id, hold] : state.workers().holds()) {
    const Millis most = hold_time(state.options().hold_first, hold.strikes);
    if (!hold.trial && hold.until > hold.since + most) longer.push_back(hold);
  }
  for (WorkerHold& hold : longer) {
    hold.until = std::max(hold.since + hold_time(state.options().hold_first, hold.strikes), ctx.at);
    store(ctx, hold);
    const MonoTime ends = ctx.now.mono + (hold.until - ctx.at);
    state.conduct().note_strikes(hold.worker, hold.strikes, ends);
    state.workers().hold_timers().set(hold.worker, HoldTimer::End, ends);
  }
}

void end_hold_time(Context& ctx, const std::string& worker) {
  const WorkerHold* hold = ctx.state.workers().find_hold(worker);
  if (hold == nullptr) return;
  if (hold->trial) return end_hold(ctx, *hold, "it has not been here for long");
  let_back(ctx, WorkerHold(*hold), "its time is over");
}

void keep_within_third(Context& ctx, const std::string& pool) {
  State& state = ctx.state;
  if (state.workers().holds().empty() || !state.listings().is_listed()) return;
  const PoolCount count = state.workers().count_in(pool);
  for (std::size_t more = left_out_too_many(count.here, count.left_out); more > 0; --more) {
    const WorkerHold* first = nullptr;  // whose time is over first
    for (const auto& [id, hold] : state.workers().holds()) {
      if (!hold.is_closed() || hold.pool != pool || present_life(state, id) == nullptr) continue;
      if (first == nullptr || hold.until < first->until) first = &hold;
    }
    if (first == nullptr) return;
    let_back(ctx, WorkerHold(*first), "more than a third of its pool was left out");
  }
}

void drop_hold(Context& ctx, const std::string& worker) {
  const WorkerHold* hold = ctx.state.workers().find_hold(worker);
  if (hold != nullptr) end_hold(ctx, *hold, "it was forgotten");
}

/// What is left of its time is counted by the core's time, and is never longer than the rule says.
void recover_holds(State& state, const std::vector<WorkerHold>& holds, Now now) {
  for (const WorkerHold& hold : holds) {
    if (hold.ended) continue;
    state.workers().put_hold(hold);
    const Millis most = hold_time(state.options().hold_first, hold.strikes);
    const Millis left = std::clamp<Millis>(hold.until - state.core_time(), Millis{0}, most);
    state.conduct().note_strikes(hold.worker, hold.strikes, now.mono + left);
    if (!hold.trial) state.workers().hold_timers().set(hold.worker, HoldTimer::End, now.mono + left);
  }
}

void store_recovered_holds(Context& ctx) {
  State& state = ctx.state;
  std::vector<WorkerHold> before;
  for (const auto& [id, hold] : state.workers().holds()) before.push_back(hold);
  for (WorkerHold& hold : before) {
    WorkerHold next = hold;
    hold.ended = ctx.at;
    ctx.out.changes.holds.push_back(hold);
    next.number = state.new_hold_number();
    next.since = ctx.at;
    if (next.trial) next.trial = ctx.at;
    store(ctx, next);
    if (next.trial) watch_trial(ctx, next.worker);
  }
  std::vector<std::string> pools;
  for (const WorkerHold& hold : before) pools.push_back(hold.pool);
  for (const std::string& pool : pools) keep_within_third(ctx, pool);
}

}  // namespace rota::master::core
