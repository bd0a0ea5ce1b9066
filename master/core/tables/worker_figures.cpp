// What WorkerTable notes of workers for the orders in which routes look for them.
#include "master/core/tables/worker_table.h"

namespace rota::master::core {

/// It has been used as often as others of its pool on average, so that it is not flooded.
void WorkerTable::begin_figures(LifeEntry& life) {
  std::int64_t uses = 0, others = 0;
  for (const auto& [key, other] : lives_) {
    if (!other.present_ || &other == &life || other.info_.pool != life.info_.pool) continue;
    uses += other.figures_.uses();
    ++others;
  }
  const auto turn = turns_.find(life.info_.pool);
  life.figures_.begin(life.key().id, seed_, others == 0 ? 0 : uses / others,
                      turn == turns_.end() ? 0 : turn->second, life.info_.weight);
}

void WorkerTable::note_vitals(LifeEntry& life, const model::WorkerVitals& vitals) {
  life.set_vitals(vitals);
  if (life.figures_.note_vitals(vitals)) refresh_open(life);
}

void WorkerTable::note_answer(LifeEntry& life, Millis took) {
  if (life.figures_.note_answer(took)) refresh_open(life);
}

}  // namespace rota::master::core
