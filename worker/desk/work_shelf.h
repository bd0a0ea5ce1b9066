// What leaders have sent of what attempts run, by the hash of its content: it is sent once, and then named.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "common/model/job.h"

namespace rota::worker::desk {

/// The least recently used go first. A hash stands for one content forever, so that nothing here can be
/// stale, whoever sent it. Thread: any.
class WorkShelf {
 public:
  using Work = std::shared_ptr<const model::JobWork>;

  static constexpr std::size_t kMost = 1000;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  explicit WorkShelf(std::size_t most = kMost, std::size_t most_bytes = kMostBytes)
      : most_(most), most_bytes_(most_bytes) {}

  /// Gives it back, also when it is too large to be kept.
  Work keep(const std::string& hash, model::JobWork work, std::size_t weight);
  /// Null: it is not here (any more).
  Work find(const std::string& hash);

  std::size_t most() const { return most_; }
  std::size_t most_bytes() const { return most_bytes_; }
  std::size_t size() const;

 private:
  struct Entry {
    std::string hash;
    Work work;
    std::size_t weight = 0;
  };

  void drop_oldest();

  const std::size_t most_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::list<Entry> by_use_;  ///< the latest used first
  std::unordered_map<std::string, std::list<Entry>::iterator> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace rota::worker::desk
