// The workers of one pool that may take an attempt now, in the orders in which routes look for one, so that
// a choice looks at a few of them and not at all. An order is made when the first route asks for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/model/worker.h"
#include "master/core/tables/worker_orders.h"

namespace rota::master::core {

/// Owner: WorkerTable, which puts each worker in and takes it out. Thread: the Scheduler's.
class OpenWorkers {
 public:
  /// From one load to the other; unset: it is not in.
  void change(const model::WorkerKey& key, const std::optional<WorkerLoad>& from,
              const std::optional<WorkerLoad>& to) {
    if (from && to) {
      move(key, *to);
    } else if (to) {
      insert(key, *to);
    } else if (from) {
      erase(key);
    }
  }
  /// It is not in yet.
  void insert(const model::WorkerKey& key, const WorkerLoad& load) {
    const auto at = by_id_.insert_or_assign(key, Member{load, lots_.size()}).first;
    lots_.push_back({&*at, hash_of(key.id)});
    whole_ += load.has_half ? 0 : 1;
    for (const auto& order : orders_) {
      if (order != nullptr) order->insert(&*at);
    }
  }
  /// It is in.
  void erase(const model::WorkerKey& key) {
    const auto at = by_id_.find(key);
    for (const auto& order : orders_) {
      if (order != nullptr) order->erase(&*at);
    }
    whole_ -= at->second.load.has_half ? 0 : 1;
    lots_.back().entry->second.lot = at->second.lot;
    std::swap(lots_[at->second.lot], lots_.back());
    lots_.pop_back();
    by_id_.erase(at);
  }
  /// It is in.
  void move(const model::WorkerKey& key, const WorkerLoad& to) {
    const auto at = by_id_.find(key);
    std::array<Ordered::node_type, kWorkerOrders> taken;
    for (std::size_t i = 0; i < kWorkerOrders; ++i) {
      if (orders_[i] != nullptr) taken[i] = orders_[i]->extract(&*at);
    }
    whole_ -= at->second.load.has_half ? 0 : 1;
    whole_ += to.has_half ? 0 : 1;
    at->second.load = to;
    for (std::size_t i = 0; i < kWorkerOrders; ++i) {
      if (orders_[i] != nullptr) orders_[i]->insert(std::move(taken[i]));
    }
  }
  bool contains(const model::WorkerKey& key) const { return by_id_.contains(key); }
  bool empty() const { return by_id_.empty(); }
  /// Whether one of them may take an attempt that must run on this worker; empty: on any.
  bool may_serve(const std::string& worker) const {
    return worker.empty() ? !empty() : with_id(worker) != nullptr;
  }
  /// The same workers stand in all orders.
  bool is_whole() const {
    return lots_.size() == by_id_.size() && std::ranges::all_of(orders_, [this](const auto& order) {
             return order == nullptr || order->size() == by_id_.size();
           });
  }

