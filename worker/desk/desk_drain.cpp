// How the desk stops accepting: because the leader says so, or because this process stops.
#include "common/base/log.h"
#include "worker/desk/attempt_desk.h"

namespace rota::worker::desk {

model::Refusal AttemptDesk::drain(const Envelope& envelope, bool draining,
                                  std::optional<std::int64_t> order) {
  if (const auto refusal = check(envelope); refusal != model::Refusal::None) return refusal;
  std::scoped_lock lock(drain_mutex_);
  if (order && *order < told_.order) return model::Refusal::None;
  told_.told = draining;
  if (order) told_.order = *order;
  log_info("worker", draining ? "drained by the leader" : "resumed by the leader", {{"running", busy()}});
  apply_drain();
  return model::Refusal::None;
}

void AttemptDesk::stop_accepting(WallTime hands_over_at) {
  std::scoped_lock lock(drain_mutex_);
  hands_over_at_ = hands_over_at;
  log_info("worker", "draining", {{"running", busy()}});
  apply_drain();
}

model::DrainAck AttemptDesk::drain_ack() const {
  std::scoped_lock lock(drain_mutex_);
  return {hands_over_at_.has_value() || told_.told, told_.told, told_.order};
}

/// Under the drain lock, so that the newest state is the last one told.
void AttemptDesk::apply_drain() {
  const model::DrainAck ack{hands_over_at_.has_value() || told_.told, told_.told, told_.order};
  {
    std::scoped_lock lock(mutex_);
    table_.set_draining(ack.draining);
  }
  if (parts_.drain_changed) parts_.drain_changed(ack, hands_over_at_);
}

void AttemptDesk::hand_over() {
  std::vector<model::AttemptKey> unfinished;
  {
    std::scoped_lock lock(mutex_);
    for (const auto& [key, entry] : table_.entries()) {
      if (entry.state != TableEntry::State::Finished) unfinished.push_back(key);
    }
  }
  end_all(unfinished, EndReason::HandedOver, {});
}

}  // namespace rota::worker::desk
