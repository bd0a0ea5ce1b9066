// Which works the present lives of workers keep, as far as this master knows. A work is sent once to each
// life, and goes by its hash afterwards. A life that does not know it any more says so, and is sent it again.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "common/model/worker.h"

namespace rota::master::dispatch {

/// Of one life. It forgets everything before the life itself has to: then what it knows is always kept there.
/// Thread: one at a time (a worker's lane).
class LifeWorks {
 public:
  LifeWorks(std::size_t most, std::size_t most_bytes) : most_(most), most_bytes_(most_bytes) {}

  /// A work of this weight is worth keeping: it does not push out most of the others.
  bool fits(std::size_t weight) const { return weight <= most_bytes_ / 4; }
  bool knows(const std::string& hash) const { return hashes_.contains(hash); }
  /// The life was sent it.
  void learned(const std::string& hash, std::size_t weight);
  void forget();

 private:
  const std::size_t most_;
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::unordered_set<std::string> hashes_;
};

/// Thread: any.
class KeptWorks {
 public:
  /// A life has answered hello: it keeps so many works, of so many bytes; 0: none.
  void greeted(const model::WorkerKey& life, std::size_t most, std::size_t most_bytes);
  /// Null: it keeps none, or has not answered hello.
  std::shared_ptr<LifeWorks> of(const model::WorkerKey& life) const;
  /// A new Term greets everyone anew.
  void clear();

 private:
  struct Entry {
    std::string incarnation;
    std::shared_ptr<LifeWorks> works;  ///< shared with the thread that works in the life's lane
  };
  mutable std::mutex mutex_;
  std::map<std::string, Entry> by_id_;
};

}  // namespace rota::master::dispatch
