#include "master/core/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "common/base/duration_text.h"
#include "master/core/workers/departed_rules.h"
#include "master/core/admission/catch_up_rules.h"
#include "master/core/admission/demand_words.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/admission/semaphore_rules.h"
#include "master/core/attempts/fence_rules.h"
#include "master/core/state.h"
#include "master/core/time/calendar_rules.h"
#include "master/core/views.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::core {

using model::RunState;

namespace {

constexpr std::size_t kWaitingMost = 10'000;
constexpr Millis kStillHeard{3000};
constexpr std::string_view kCameInACrowd = "many workers came back at once; they are let in over 5s";

/// OFFLINE has two witnesses: its node is gone, and it does not ask for vouchers any more.
std::string state_of_absent(const State& state, const DepartedWorker& worker, Now now) {
  if (state.core_time() - worker.left >= state.options().dead_after) return "dead";
  const bool was_stopped = worker.why == kWasStopped;
  return !was_stopped && now.mono - worker.heard <= kStillHeard ? "warning" : "offline";
}

std::string state_of(const State& state, const LifeEntry& life, Now now) {
  if (!life.is_present()) {
    const DepartedWorker* departed = state.departed().find(life.key().id);
    return departed == nullptr ? "offline" : state_of_absent(state, *departed, now);
  }
  if (!life.is_reconciled() || life.is_settling()) return "registering";
  if (state.workers().is_draining(life)) return "draining";
  if (const auto* hold = state.workers().find_hold(life.key().id)) return std::string(name_of(hold->kind));
  if (!life.warning.empty()) return "warning";
  return life.free_slots() > 0 ? "online" : "busy";
}

std::string why_of(const State& state, const LifeEntry& life) {
  if (!life.is_present() && !state.listings().is_listed()) {
    return "workers are being listed: this leader has just taken office";
  }
  if (life.is_present() && life.is_reconciled() && life.is_settling()) return std::string(kCameInACrowd);
  if (!life.why.empty() || !life.drain_ack_pending()) return life.why;
  return life.told_drain()->draining ? "has not said yet that it heard of its drain"
                                   : "has not said yet that it heard of its resume";
}

AwayBands bands_of(const State& state) {
  const model::Settings& settings = state.options();
  return {settings.away_band_1, settings.away_band_2, settings.away_band_3};
}

WallTime wall_of(MonoTime at, Now now) { return now.wall + floor_ms(at - now.mono); }

/// The latest moment from which other attempts may follow those of this life. A look at a few is enough.
std::optional<WallTime> fence_of_all(const State& state, const LifeEntry& life, Now now) {
  constexpr int kLooked = 100;
  std::optional<WallTime> latest;
  int looked = 0;
  for (const RunId id : life.attempts()) {
    if (looked++ == kLooked) break;
    const RunEntry* run = state.find_run(id);
    // Where an operator must confirm the loss, no time is long enough.
    if (run == nullptr || run->rules().loss == model::LossPolicy::Confirm) continue;
    const WallTime fence = wall_of(expected_fence(state, life, run->rules(), now.mono), now);
    latest = std::max(latest.value_or(fence), fence);
  }
  return latest;
}

void add_absence(const State& state, const LifeEntry& life, Now now, WorkerView& view) {
  if (const auto silent = silent_since(life, now.mono)) view.silent_since = wall_of(*silent, now);
  view.left = life.left;
  if (!view.silent_since && life.is_present()) return;
  if (state.listings().is_listed()) view.fence = fence_of_all(state, life, now);
}

WorkerView view_of(const State& state, const LifeEntry& life, Now now) {
  WorkerView view;
  const DepartedWorker* departed = life.is_present() ? nullptr : state.departed().find(life.key().id);
  view.info = departed == nullptr ? life.shared_info() : SharedInfo(departed->info);
  view.vitals = departed == nullptr ? life.info().vitals : departed->info.vitals;
  add_absence(state, life, now, view);
  view.bands = bands_of(state);
  view.usage = life.usage;
  if (const auto* drain = state.workers().find_drain(life.key().id)) view.drain = *drain;
  view.state = state_of(state, life, now);
  if (life.is_present()) view.warning = life.warning;
  if (life.is_present() && life.clock.is_known()) view.clock_offset = life.clock.best();
  if (const auto* hold = state.workers().find_hold(life.key().id)) view.hold = *hold;
  view.why = why_of(state, life);
  view.running = static_cast<std::int32_t>(life.attempts().size());
  view.used_slots = life.used_slots();
  view.used = life.used();
  if (life.heard != MonoTime{}) view.heard = wall_of(life.heard, now);
  view.work = state.work().of(life.key().id);
  view.share = state.work().share_of(life.key().id, life.info().pool);
  view.dispatched_total = life.dispatched_total();
  for (const RunId id : life.attempts()) {
    if (view.holds.size() >= kHeldTold) break;
    view.holds.push_back(id);
  }
  return view;
}

void add_departed(const State& state, Now now, Snapshot& snapshot) {
  for (const auto& [id, departed] : state.departed().all()) {
    if (state.workers().has_life(id)) continue;
    if (!is_kept(departed, state.options().keep_offline, state.core_time())) continue;
    WorkerView view;
    view.info = departed.info;
    view.vitals = departed.info.vitals;
    view.state = state_of_absent(state, departed, now);
    view.why = departed.why;
    view.left = departed.left;
    view.bands = bands_of(state);
    if (departed.heard != MonoTime{}) view.heard = wall_of(departed.heard, now);
    view.work = state.work().of(id);
    view.share = state.work().share_of(id, departed.info.pool);
    if (const auto* hold = state.workers().find_hold(id)) view.hold = *hold;
    if (const auto* drain = state.workers().find_drain(id)) view.drain = *drain;
    snapshot.workers.push_back(std::move(view));
  }
}

/// Drained while it is away: shown, so that nobody wonders later why it gets no work.
void add_drained_and_absent(const State& state, Snapshot& snapshot) {
  for (const auto& [id, drain] : state.workers().drains()) {
    if (state.workers().has_life(id) || state.departed().contains(id)) continue;
    WorkerView view;
    model::WorkerInfo& known = view.info.change();
    known.key.id = id;
    known.slots = 0;
    view.state = "offline";
    view.drain = drain;
    snapshot.workers.push_back(std::move(view));
  }
}

void add_absence(const State& state, const RunEntry& run, Now now, RunView& view) {
  view.worker = run.progress().worker().id;
  const LifeEntry* life = run.life();
  if (life == nullptr || !state.listings().is_listed()) return;
  view.away_since = life->left;
  if (const auto silent = silent_since(*life, now.mono)) view.away_since = wall_of(*silent, now);
  if (view.away_since) view.fence = wall_of(expected_fence(state, *life, run.rules(), now.mono), now);
}

/// Where not every worker of the pool will do: who is meant.
void add_handler(const State& state, const RunEntry& run, RunView& view) {
  using model::Reason;
  const KeptRules& rules = run.rules();
  if (rules.handler.empty()) return;
  std::string words;
  if (view.reason == Reason::HandlerUnknown) words = unknown_handler_words(rules);
  const bool is_taken = view.reason == Reason::AllSlotsBusy || view.reason == Reason::WorkersDraining;
  if (is_taken && rules.route != model::RouteKind::Named) {
    const WorkerTable& workers = state.workers();
    const std::int32_t knowing =
        workers.standing_for({rules.pool, {}, rules.handler, Gate::Any, rules.select}).present;
    const std::int32_t all = workers.standing_for({rules.pool, {}, {}, Gate::Any, rules.select}).present;
    if (knowing < all) {
      words = fmt::format("{} of {} workers there know handler {}", knowing, all, rules.handler);
    }
  }
  if (!words.empty()) view.detail = words + (view.detail.empty() ? "" : "; " + view.detail);
}

/// Where not every worker of the pool has the labels that it asks for: how many do, and which those are.
void add_labels(const State& state, const RunEntry& run, RunView& view) {
  using model::Reason;
  const KeptRules& rules = run.rules();
  const bool is_meant = view.reason == Reason::NoWorkerInPool || view.reason == Reason::NamedWorkerAbsent ||
                        view.reason == Reason::AllSlotsBusy || view.reason == Reason::WorkersDraining;
  if (rules.select.empty() || !is_meant) return;
  const WorkerTable& workers = state.workers();
  const std::int32_t having = workers.standing_for({rules.pool, {}, {}, Gate::Any, rules.select}).present;
  const std::int32_t all = workers.standing_for({rules.pool, {}, {}}).present;
  if (having == all) return;
  const std::string labels = labels_text(rules.select);
  const std::string words = fmt::format("{} of {} workers there have the labels {}", having, all, labels);
  view.detail = words + (view.detail.empty() ? "" : "; " + view.detail);
}

/// While it waits for workers with the labels of `prefer` alone: which those are, and how long it does.
void add_preference(const State& state, const RunEntry& run, RunView& view) {
  if (!run.in_slot_queue() || !run.prefers()) return;
  const KeptRules& rules = run.rules();
  const SlotQueueKey queue = slot_queue_of(run);
  const SlotQueueKey preferred{rules.pool, {}, {}, Gate::Any, queue.select};
  const std::string words =
      fmt::format("it waits for one of {} workers with the labels {}, for {} at most (prefer)",
                  state.workers().standing_for(preferred).present, labels_text(rules.prefer),
                  format_duration(rules.prefer_for));
  view.detail = words + (view.detail.empty() ? "" : "; " + view.detail);
}

/// Where its job requires another worker than the last one: which one does not count.
void add_left_out(const RunEntry& run, RunView& view) {
  if (!run.in_slot_queue()) return;
  const std::string except = slot_queue_of(run).except;
  if (except.empty()) return;
  const std::string words = fmt::format("not on {}, its last worker (retry: another_worker)", except);
  view.detail = words + (view.detail.empty() ? "" : "; " + view.detail);
}

/// Where its route has one worker in mind: which one it waits for.
void add_meant_worker(const State& state, const RunEntry& run, RunView& view) {
  using model::Reason;
  const bool is_kept = view.reason == Reason::AllSlotsBusy || view.reason == Reason::WorkerUnreconciled;
  if (!is_kept || !run.in_slot_queue()) return;
  const LifeEntry* meant = state.workers().meant_by(slot_queue_of(run));
  if (meant == nullptr) return;
  const std::string rest = view.detail.empty() ? "" : "; " + view.detail;
  view.detail = "its route waits for worker " + meant->key().id + rest;
}

/// Where it waits for tokens: which, and who has them.
void add_tokens(const State& state, const RunEntry& run, RunView& view) {
  if (view.reason == model::Reason::WaitsForSemaphore) view.detail = token_words(state, slot_queue_of(run));
}

/// Where it waits for its pool or its namespace: how many run there.
void add_quota(const State& state, const RunEntry& run, RunView& view) {
  if (!run.in_slot_queue()) return;
  const std::string words = quota_words(state, run, view.reason);
  if (!words.empty()) view.detail = words;
}

/// Where it takes more than a slot, or waits behind one that does.
void add_demand(const State& state, const RunEntry& run, RunView& view) {
  const std::string words = demand_words(state, run, view.reason);
  if (!words.empty()) view.detail = words + (view.detail.empty() ? "" : "; " + view.detail);
}

RunView view_of(const State& state, const RunEntry& run, Now now) {
  RunView view;
  view.state = run.progress().state;
  view.reason = run.progress().reason;
  view.detail = run.progress().detail();
  view.is_cancelled = run.progress().cancel_asked;
  view.losses = run.progress().losses;
  if (run.is_held()) add_absence(state, run, now, view);
  if (run.in_slot_queue()) view.reason = why_queued(state, run);
  if (run.waits_to_catch_up()) {
    CatchUpWait wait = why_not_caught_up(state, run);
    view.reason = wait.reason;
    view.detail = std::move(wait.detail);
  }
  add_tokens(state, run, view);
  add_quota(state, run, view);
  add_demand(state, run, view);
  add_handler(state, run, view);
  add_meant_worker(state, run, view);
  add_labels(state, run, view);
  add_preference(state, run, view);
  add_left_out(run, view);
  return view;
}

bool is_told(const RunEntry& run) {
  return run.progress().state != RunState::Running ||
         run.progress().reason != model::Reason::None;
}

/// Runs on workers that are registered and do not answer: nobody knows whether they still run.
void add_silent(const State& state, Now now, Snapshot& snapshot) {
  for (const auto& [key, life] : state.workers().lives()) {
    if (life.attempts().empty() || !silent_since(life, now.mono)) continue;
    for (const RunId id : life.attempts()) {
      if (snapshot.waiting.size() >= kWaitingMost) return;
      const RunEntry* run = state.find_run(id);
      if (run != nullptr && !is_told(*run)) snapshot.waiting.add(id, view_of(state, *run, now));
    }
  }
}

std::map<std::string, std::int64_t> counters_of(const Counters& c) {
  return {{"ticks_fired", c.ticks_fired},
          {"ticks_skipped", c.ticks_skipped},
          {"tick_slices", c.tick_slices},
          {"runs_recorded", c.runs_recorded},
          {"runs_finished", c.runs_finished},
          {"dispatches", c.dispatches},
          {"redispatches", c.redispatches},
          {"proven_dead", c.proven_dead},
          {"notes", c.notes},
          {"stale_notes", c.stale_notes},
          {"resent", c.resent},
          {"refusals", c.refusals},
          {"unclear_dispatches", c.unclear_dispatches},
          {"reports", c.reports},
          {"repeated_reports", c.repeated_reports},
          {"late_results", c.late_results},
          {"retries", c.retries},
          {"losses", c.losses},
          {"renews", c.renews},
          {"holds", c.holds},
          {"worker_warnings", c.warnings},
          {"let_in_later", c.let_in_later},
          {"renews_refused", c.renews_refused},
          {"hellos", c.hellos},
          {"adopted", c.adopted},
          {"readopted", c.readopted},
          {"cancels", c.cancels},
          {"handed_over", c.handed_over},
          {"caught_up", c.caught_up},
          {"replaced", c.replaced},
          {"stuck", c.stuck},
          {"notifications", c.notifications},
          {"notifications_combined", c.notifications_combined},
          {"notifications_delivered", c.notifications_delivered},
          {"notifications_refused", c.notifications_refused},
          {"notifications_given_up", c.notifications_given_up},
          {"scale_changes", c.scale_changes},
          {"hook_calls", c.hook_calls},
          {"hook_refusals", c.hook_refusals},
          {"hooks_given_up", c.hooks_given_up},
          {"children", c.children},
          {"late_told", c.late_told}};
}

std::map<std::string, std::int64_t> named(const StateCounts& counts) {
  std::map<std::string, std::int64_t> out;
  for (std::size_t state = 0; state < counts.size(); ++state) {
    out[std::string(model::name_of(static_cast<RunState>(state)))] = counts[state];
  }
  return out;
}

std::map<std::string, std::int64_t> named(const std::map<RunState, std::int64_t>& counts) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [state, count] : counts) out[std::string(model::name_of(state))] = count;
  return out;
}

