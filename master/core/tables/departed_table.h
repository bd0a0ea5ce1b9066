// Workers that are not here any more, kept for people (workers/departed_rules.h says for how long), and lives
// whose end nobody has recorded yet.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "common/base/time.h"
#include "common/model/worker.h"
#include "master/core/effect.h"
#include "master/core/tables/walk.h"

namespace rota::master::core {

/// The last life of a worker that is not here, for people.
struct DepartedWorker {
  model::WorkerInfo info;              ///< of one from before this Term its address and pool are known alone
  std::optional<std::int32_t> had_slots = {};  ///< as its row says; unset: not known
  WallTime left{};
  MonoTime heard{};                    ///< when it last asked for a voucher
  std::string why;
};

/// Thread: the Scheduler's.
class DepartedTable {
 public:
  const DepartedWorker* find(const std::string& id) const {
    const auto found = workers_.find(id);
    return found == workers_.end() ? nullptr : &found->second;
  }
  bool contains(const std::string& id) const { return workers_.contains(id); }
  /// It asked for a voucher, though its node is gone.
  void note_heard(const model::WorkerKey& key, MonoTime at) {
    const auto found = workers_.find(key.id);
    if (found != workers_.end() && found->second.info.key == key) found->second.heard = at;
  }
  auto all() const { return walk(workers_); }
  void depart(DepartedWorker worker) {
    const std::string id = worker.info.key.id;
    workers_.insert_or_assign(id, std::move(worker));
  }
  void forget(const std::string& id) { workers_.erase(id); }
  /// Forgets those of which this is not true.
  template <typename Keep>
  void keep_if(Keep keep) {
    std::erase_if(workers_, [&](const auto& each) { return !keep(each.second); });
  }
  /// Who left first goes first.
  void bound(std::size_t most);

  /// Lives whose end nobody recorded; until all workers are listed.
  void add_open_row(WorkerLife life) {
    const std::string id = life.key.id;
    open_rows_.insert_or_assign(id, std::move(life));
  }
  /// Gives all of them, by worker id, and keeps none.
  std::map<std::string, WorkerLife> close_rows() { return std::exchange(open_rows_, {}); }

 private:
  std::map<std::string, DepartedWorker> workers_;
  std::map<std::string, WorkerLife> open_rows_;
};

}  // namespace rota::master::core
