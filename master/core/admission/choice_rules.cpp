#include "master/core/admission/choice_rules.h"

#include <optional>
#include <vector>

#include "common/base/check.h"
#include "master/core/admission/route.h"

namespace rota::master::core {
namespace {

RouteQuestion question_of(const RunEntry& run, const JobEntry& job) {
  RouteQuestion question;
  question.route = run.rules().route;
  question.named = run.rules().worker;
  question.last_worker = job.last_worker.get();
  question.lot = lot_of({run.id(), run.last_attempt() + 1});
  if (question.route == model::RouteKind::ConsistentHash) {
    question.key = hash_of(route_key_of(run.rules(), run.row().parameters.get(), run.row().job));
  }
  return question;
}

model::WorkerKey choose_among(WorkerTable& workers, const RunEntry& run, const OpenWorkers& open) {
  const JobEntry& job = run.job();
  std::vector<model::WorkerKey> passed;
  const model::WorkerKey* choice = choose_worker(question_of(run, job), open, passed);
  CHECK_OR_DIE(choice != nullptr, "no worker was chosen among those that may take an attempt");
  model::WorkerKey chosen = *choice;
  for (const model::WorkerKey& each : passed) workers.pass_over(each);
  return chosen;
}

/// Where its job prefers that, another worker than the last one, if another may take it now.
std::optional<model::WorkerKey> choose_another(WorkerTable& workers, const RunEntry& run,
                                               const SlotQueueKey& key) {
  const bool moves = run.rules().retry.another_worker == model::AnotherWorker::Prefer && key.worker.empty() &&
                     run.progress().first_dispatched();
  if (!moves) return std::nullopt;
  SlotQueueKey others = key;
  others.except = run.progress().worker().id;
  const OpenWorkers& open = workers.open_for(others);
  if (!workers.may_serve(others, open)) return std::nullopt;
  return choose_among(workers, run, open);
}

model::WorkerKey choose_for(WorkerTable& workers, const RunEntry& run, const SlotQueueKey& key) {
  if (const auto another = choose_another(workers, run, key)) return *another;
  return choose_among(workers, run, workers.open_for(key));
}

}  // namespace

model::WorkerKey choose_worker_for(WorkerTable& workers, const RunEntry& run, const SlotQueueKey& key) {
  if (!key.demand.is_plain()) {
    if (const LifeEntry* kept = workers.kept_with_room(key)) {
      const bool was_last = kept->key().id == run.progress().worker().id;
      const auto another = was_last ? choose_another(workers, run, key) : std::nullopt;
      return another.value_or(kept->key());
    }
  }
  return run.is_bound() ? *workers.open_for(key).with_id(key.worker) : choose_for(workers, run, key);
}

}  // namespace rota::master::core
