#include "route_watch.h"

#include <algorithm>
#include <tuple>

#include "demand_draw.h"
#include "route_judge.h"
#include "world.h"

namespace rota::sim {

using model::RouteKind;
using std::chrono_literals::operator""ms;

namespace {
constexpr Millis kLooks{200};
constexpr Millis kCalm{10'000};   // without a change of anything that routes go by
constexpr Millis kTold{2000};     // after an attempt's end, its leader knows it
}  // namespace

void RouteWatch::begin() {
  look();
  world_.after(kLooks, [this] { begin(); });
}

void RouteWatch::look() {
  std::string now = signs();
  if (now == signs_) return;
  signs_ = std::move(now);
  changed_ = world_.now();
}

std::string RouteWatch::signs() const {
  std::string text = std::to_string(world_.store.epoch().value);
  for (const auto& worker : world_.workers) {
    const model::WorkerInfo info = worker->info();
    text += ";" + info.key.incarnation;
    const bool is_second = worker->is_spare() && worker->is_up();
    for (const bool is : {worker->is_registered(), worker->is_greeted(), info.draining,
                          worker->stands_still(), worker->has_lost_slots(), is_second}) {
      text += is ? '1' : '0';
    }
    text += std::to_string(worker->refusals());
  }
  for (const auto& [number, hold] : world_.store.tables().holds) {
    if (!hold.ended) text += ";" + hold.worker + " held";
  }
  for (const auto& [worker, drain] : world_.store.tables().drains) {
    text += ";" + worker + (drain.draining ? " drained" : " resumed");
  }
  return text;
}

bool RouteWatch::is_calm() const {
  if (!world_.is_healed() || world_.now() - changed_ < kCalm) return false;
  const auto& holds = world_.store.tables().holds;
  if (std::ranges::any_of(holds, [](const auto& each) { return !each.second.ended; })) return false;
  return std::ranges::none_of(world_.workers, [](const auto& worker) {
    return worker->has_lost_slots() || (worker->is_spare() && worker->is_up());
  });
}

void RouteWatch::note_end(std::size_t worker) { last_end_[worker] = world_.now(); }

std::vector<std::size_t> RouteWatch::candidates(const model::JobRules& rules,
                                                const std::string& handler) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < world_.workers.size(); ++i) {
    const SimWorker& worker = *world_.workers[i];
    if (!worker.is_registered() || !worker.is_greeted()) continue;
    const model::WorkerInfo info = worker.info();
    if (judge_route(rules, handler, info).empty() && !info.draining) out.push_back(i);
  }
  return out;
}

/// It has a free slot, and it had one whenever the leader may have chosen a worker for what starts now.
bool RouteWatch::is_surely_free(std::size_t worker) const {
  const auto ended = last_end_.find(worker);
  if (ended != last_end_.end() && world_.now() - ended->second < kTold) return false;
  const model::WorkerInfo info = world_.workers[worker]->info();
  const auto held = std::ranges::count_if(world_.store.runs(), [&](const auto& each) {
    const model::RunProgress& run = each.second.progress;
    const bool is_held = run.state == model::RunState::Dispatched || run.state == model::RunState::Running;
    return is_held && run.worker.id == info.key.id;
  });
  return held < info.slots;
}

std::string RouteWatch::judge(const model::JobDefinition& definition, const master::core::DispatchItem& item,
                              std::size_t taker) {
  look();
  const model::JobRules& rules = definition.rules;
  const bool is_of_start = item.kind == model::RunKind::WorkerStart;
  const auto row = world_.store.runs().find(item.attempt.run);
  if (is_of_start || row == world_.store.runs().end()) return "";
  if (!rules.prefer.empty()) return judge_preference(rules, item, row->second, taker);
  // Where a worker may be kept for a wide run nobody else knows who is free.
  if (has_wide_runs(world_.recipe.seed) || !is_calm()) return "";
  if (row->second.progress.epoch != world_.store.epoch()) return "";
  std::vector<std::size_t> among = candidates(rules, definition.work.handler);
  if (!leave_out_last(rules.retry, item.attempt, taker, among)) return "";
  if (rules.route != RouteKind::ConsistentHash) return judge_rank(definition, among, taker);
  const std::string of_job = "job " + std::to_string(item.job.value);
  return judge_hash(rules.route_key.empty() ? of_job : rules.route_key, among, taker);
}