  // Null when there is none. Valid until the next change.
  const model::WorkerKey* first(WorkerOrder order) const {
    const Ordered& all = in(order);
    return all.empty() ? nullptr : &(*all.begin())->first;
  }
  /// Of the first so many the first that will do.
  template <typename Ask>
  const model::WorkerKey* first_of(WorkerOrder order, int most, Ask will_do) const {
    for (const Entry* each : in(order)) {
      if (most-- == 0) return nullptr;
      if (will_do(each->first)) return &each->first;
    }
    return nullptr;
  }
  /// With which it stands here; null: it does not.
  const WorkerLoad* load_of(const model::WorkerKey& key) const {
    const auto found = by_id_.find(key);
    return found == by_id_.end() ? nullptr : &found->second.load;
  }
  const model::WorkerKey* last(WorkerOrder order) const {
    const Ordered& all = in(order);
    return all.empty() ? nullptr : &(*all.rbegin())->first;
  }
  /// The first that is not passed over this time. Those before it, which have half of their share, are named
  /// in `passed`. Where all have, nobody is passed over.
  const model::WorkerKey* first_in_turn(WorkerOrder order, std::vector<model::WorkerKey>& passed) const {
    if (whole_ == 0) return first(order);
    for (const Entry* each : in(order)) {
      if (!each->second.load.is_passed) return &each->first;
      passed.push_back(each->first);
    }
    return nullptr;
  }
  /// The same, of those whose ids come after this one, around.
  const model::WorkerKey* after_id_in_turn(const std::string& id,
                                           std::vector<model::WorkerKey>& passed) const {
    if (by_id_.empty() || whole_ == 0) return after_id(id);
    const auto begin = by_id_.lower_bound({id + '\0', ""});
    auto at = begin == by_id_.end() ? by_id_.begin() : begin;
    while (at->second.load.is_passed) {
      passed.push_back(at->first);
      if (++at == by_id_.end()) at = by_id_.begin();
    }
    return &at->first;
  }
  const model::WorkerKey* with_id(const std::string& id) const {
    const auto found = by_id_.lower_bound({id, ""});
    return found == by_id_.end() || found->first.id != id ? nullptr : &found->first;
  }
  /// The first whose id comes after this one, around.
  const model::WorkerKey* after_id(const std::string& id) const {
    if (by_id_.empty()) return nullptr;
    const auto found = by_id_.lower_bound({id + '\0', ""});
    return found == by_id_.end() ? &by_id_.begin()->first : &found->first;
  }
  /// One of them, each as likely as any other for an evenly spread number; with half of a share half as
  /// likely.
  const model::WorkerKey* by_lot(std::uint64_t number) const {
    if (lots_.empty()) return nullptr;
    for (int draw = 0; draw < kDrawsMost; ++draw, number = mix(number + kNextDraw)) {
      const Entry* entry = lots_[number % lots_.size()].entry;
      if (!is_left_out_by(number, *entry)) return &entry->first;
    }
    return &lots_[number % lots_.size()].entry->first;
  }
  /// The one that this key prefers: each worker is the favourite of as many keys as any other, whoever else
  /// is here; of half as many with half of a share. Looks at 16 bytes of each of them.
  const model::WorkerKey* favourite_of(std::uint64_t key) const {
    const Entry* best = nullptr;
    std::uint64_t highest = 0;
    for (const Lot& lot : lots_) {
      const std::uint64_t score = mix(key ^ lot.id_hash);
      if (best != nullptr && score <= highest) continue;
      if (is_left_out_by(score, *lot.entry)) continue;
      best = lot.entry;
      highest = score;
    }
    return best == nullptr ? nullptr : &best->first;
  }

 private:
  struct Member {
    WorkerLoad load;
    std::size_t lot = 0;               ///< its place in `lots_`
  };
  using Entry = std::pair<const model::WorkerKey, Member>;
  struct Before {
    WorkerOrder order;
    bool operator()(const Entry* a, const Entry* b) const {
      if (is_before(order, a->second.load, b->second.load)) return true;
      if (is_before(order, b->second.load, a->second.load)) return false;
      return a->first < b->first;
    }
  };
  using Ordered = std::set<Entry*, Before>;
  struct Lot {
    Entry* entry = nullptr;
    std::uint64_t id_hash = 0;
  };

  static constexpr int kDrawsMost = 64;
  static constexpr std::uint64_t kNextDraw = 0x9E37'79B9'7F4A'7C15ull;

  /// Every second number leaves out one that has half of its share, where others have all of theirs.
  bool is_left_out_by(std::uint64_t number, const Entry& entry) const {
    return entry.second.load.has_half && whole_ > 0 && (mix(number ^ kNextDraw) & 1) != 0;
  }
  const Ordered& in(WorkerOrder order) const {
    auto& all = orders_[static_cast<std::size_t>(order)];
    if (all == nullptr) {
      all = std::make_unique<Ordered>(Before{order});
      for (const Lot& lot : lots_) all->insert(lot.entry);
    }
    return *all;
  }

  std::map<model::WorkerKey, Member> by_id_;
  std::vector<Lot> lots_;
  std::size_t whole_ = 0;              ///< of them: those with all of their share
  mutable std::array<std::unique_ptr<Ordered>, kWorkerOrders> orders_;
};

}  // namespace rota::master::core
