// Judges by rows what notifications promise: a run that fails or is lost is told in the batch that ends it,
// to all who want to hear of it and to nobody else; what is on its way was stored before it left; what
// counts as delivered was heard. Each thing is looked for anew here, from the rows alone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "marks.h"
#include "master/core/effect.h"
#include "sim_tables.h"

namespace rota::sim {

/// Thread: one.
class NotifyJudge {
 public:
  explicit NotifyJudge(Marks& marks) : marks_(marks) {}

  /// A run ended with this batch. Empty, or what is wrong.
  std::string judge_end(const SimTables& tables, const master::core::Changes& changes,
                        const model::Run& run);
  /// Behind each batch.
  std::string judge_batch(const SimTables& tables, const master::core::Changes& changes);
  /// A receiver gets it, now.
  std::string judge_sent(const SimTables& tables, const model::Notification& row) const;
  /// It has accepted it; its master may never hear of that.
  void note_heard(std::int64_t id);

 private:
  Marks& marks_;
  std::set<std::int64_t> seen_;  ///< rows that stood in any batch
  std::map<std::int64_t, int> heard_;
};

}  // namespace rota::sim
