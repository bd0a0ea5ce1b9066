// Judges by rows what holds of workers promise: in the order of the batches, no attempt is sent to a worker while a row
// that an earlier batch stored keeps all attempts from it, and a worker has one such row at a time.
#pragma once

#include <string>

#include "marks.h"
#include "sim_tables.h"

namespace rota::sim {

/// Thread: one.
class HoldJudge {
 public:
  explicit HoldJudge(Marks& marks) : marks_(marks) {}

  /// An attempt was sent to that worker with this batch. The tables do not have the batch's holds yet. Empty, or what
  /// is wrong.
  std::string judge_dispatch(const SimTables& tables, const std::string& worker,
                             const master::core::Changes& changes) const;
  /// Before the batch's holds stand in the tables.
  void note(const SimTables& tables, const master::core::Changes& changes);
  /// Behind each batch with holds. Empty, or what is wrong.
  std::string judge_batch(const SimTables& tables) const;

 private:
  Marks& marks_;
};

}  // namespace rota::sim
