#include "worker/desk/work_shelf.h"

#include <utility>

namespace rota::worker::desk {

WorkShelf::Work WorkShelf::keep(const std::string& hash, model::JobWork work, std::size_t weight) {
  if (Work known = find(hash)) return known;
  auto kept = std::make_shared<const model::JobWork>(std::move(work));
  std::scoped_lock lock(mutex_);
  if (weight > most_bytes_ || most_ == 0 || entries_.contains(hash)) return kept;
  while (by_use_.size() >= most_ || bytes_ + weight > most_bytes_) drop_oldest();
  by_use_.push_front({hash, kept, weight});
  entries_[hash] = by_use_.begin();
  bytes_ += weight;
  return kept;
}

WorkShelf::Work WorkShelf::find(const std::string& hash) {
  std::scoped_lock lock(mutex_);
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->work;
}

std::size_t WorkShelf::size() const {
  std::scoped_lock lock(mutex_);
  return by_use_.size();
}

/// Under the lock.
void WorkShelf::drop_oldest() {
  bytes_ -= by_use_.back().weight;
  entries_.erase(by_use_.back().hash);
  by_use_.pop_back();
}

}  // namespace rota::worker::desk
