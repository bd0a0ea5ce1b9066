#include "master/core/tables/token_table.h"

#include "common/base/check.h"

namespace rota::master::core {

const TokenTable::Entry* TokenTable::find(const SemaphoreName& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() || found->second.newest_.version == 0 || found->second.newest_.deleted
             ? nullptr
             : &found->second;
}

std::int32_t TokenTable::last_version(const SemaphoreName& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? 0 : found->second.newest_.version;
}

void TokenTable::put(model::SemaphoreRow row) {
  Entry& entry = entries_[{row.space, row.name}];
  CHECK_OR_DIE(row.version > entry.newest_.version, "versions of a semaphore follow each other");
  const bool was_there = entry.newest_.version > 0 && !entry.newest_.deleted;
  live_ += row.deleted ? 0u : 1u;
  live_ -= was_there ? 1u : 0u;
  const SemaphoreName name{row.space, row.name};
  entry.newest_ = std::move(row);
  // Whoever asks for tokens of it may get now what could not be had before, or stand in the way in vain.
  for (auto at = tickets_.begin(); at != tickets_.end(); ++at) {
    if (!at->first.uses.contains(name)) continue;
    if (at->second.stands && !can_ever_get(at->first.uses)) unstand(at);
    pools_.insert(at->first.pool);
  }
}

// --- lines

bool TokenTable::ask(const SlotQueueKey& queue) {
  if (queue.uses.empty()) return true;
  const auto at = tickets_.try_emplace(queue).first;
  if (at->second.number == 0) at->second.number = ++last_ticket_;
  if (!can_ever_get(queue.uses)) {
    unstand(at);
    return false;
  }
  if (gets_now(queue.uses, at->second.number)) return true;
  stand(at);
  return false;
}

bool TokenTable::would_get(const SlotQueueKey& queue) const {
  if (queue.uses.empty()) return true;
  const std::int64_t ticket = ticket_of(queue);
  return can_ever_get(queue.uses) && gets_now(queue.uses, ticket);
}

void TokenTable::step_back(const SlotQueueKey& queue) {
  if (queue.uses.empty()) return;
  if (const auto at = tickets_.find(queue); at != tickets_.end()) unstand(at);
}

void TokenTable::leave(const SlotQueueKey& queue) {
  if (queue.uses.empty()) return;
  const auto at = tickets_.find(queue);
  if (at == tickets_.end()) return;
  unstand(at);
  tickets_.erase(at);
}

const SemaphoreName* TokenTable::lacking(const SlotQueueKey& queue) const {
  const std::int64_t ticket = ticket_of(queue);
  const SemaphoreName* taken = nullptr;
  for (const auto& [name, wanted] : queue.uses) {
    const Entry* entry = find(name);
    if (entry == nullptr || entry->newest_.count < wanted) return &name;
    if (taken == nullptr && (!has_free(name, wanted) || !is_next(name, ticket))) taken = &name;
  }
  return taken;
}

TokenTable::Line* TokenTable::before(const SlotQueueKey& queue) const {
  const auto at = tickets_.find(queue);
  for (const auto& [name, wanted] : queue.uses) {
    const auto found = entries_.find(name);
    if (found == entries_.end() || found->second.waiting_.empty()) continue;
    const auto& [ticket, line] = *found->second.waiting_.begin();
    if (at == tickets_.end() || ticket < at->second.number) return line;
  }
  return nullptr;
}

std::int64_t TokenTable::ticket_of(const SlotQueueKey& queue) const {
  const auto at = tickets_.find(queue);
  return at == tickets_.end() ? last_ticket_ + 1 : at->second.number;
}

std::size_t TokenTable::lines_before(const SlotQueueKey& queue, const SemaphoreName& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return 0;
  const auto& waiting = found->second.waiting_;
  const auto at = tickets_.find(queue);
  if (at == tickets_.end()) return waiting.size();
  return static_cast<std::size_t>(std::distance(waiting.begin(), waiting.lower_bound(at->second.number)));
}

// --- tokens

void TokenTable::take(RunId run, const TokenNeeds& uses) {
  for (const auto& [name, count] : uses) {
    Entry& entry = entries_[name];     // also of one that was deleted meanwhile
    const bool is_new = entry.holders_.try_emplace(run, count).second;
    CHECK_OR_DIE(is_new, "a run takes its tokens twice");
    entry.held_ += count;
  }
}

void TokenTable::give_back(RunId run, const TokenNeeds& uses) {
  for (const auto& [name, count] : uses) {
    Entry& entry = entries_[name];
    CHECK_OR_DIE(entry.holders_.erase(run) == 1, "a run gives back what it has not");
    entry.held_ -= count;
    look_at_first(entry);
  }
}

bool TokenTable::can_ever_get(const TokenNeeds& uses) const {
  for (const auto& [name, wanted] : uses) {
    const Entry* entry = find(name);
    if (entry == nullptr || entry->newest_.count < wanted) return false;
  }
  return true;
}

bool TokenTable::gets_now(const TokenNeeds& uses, std::int64_t ticket) const {
  for (const auto& [name, wanted] : uses) {
    if (!has_free(name, wanted) || !is_next(name, ticket)) return false;
  }
  return true;
}

bool TokenTable::has_free(const SemaphoreName& name, std::int32_t wanted) const {
  const Entry& entry = entries_.at(name);
  return entry.held_ + wanted <= entry.newest_.count;
}

bool TokenTable::is_next(const SemaphoreName& name, std::int64_t ticket) const {
  const auto& waiting = entries_.at(name).waiting_;
  return waiting.empty() || ticket <= waiting.begin()->first;
}

void TokenTable::look_at_first(const Entry& entry) {
  if (!entry.waiting_.empty()) pools_.insert(entry.waiting_.begin()->second->pool);
}

void TokenTable::stand(Tickets::iterator at) {
  if (std::exchange(at->second.stands, true)) return;
  for (const auto& [name, count] : at->first.uses) {
    entries_.at(name).waiting_.emplace(at->second.number, &at->first);
  }
}

void TokenTable::unstand(Tickets::iterator at) {
  if (!std::exchange(at->second.stands, false)) return;
  for (const auto& [name, count] : at->first.uses) {
    Entry& entry = entries_.at(name);
    entry.waiting_.erase(at->second.number);
    look_at_first(entry);
  }
}

}  // namespace rota::master::core
