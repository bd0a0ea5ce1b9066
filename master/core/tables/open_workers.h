// The workers of one pool that may take an attempt now, in the orders in which routes look for one, so that
// a choice looks at a few of them and not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/model/worker.h"

namespace rota::master::core {

/// How busy a worker is.
struct WorkerLoad {
  std::int32_t used = 0;
  std::int32_t slots = 1;              ///< at least 1
  std::int64_t last_used = 0;          ///< ordinal of its last dispatch; 0: never
  bool operator==(const WorkerLoad&) const = default;
};

/// The smaller share of used slots comes first; among equals the worker that was used longest ago.
inline bool is_less_loaded(const WorkerLoad& a, const WorkerLoad& b) {
  const std::int64_t left = std::int64_t{a.used} * b.slots;  // used_a / slots_a < used_b / slots_b
  const std::int64_t right = std::int64_t{b.used} * a.slots;
  if (left != right) return left < right;
  return a.last_used < b.last_used;
}

/// Owner: WorkerTable, which puts each worker in and takes it out. Thread: the Scheduler's.
class OpenWorkers {
 public:
  /// It is not in yet.
  void insert(const model::WorkerKey& key, const WorkerLoad& load) {
    by_load_.insert({load, &*by_id_.insert(key).first});
  }
  /// It was put in with this load.
  void erase(const model::WorkerKey& key, const WorkerLoad& load) {
    by_load_.erase({load, &key});
    by_id_.erase(key);
  }
  /// It is in with the first load, and has the other from now on.
  void move(const model::WorkerKey& key, const WorkerLoad& from, const WorkerLoad& to) {
    auto node = by_load_.extract(LessLoaded::Entry{from, &key});
    node.value() = {to, node.value().second};
    by_load_.insert(std::move(node));
  }
  /// From one load to the other; unset: it is not in.
  void change(const model::WorkerKey& key, const std::optional<WorkerLoad>& from,
              const std::optional<WorkerLoad>& to) {
    if (from && to) return move(key, *from, *to);
    if (to) insert(key, *to);
    if (from) erase(key, *from);
  }
  bool contains(const model::WorkerKey& key) const { return by_id_.contains(key); }
  bool empty() const { return by_id_.empty(); }
  /// Whether one of them may take an attempt that must run on this worker; empty: on any.
  bool may_serve(const std::string& worker) const {
    return worker.empty() ? !empty() : with_id(worker) != nullptr;
  }
  /// The same workers stand in both orders.
  bool is_whole() const { return by_id_.size() == by_load_.size(); }

  // Null when there is none. Valid until the next change.
  const model::WorkerKey* least_loaded() const {
    return by_load_.empty() ? nullptr : by_load_.begin()->second;
  }
  const model::WorkerKey* with_id(const std::string& id) const {
    const auto found = by_id_.lower_bound({id, ""});
    return found == by_id_.end() || found->id != id ? nullptr : &*found;
  }
  /// The first whose id comes after this one, around.
  const model::WorkerKey* after_id(const std::string& id) const {
    if (by_id_.empty()) return nullptr;
    const auto found = by_id_.lower_bound({id + '\0', ""});
    return found == by_id_.end() ? &*by_id_.begin() : &*found;
  }

 private:
  struct LessLoaded {
    using Entry = std::pair<WorkerLoad, const model::WorkerKey*>;  ///< a key of `by_id_`
    bool operator()(const Entry& a, const Entry& b) const {
      if (is_less_loaded(a.first, b.first)) return true;
      if (is_less_loaded(b.first, a.first)) return false;
      return *a.second < *b.second;
    }
  };

  std::set<model::WorkerKey> by_id_;
  std::set<LessLoaded::Entry, LessLoaded> by_load_;
};

}  // namespace rota::master::core
