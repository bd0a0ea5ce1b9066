#include "sim_hooks.h"

#include <algorithm>

#include "world.h"

namespace rota::sim {

using master::core::QuotaApplied;
using master::core::ReplyBody;
using master::core::SetQuota;
using std::chrono_literals::operator""ms;

namespace {

constexpr std::uint64_t kHookStream = 61;
constexpr std::uint64_t kScaleStream = 62;
constexpr int kHookPercent = 30;      ///< of the worlds have a hook
constexpr Millis kHookHangs{8000};    ///< a master's timeout

}  // namespace

SimHooks::SimHooks(World& world) : world_(world), dice_(world.recipe.seed, kHookStream) {
  is_idle_ = !dice_.chance(kHookPercent);
}

void SimHooks::call(const model::ScaleChange& row, std::function<void(const std::string&)> called) {
  const bool is_healed = world_.is_healed();
  const bool hangs = !is_healed && dice_.chance(5);
  const bool refuses = !is_healed && dice_.chance(25);
  const bool is_deaf = !is_healed && dice_.chance(15);  // its answer is lost
  const Millis takes = hangs ? kHookHangs : dice_.between(5ms, 900ms);
  world_.after(takes / 2, [this, row, refuses, hangs] {
    if (!world_.store.went_back()) world_.violate(world_.store.judge_called(row));
    if (!refuses && !hangs) obey(row);
  });
  const bool is_accepted = !hangs && !refuses && !is_deaf;
  world_.after(takes, [is_accepted, called = std::move(called)] { called(is_accepted ? "" : "refused"); });
}

/// One that is older than what it has obeyed is dropped; the same again is harmless.
void SimHooks::obey(const model::ScaleChange& row) {
  world_.store.note_obeyed(row.id);
  if (row.id < newest_) return world_.trace("hook drops", std::to_string(row.id));
  if (row.id == newest_) world_.marks.hit("hook_call_repeated");
  newest_ = row.id;
  for (const model::WorkerKey& worker : row.stoppable) stop(worker);
}

/// A database that went back does not know what was sent since, and no leader knows better.
void SimHooks::stop(const model::WorkerKey& worker) {
  const auto found = std::ranges::find_if(world_.workers, [&](const auto& each) {
    return each->is_up() && !each->is_spare() && each->info().key == worker;
  });
  if (found == world_.workers.end()) return;
  if (!world_.store.went_back()) world_.violate(world_.store.judge_stop(worker));
  world_.marks.hit("worker_stopped_by_hook");
  world_.trace("hook stops", worker.id);
  (*found)->lose_host(dice_.between(1500ms, 9000ms));
}

ScaleOperator::ScaleOperator(World& world, Ask ask)
    : world_(world), dice_(world.recipe.seed, kScaleStream), is_idle_(world.hooks.names().empty()), ask_(std::move(ask)) {}

void ScaleOperator::begin() {
  if (!is_idle_) world_.after(dice_.between(300ms, 3000ms), [this] { act(); });
}

void ScaleOperator::act() {
  if (stopped_) return;
  world_.after(dice_.between(2000ms, 9000ms), [this] { act(); });
  SetQuota event;
  event.name = "default";
  event.min_workers = static_cast<std::int64_t>(dice_.below(3));
  event.max_workers = *event.min_workers + static_cast<std::int64_t>(dice_.below(4));
  event.hook = dice_.chance(85) ? "h" : "";
  set(event, false);
}

void ScaleOperator::set(SetQuota event, bool is_last) {
  event.principal = "sim";
  ask_(
      [event](Token token) -> master::core::Event {
        SetQuota asked = event;
        asked.token = token;
        return asked;
      },
      [this, event, is_last](const ReplyBody& body) {
        const auto* applied = std::get_if<QuotaApplied>(&body);
        if (applied != nullptr && applied->changed) world_.marks.hit("autoscale_set");
        if (!is_last) return;
        if (applied == nullptr) return world_.after(300ms, [this, event] { set(event, true); });
        --open_;
        for (const auto& worker : world_.workers) {
          if (!worker->is_spare()) resume(worker->id());
        }
      });
}

void ScaleOperator::resume(const std::string& worker) {
  ++open_;
  ask_([worker](Token token) -> master::core::Event { return master::core::DrainWorker{token, "sim", worker, false, 0ms, "end"}; },
       [this, worker](const ReplyBody& body) {
         --open_;
         const auto* error = std::get_if<Error>(&body);
         const bool is_done = error == nullptr || error->code == ErrorCode::NotFound;
         if (!is_done) world_.after(400ms, [this, worker] { resume(worker); });
       });
}

void ScaleOperator::stop() {
  stopped_ = true;
  if (is_idle_) return;
  SetQuota open;
  open.name = "default";
  open.min_workers = open.max_workers = model::kNoLimit;
  open.hook = "";
  open_ = 1;
  set(open, true);
}

}  // namespace rota::sim