Tallies tallies_of(const State& state) {
  Tallies tallies;
  tallies.runs_by_state = named(state.runs().by_state());
  tallies.attempts_ended = named(state.counters().attempts_ended);
  tallies.dispatch_latency = state.counters().dispatch_latency;
  return tallies;
}

std::vector<GapView> gaps_of(const State& state) {
  std::vector<GapView> out;
  const std::deque<model::Gap>& gaps = state.ticks().newest_gaps();
  for (auto gap = gaps.rbegin(); gap != gaps.rend(); ++gap) {
    const JobEntry* job = state.find_job(gap->job);
    out.push_back({job == nullptr ? std::to_string(gap->job.value) : job->row.name, *gap});
  }
  return out;
}

}  // namespace

Snapshot view_state(const State& state, Now now) {
  Snapshot snapshot;
  snapshot.epoch = state.epoch();
  snapshot.taken = now.wall;
  snapshot.watermark = state.ticks().watermark().through;
  snapshot.jobs = static_cast<std::int64_t>(state.jobs().named());
  snapshot.active_runs = static_cast<std::int64_t>(state.runs().size());
  snapshot.tick_hold = state.ticks().hold();
  snapshot.counters = counters_of(state.counters());
  snapshot.counters["calendars"] = static_cast<std::int64_t>(state.calendars().size());
  snapshot.counters["calendars_ending"] =
      static_cast<std::int64_t>(state.calendars().ending(now.wall).size());
  snapshot.calendars_ending = calendars_ending(state, now.wall);
  snapshot.tallies = tallies_of(state);
  snapshot.newest_gaps = gaps_of(state);
  snapshot.semaphores = semaphores_in_use(state);
  snapshot.pools = quota_views(state, model::QuotaOf::Pool);
  snapshot.scaling = scale_views(state);
  snapshot.namespaces = quota_views(state, model::QuotaOf::Space);
  snapshot.counters["children_owed"] = static_cast<std::int64_t>(state.children().size());
  snapshot.counters["semaphores"] = static_cast<std::int64_t>(state.tokens().size());
  snapshot.counters["notifications_open"] = static_cast<std::int64_t>(state.notifications().all().size());
  for (const auto& [id, freeze] : state.freezes().all()) {
    if (!freeze.done) snapshot.freezes.push_back(freeze);
  }
  for (const auto& [key, life] : state.workers().lives()) {
    snapshot.workers.push_back(view_of(state, life, now));
  }
  add_departed(state, now, snapshot);
  add_drained_and_absent(state, snapshot);
  LineViews lines(state);
  for (const auto& [id, run] : state.runs().all()) {
    if (snapshot.waiting.size() >= kWaitingMost) break;
    if (!is_told(run)) continue;
    RunView view = view_of(state, run, now);
    view.place = lines.next(run);
    snapshot.waiting.add(id, std::move(view));
  }
  snapshot.lines = lines.take();
  const std::size_t in_order = snapshot.waiting.size();
  add_silent(state, now, snapshot);
  if (snapshot.waiting.size() > in_order) snapshot.waiting.arrange();
  return snapshot;
}

}  // namespace rota::master::core
