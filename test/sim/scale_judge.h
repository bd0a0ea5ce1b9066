// Judges by rows what is promised of wanted numbers of workers: they are within the limits of their pool, stored
// before a hook hears of them, and a hook is told to stop nobody who has something to do.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "marks.h"
#include "master/core/effect.h"
#include "sim_tables.h"

namespace rota::sim {

/// Thread: one.
class ScaleJudge {
 public:
  explicit ScaleJudge(Marks& marks) : marks_(marks) {}

  /// Behind each batch. Empty, or what is wrong.
  std::string judge_batch(const SimTables& tables, const master::core::Changes& changes);
  /// A hook hears of it, now.
  std::string judge_called(const SimTables& tables, const model::ScaleChange& row) const;
  /// A hook stops that life.
  static std::string judge_stop(const SimTables& tables, const model::WorkerKey& worker);
  /// A hook has done what it was told.
  void note_obeyed(std::int64_t id) { obeyed_.insert(id); }

 private:
  static std::string judge_row(const SimTables& tables, const model::ScaleChange& row);

  Marks& marks_;
  std::set<std::int64_t> seen_, obeyed_;
};

}  // namespace rota::sim
