#include "master/core/invariant_sample.h"

#include <fmt/format.h>

#include "master/core/invariants.h"

namespace rota::master::core {
namespace {

std::string text_of(const JobEntry* job) {
  if (job == nullptr) return "job unknown";
  const auto next = job->next_tick();
  return fmt::format("job {} {}/{} version {}: {} unfinished, {} behind, next tick {}", job->row.id.value,
                     job->row.space(), job->row.name, job->row.version, job->unfinished().size(),
                     job->behind().size(), next ? std::to_string(to_ms(*next)) : "none");
}

std::string text_of(const State& state, const LifeEntry* life) {
  if (life == nullptr) return "life unknown";
  return fmt::format("life {}/{} in {}: {}{}{}{}slots {} - {}, {} attempts", life->key().id,
                     life->key().incarnation, life->info().pool, life->is_present() ? "present, " : "",
                     life->is_reconciled() ? "reconciled, " : "", life->is_resting() ? "resting, " : "",
                     state.workers().is_draining(*life) ? "draining, " : "", life->info().slots,
                     life->unusable_slots(), life->attempts().size());
}

std::string text_of(const SlotQueueKey& key, const SlotQueue* queue) {
  const std::string name = key.pool + (key.worker.empty() ? "" : "/" + key.worker) +
                           (key.handler.empty() ? "" : ", handler " + key.handler);
  return queue == nullptr ? "no queue " + name
                          : fmt::format("queue {}: {}", name, model::name_of(queue->blocked));
}

std::string text_of(const State& state, const RunEntry& run) {
  const RunTrack& progress = run.progress();
  const RunTimers& timers = state.runs().timers();
  return fmt::format("run {} {} ({}), attempt {} by {}/{}{}{}", run.id().value,
                     model::name_of(progress.state), model::name_of(progress.reason), progress.attempt,
                     progress.worker().id, progress.worker().incarnation,
                     run.in_slot_queue() ? ", in its queue" : "",
                     timers.has(run.id(), RunTimer::RetryDelay) ? ", retry planned" : "");
}

std::string around(const State& state, const RunEntry& run) {
  const SlotQueueKey key = slot_queue_of(run);
  return text_of(state, run) + "; " + text_of(state.find_job(run.row().job)) + "; " +
         text_of(key, state.slot_queues().find(key)) + "; " +
         text_of(state, state.find_life(run.progress().worker()));
}

std::string around(const State& state) {
  return fmt::format("watermark {} to {}, core time {}, {} runs", to_ms(state.ticks().watermark().through),
                     to_ms(state.ticks().watermark().reaching), to_ms(state.core_time()),
                     state.runs().size());
}

/// Looks at most at so many entries behind the cursor, which moves on, and begins anew after the last.
template <typename Entries, typename Cursor, typename Look>
void look_at(const Entries& entries, Cursor& cursor, int most, Look look) {
  int looked = 0;
  for (const auto& [key, entry] : entries) {
    if (looked++ == most) return;
    look(key, entry);
    cursor = key;
  }
  cursor = Cursor{};
}

}  // namespace

std::vector<Violation> InvariantSample::look(const State& state) {
  std::vector<Violation> found;
  const auto note = [&found](std::string what, const auto& tell) {
    if (!what.empty()) found.push_back({std::move(what), tell()});
  };
  look_at(state.runs().after(run_), run_, kRuns, [&](RunId, const RunEntry& run) {
    std::string what = broken_run(state, run);
    if (what.empty()) what = unknown_run(state, run);
    note(std::move(what), [&] { return around(state, run); });
  });
  look_at(state.jobs().after(job_), job_, kJobs, [&](JobId, const JobEntry& job) {
    note(broken_job(state, job, kNamed), [&] { return text_of(&job) + "; " + around(state); });
  });
  look_at(state.workers().lives_after(life_), life_, kLives,
          [&](const model::WorkerKey&, const LifeEntry& life) {
            note(broken_life(state, life, kNamed), [&] { return text_of(state, &life); });
          });
  look_at(state.slot_queues().after(queue_), queue_, kQueues,
          [&](const SlotQueueKey& key, const SlotQueue& entry) {
            note(broken_slot_queue(state, key, entry, kNamed), [&] { return text_of(key, &entry); });
          });
  note(broken_whole(state), [&] { return around(state); });
  return found;
}

}  // namespace rota::master::core
