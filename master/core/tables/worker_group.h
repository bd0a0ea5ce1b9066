// Workers of one pool that some runs may go to and others not: those that know a handler, or those that count
// for a route with one worker in mind. Such a group is made when a run first asks for it, so that pools in
// which every worker will do keep one order alone.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "common/model/worker.h"
#include "common/model/worker_labels.h"
#include "master/core/tables/open_workers.h"

namespace rota::master::core {

/// How far lives have come on the way to attempts: how many of a pool, or (0 or 1) one of them.
struct Standing {
  std::int32_t present = 0;            ///< its node is there
  std::int32_t reconciled = 0;         ///< and it has said what it holds
  std::int32_t accepting = 0;          ///< and it is not drained
  std::int64_t slots = 0;              ///< that can be used, of those that accept
  bool operator==(const Standing&) const = default;
};

/// `sum` with one life that stood as `before` and stands as `now`.
inline void count_anew(Standing& sum, const Standing& before, const Standing& now) {
  sum.present += now.present - before.present;
  sum.reconciled += now.reconciled - before.reconciled;
  sum.accepting += now.accepting - before.accepting;
  sum.slots += now.slots - before.slots;
}

/// Which of its workers stand in a group's orders. Open: those that may take an attempt now. Here: all that
/// are here, not drained, and have a slot that can be used. Fit: those of them that may take one as soon as
/// they have a free slot. Able: the same by their load, of those that are not kept for a wide run already.
enum class Counts { Open, Here, Fit, Able };

struct GroupKey {
  std::string pool;
  std::string handler;                 ///< empty: whatever they know
  Counts counts = Counts::Open;
  std::map<std::string, std::string> select = {};  ///< labels that they have
  std::string except = {};             ///< the id of one that does not belong to it
  model::Demand demand = {};           ///< what they have as a whole; Open: and free now
  auto operator<=>(const GroupKey&) const = default;
};

/// Whether it belongs to the group, as far as its node says.
inline bool belongs(const model::WorkerInfo& info, const GroupKey& group) {
  if (info.pool != group.pool || info.key.id == group.except) return false;
  if (!model::are_selected(info.labels, group.select)) return false;
  if (!model::has_whole(info.slots, info.offers, group.demand)) return false;
  if (group.handler.empty()) return true;
  for (const std::string& known : info.handlers) {
    if (known == group.handler) return true;
  }
  return false;
}

/// Owner: WorkerTable, which keeps it in step with the lives that belong to it.
struct WorkerGroup {
  Counts counts = Counts::Open;
  model::Demand demand = {};
  OpenWorkers open;                    ///< by `counts`; only Open ones can all take an attempt
  Standing standing;                   ///< of all of them together
  std::uint64_t asked = 0;             ///< ordinal of the last question: what nobody asks for is dropped
};

/// Who stands in it does not go by a free slot alone.
inline bool is_wide(const WorkerGroup& group) {
  return group.counts == Counts::Able || (group.counts == Counts::Open && !group.demand.is_plain());
}

/// More groups are not kept; one that was dropped is made again when it is asked for.
inline constexpr std::size_t kGroupsMost = 256;

}  // namespace rota::master::core
