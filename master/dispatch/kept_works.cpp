#include "master/dispatch/kept_works.h"

namespace rota::master::dispatch {

void LifeWorks::learned(const std::string& hash, std::size_t weight) {
  if (hashes_.contains(hash)) return;
  if (hashes_.size() >= most_ || bytes_ + weight > most_bytes_) forget();
  hashes_.insert(hash);
  bytes_ += weight;
}

void LifeWorks::forget() {
  hashes_.clear();
  bytes_ = 0;
}

void KeptWorks::greeted(const model::WorkerKey& life, std::size_t most, std::size_t most_bytes) {
  std::scoped_lock lock(mutex_);
  if (most == 0 || most_bytes == 0) {
    by_id_.erase(life.id);
  } else {
    by_id_[life.id] = {life.incarnation, std::make_shared<LifeWorks>(most, most_bytes)};
  }
}

std::shared_ptr<LifeWorks> KeptWorks::of(const model::WorkerKey& life) const {
  std::scoped_lock lock(mutex_);
  const auto found = by_id_.find(life.id);
  if (found == by_id_.end() || found->second.incarnation != life.incarnation) return nullptr;
  return found->second.works;
}

void KeptWorks::clear() {
  std::scoped_lock lock(mutex_);
  by_id_.clear();
}

}  // namespace rota::master::dispatch
