#include "master/core/admission/demand_words.h"

#include <fmt/format.h>

#include "common/base/size_text.h"

namespace rota::master::core {
namespace {

constexpr int kHoldersNamed = 5;

std::string slots_text(std::int32_t slots) { return slots == 1 ? "1 slot" : fmt::format("{} slots", slots); }

std::string free_text(const LifeEntry& life, const model::Demand& demand) {
  std::string text = slots_text(std::max(life.free_slots(), 0));
  for (const auto& [name, amount] : demand.needs) {
    text += fmt::format(", {} {}", name, format_size(std::max<std::int64_t>(life.free_of(name), 0)));
  }
  return text;
}

std::string holders_text(const LifeEntry& life) {
  std::string text;
  int told = 0;
  for (const RunId id : life.attempts()) {
    if (told == kHoldersNamed) return text + " and others";
    text += (told++ == 0 ? "" : ", ") + std::to_string(id.value);
  }
  return text;
}

std::string kept_words(const LifeEntry& life, const model::Demand& demand) {
  const std::string holders = holders_text(life);
  return fmt::format("what becomes free on worker {} is kept for it: there {} are free{}", life.key().id,
                     free_text(life, demand), holders.empty() ? "" : ", the rest is held by runs " + holders);
}

/// Of the first worker of the pool that is kept for another queue.
std::string kept_for_others(const State& state, const std::string& pool) {
  const auto& kept = state.workers().kept();
  const auto first = kept.lower_bound({pool, "", ""});
  if (first == kept.end() || first->first.pool != pool) return {};
  const SlotQueue* queue = state.slot_queues().find(first->first);
  if (queue == nullptr || queue->turns().empty()) return {};
  return fmt::format("what becomes free on worker {} is kept for run {}, which takes {}", first->second.id,
                     queue->turns().begin()->second.begin()->head.value, demand_text(first->first.demand));
}

}  // namespace

std::string demand_text(const model::Demand& demand) {
  std::string text = slots_text(demand.slots);
  for (const auto& [name, amount] : demand.needs) text += fmt::format(", {} {}", name, format_size(amount));
  return text;
}

std::string demand_words(const State& state, const RunEntry& run, model::Reason reason) {
  if (!run.in_slot_queue()) return {};
  const KeptRules& rules = run.rules();
  const bool is_plain = rules.slots == 1 && rules.needs.empty();
  if (reason != model::Reason::AllSlotsBusy && reason != model::Reason::NoWorkerHas) return {};
  if (is_plain) return kept_for_others(state, rules.pool);
  const SlotQueueKey key = slot_queue_of(run);
  const std::string needs = fmt::format("it takes {}", demand_text(key.demand));
  if (reason == model::Reason::NoWorkerHas) {
    return fmt::format("{}: no worker that may take it has that as a whole", needs);
  }
  const LifeEntry* kept = state.workers().kept_for(key);
  return kept == nullptr ? needs + " of one worker" : needs + "; " + kept_words(*kept, key.demand);
}

}  // namespace rota::master::core
