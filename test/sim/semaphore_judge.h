// Judges by rows what semaphores and limits promise: in the order of the batches, no run gets tokens beyond the highest
// count that was in force in its batch. A run takes a token of its pool and one of its namespace too. Each thing is looked for anew here, from the rows alone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/model/job.h"
#include "marks.h"
#include "sim_tables.h"

namespace rota::sim {

/// Thread: one.
class SemaphoreJudge {
 public:
  explicit SemaphoreJudge(Marks& marks) : marks_(marks) {}

  /// A run is new, or changed. Its row stands in the tables already.
  void note(const SimTables& tables, RunId run);
  /// Behind each batch. Empty, or what is wrong. `unknown`: runs that a restored database has without their jobs.
  std::string judge_batch(const SimTables& tables, const std::set<RunId>& unknown);
  /// The database went back to what the tables say now.
  void begin_anew(const SimTables& tables);

 private:
  using Name = std::pair<std::string, std::string>;
  using Tokens = std::map<Name, std::int32_t>;

  std::int64_t most_in_batch(const SimTables& tables, const Name& name) const;
  void note_versions(const SimTables& tables);

  Marks& marks_;
  std::map<RunId, Tokens> held_;
  std::map<Name, std::int64_t> sums_;
  std::set<Name> raised_;              ///< somebody got tokens of these with the present batch
  std::map<Name, std::int32_t> seen_;  ///< the newest version before the present batch
};

/// First halves of names that stand for the limits of pools and namespaces. No namespace is called so.
/// Of a semaphore its namespace and name; of a limit one of these, and the name of its pool or namespace.
using AmountName = std::pair<std::string, std::string>;
inline constexpr const char* kPoolTokens = "/pool";
inline constexpr const char* kSpaceTokens = "/namespace";
inline constexpr std::int64_t kTokensUnlimited = std::int64_t{1} << 60;

/// Each amount of that name that was in force from that version on, without deleted ones; version 0: before all.
std::vector<std::int64_t> amounts_since(const SimTables& tables, const std::pair<std::string, std::string>& name,
                                        std::int32_t since);
/// What people call it, behind its promise: "P41: tokens of semaphore oracle".
std::string tokens_named(const std::pair<std::string, std::string>& name);

/// By the version that the run was made of.
std::map<std::pair<std::string, std::string>, std::int32_t> tokens_of(const SimTables& tables, const model::Run& run);

}  // namespace rota::sim