/// The first attempt, in the Term that made its run: sent to another worker only when the time of those with
/// the labels is over. A worker that refuses an attempt makes it a second one.
std::string RouteWatch::judge_preference(const model::JobRules& rules, const master::core::DispatchItem& item,
                                         const model::Run& row, std::size_t taker) const {
  const model::WorkerInfo info = world_.workers[taker]->info();
  if (has_labels(info, rules.prefer)) {
    world_.marks.hit("preference_met");
    return "";
  }
  world_.marks.hit("preference_over");
  const auto stored = world_.store.stored_at(row.id);
  const bool is_of_term = row.id.value >> kIdCounterBits == world_.store.epoch().value;
  if (item.attempt.attempt != 1 || !stored || !is_of_term || !world_.clocks_tell()) return "";
  const Millis least = rules.prefer_for * 9 / 10 - 100ms;  // clocks drift, and the row was under way for a while
  if (world_.now() - *stored >= least) return "";
  // The row may have been on its way for long: by the leader's clock it was decided before.
  const auto leader = std::ranges::find_if(world_.masters, [&](const auto& each) {
    return each->leads() && each->epoch() == world_.store.epoch();
  });
  if (leader == world_.masters.end() || (*leader)->wall() - row.recorded >= least) return "";
  return "route: run " + std::to_string(row.id.value) + " starts on " + info.key.id +
         ", which has not the labels that it prefers, after " +
         std::to_string(std::chrono::duration_cast<Millis>(world_.now() - *stored).count()) + " of " +
         std::to_string(rules.prefer_for.count()) + " ms";
}

bool RouteWatch::leave_out_last(const model::RetryRule& rule, model::AttemptKey attempt, std::size_t taker,
                                std::vector<std::size_t>& among) const {
  if (rule.another_worker == model::AnotherWorker::Any || attempt.attempt == 1) return true;
  const auto& rows = world_.store.tables().attempts;
  const auto last = rows.find({attempt.run, attempt.attempt - 1});
  if (last == rows.end() || last->second.worker.id == world_.workers[taker]->id()) return false;
  std::erase_if(among, [&](std::size_t one) { return world_.workers[one]->id() == last->second.worker.id; });
  return true;
}

std::string RouteWatch::judge_rank(const model::JobDefinition& definition, const std::vector<std::size_t>& among,
                                   std::size_t taker) {
  const RouteKind route = definition.rules.route;
  const bool waits = route == RouteKind::First || route == RouteKind::Last || route == RouteKind::Failover;
  if (!waits && route != RouteKind::Busyover) return "";
  world_.marks.hit(waits ? "route_with_one_in_mind_judged" : "busyover_judged");
  const auto place = [this](std::size_t worker) {
    const model::WorkerInfo info = world_.workers[worker]->info();
    return std::tuple(info.rank, info.key.id);
  };
  for (const std::size_t other : among) {
    if (other == taker) continue;
    const bool is_sooner = route == RouteKind::Last ? place(other) > place(taker) : place(other) < place(taker);
    if (!is_sooner) continue;
    if (!waits && !is_surely_free(other)) {
      world_.marks.hit("busyover_passed_a_full_worker");
      continue;
    }
    return "route: " + definition.name + " starts on " + world_.workers[taker]->id() + ", and " +
           world_.workers[other]->id() + " comes before it";
  }
  return "";
}

std::string RouteWatch::judge_hash(const std::string& key, const std::vector<std::size_t>& among,
                                   std::size_t taker) {
  if (world_.has_half_shares()) return "";
  const std::string& id = world_.workers[taker]->id();
  std::map<std::string, bool> could;  // and whether it had a free slot for sure
  for (const std::size_t one : among) could[world_.workers[one]->id()] = one == taker || is_surely_free(one);
  if (!could.contains(id)) return "";
  std::set<std::string> ids;
  for (const auto& [one, is_free] : could) ids.insert(one);
  auto& known = homes_[key];
  for (const auto& [others, home] : known) {
    const bool shrank = std::ranges::includes(others, ids) && ids.contains(home);
    const bool grew = std::ranges::includes(ids, others) && others.contains(id);
    if (!shrank && !grew) continue;
    if (home == id && ids.size() > 1) world_.marks.hit("key_went_home");
    if (home == id || !could.at(home)) continue;
    return "route: the key " + key + " was at home on " + home + ", and goes to " + id;
  }
  const bool are_all_free = std::ranges::all_of(could, [](const auto& one) { return one.second; });
  if (are_all_free) known.emplace(std::move(ids), id);
  return "";
}

}  // namespace rota::sim
