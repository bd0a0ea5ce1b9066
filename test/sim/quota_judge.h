// Judges by rows how many runs of a namespace begin: in one Term no more in a minute than it may begin there. What is
// under way at once is judged by SemaphoreJudge.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "master/core/effect.h"
#include "sim_tables.h"

namespace rota::sim {

/// Thread: one.
class QuotaJudge {
 public:
  /// Before the rows of the batch are put into the tables. Empty, or what is wrong.
  std::string judge_new_runs(const SimTables& tables, const master::core::Changes& changes);
  /// The database went back.
  void begin_anew() { fired_.clear(); }

 private:
  /// By namespace, Term and minute.
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::int64_t> fired_;
};

}  // namespace rota::sim
