#include "master/dispatch/definition_cache.h"

namespace rota::master::dispatch {
namespace {

std::size_t weight_of_texts(const std::map<std::string, std::string>& texts) {
  std::size_t sum = 0;
  for (const auto& [key, value] : texts) sum += key.size() + value.size() + 64;
  return sum;
}

}  // namespace

std::size_t weight_of(const model::JobDefinition& definition) {
  const model::JobWork& work = definition.work;
  std::size_t sum = 512 + definition.name.size() + definition.description.size() +
                    work.script.size() + work.folder.size() + weight_of_texts(definition.labels) +
                    weight_of_texts(work.environment) + weight_of_texts(work.parameters);
  for (const std::string& argument : work.argv) sum += argument.size() + 32;
  return sum;
}

Result<DefinitionCache::Definition> DefinitionCache::get(JobId job, JobVersion version) {
  const Key key{job, version};
  if (Definition found = find(key)) return found;
  auto fetched = reader_.definition_of(job, version);
  if (!fetched) fetched = reader_.definition_of(job, version);
  if (!fetched) return fail(fetched.error());
  if (!*fetched) return fail(ErrorCode::NotFound, "the store gave no definition");
  keep(key, *fetched);
  return *fetched;
}

std::size_t DefinitionCache::size() const {
  std::scoped_lock lock(mutex_);
  return by_use_.size();
}

DefinitionCache::Definition DefinitionCache::find(const Key& key) {
  std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return found->second->definition;
}

void DefinitionCache::keep(const Key& key, const Definition& definition) {
  std::scoped_lock lock(mutex_);
  if (entries_.contains(key)) return;
  by_use_.push_front(Entry{key, definition, weight_of(*definition)});
  entries_[key] = by_use_.begin();
  bytes_ += by_use_.front().bytes;
  while (by_use_.size() > 1 && (by_use_.size() > most_entries_ || bytes_ > most_bytes_)) {
    bytes_ -= by_use_.back().bytes;
    entries_.erase(by_use_.back().key);
    by_use_.pop_back();
  }
}

}  // namespace rota::master::dispatch
