// Whose turn it is when slots of a pool are free: whose run is sent next. Within a namespace
// slot_queue_table.h says it; between namespaces the one with the least running for its weight is next, then
// the one whose last turn is longest ago. Namespaces count over all pools.
//
// Better than the rule that it comes from (priority with the age of the run): the age is that of the line,
// since its last turn. A job with a hundred thousand runs that wait would else outrank every other job by
// their age.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "master/core/tables/quota_table.h"
#include "master/core/tables/slot_queue_table.h"

namespace rota::master::core {

/// The turns of some queues while their runs are sent, one after the other. Thread: one. Tables and keys
/// outlive it.
///
/// What it keeps may be older than the table: then it is earlier than what is true, since every run that is
/// sent makes its line's and its namespace's next turn later. So it looks again at what comes first.
class PoolTurns {
 public:
  struct Next {
    std::size_t queue = 0;  ///< its place among those given
    RunId run;
  };

  /// Namespaces that are full have no turn; without quotas none is.
  PoolTurns(const SlotQueueTable& table, const std::vector<SlotQueueKey>& keys,
            const QuotaTable* quotas = nullptr);

  /// The run whose turn it is; none: nothing waits in queues that are open. The caller sends or ends it, or
  /// closes its queue.
  std::optional<Next> next();
  /// None of its runs can be sent now.
  void close(std::size_t queue) { queues_[queue] = nullptr; }
  /// None of those of that namespace.
  void close(std::size_t queue, const std::string& space) { closed_.emplace(queue, space); }
  /// Namespaces that had no turn, for they are full.
  const std::vector<std::string>& passed() const { return passed_; }

 private:
  using Head = std::pair<Turn, std::size_t>;
  using Rank = std::tuple<double, std::int64_t, std::string>;  ///< share, last turn, namespace

  static Rank rank_of(const TurnSpace& space) { return {space.share(), space.last, space.name}; }
  std::optional<Next> next_of(std::set<Head>& heads, const std::string& space);
  const std::set<Turn>* turns_of(std::size_t queue, const std::string& space) const;

  const SlotQueueTable& table_;
  const QuotaTable* quotas_;
  std::vector<std::string> passed_;
  std::set<std::pair<std::size_t, std::string>> closed_;
  std::vector<const SlotQueueKey*> queues_;      ///< nullptr: closed
  std::map<std::string, std::set<Head>> heads_;  ///< by namespace: the first line of each queue
  std::set<Rank> ranks_;
};

}  // namespace rota::master::core
