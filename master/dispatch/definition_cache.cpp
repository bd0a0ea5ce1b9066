#include "master/dispatch/definition_cache.h"

#include "common/wire/job_wire.h"
#include "common/wire/shared_work.h"

namespace rota::master::dispatch {
namespace {

constexpr std::size_t kEntryBytes = 512;  // beside the work itself, about

}  // namespace

ReadyWork make_ready(const model::JobDefinition& definition) {
  ReadyWork out;
  out.job_name = definition.name;
  out.space = definition.space;
  out.work = wire::to_wire(definition.work);
  out.hash = wire::hash_of(out.work);
  out.weight = wire::weight_of(out.work);
  return out;
}

Result<DefinitionCache::Definition> DefinitionCache::get(JobId job, JobVersion version) {
  const Key key{job, version};
  if (Definition found = find(key)) return found;
  auto fetched = reader_.definition_of(job, version);
  if (!fetched) fetched = reader_.definition_of(job, version);
  if (!fetched) return fail(fetched.error());
  if (!*fetched) return fail(ErrorCode::NotFound, "the store gave no definition");
  auto ready = std::make_shared<const ReadyWork>(make_ready(**fetched));
  keep(key, ready);
  return ready;
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
  by_use_.push_front(Entry{key, definition, kEntryBytes + definition->weight});
  entries_[key] = by_use_.begin();
  bytes_ += by_use_.front().bytes;
  while (by_use_.size() > 1 && (by_use_.size() > most_entries_ || bytes_ > most_bytes_)) {
    bytes_ -= by_use_.back().bytes;
    entries_.erase(by_use_.back().key);
    by_use_.pop_back();
  }
}

}  // namespace rota::master::dispatch
