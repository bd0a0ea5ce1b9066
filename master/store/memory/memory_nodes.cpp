// What is noted of workers and pools each minute, in memory.
#include <algorithm>

#include "master/store/memory/memory_store.h"
#include "master/store/memory/memory_tables.h"

namespace rota::master::store {
namespace {

bool holds_attempt(const MemoryTables& tables, const model::WorkerKey& life) {
  return std::ranges::any_of(tables.runs, [&](const auto& row) {
    const model::RunProgress& progress = row.second.progress;
    const bool is_held =
        progress.state == model::RunState::Dispatched || progress.state == model::RunState::Running;
    return is_held && progress.worker == life;
  });
}

bool is_past(const MemoryTables& tables, const core::WorkerLife& life, WallTime before) {
  if (life.left) return *life.left < before;
  return std::ranges::any_of(tables.lives, [&](const auto& row) {
    const core::WorkerLife& other = row.second;
    return other.key.id == life.key.id && other.joined > life.joined && other.joined < before;
  });
}

}  // namespace

Result<void> MemoryStore::keep_minutes(const MinuteRows& rows) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  for (const model::WorkerMinute& row : rows.workers) {
    tables_->worker_minutes.insert_or_assign({row.worker, row.minute, row.epoch}, row);
  }
  for (const model::PoolMinute& row : rows.pools) {
    tables_->pool_minutes.insert_or_assign({row.pool, row.minute, row.epoch}, row);
  }
  return {};
}

Result<std::map<std::string, core::WorkerWork>> MemoryStore::work_since(WallTime minute,
                                                                              Epoch leader) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::map<std::string, core::WorkerWork> out;
  for (const auto& [name, row] : tables_->worker_minutes) {
    if (row.minute < minute || row.epoch == leader) continue;
    core::WorkerWork& work = out[row.worker];
    work.scheduled += row.scheduled;
    work.succeeded += row.succeeded;
    work.failed += row.failed;
  }
  return out;
}

Result<bool> MemoryStore::erase_minutes(WallTime before) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::erase_if(tables_->worker_minutes, [&](const auto& row) { return row.second.minute < before; });
  std::erase_if(tables_->pool_minutes, [&](const auto& row) { return row.second.minute < before; });
  return false;
}

Result<std::int64_t> MemoryStore::erase_lives(WallTime before, std::int32_t most) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::WorkerKey> past;
  for (const auto& [key, life] : tables_->lives) {
    if (static_cast<std::int32_t>(past.size()) >= std::max(most, 1)) break;
    if (is_past(*tables_, life, before)) past.push_back(key);
  }
  std::int64_t erased = 0;
  for (const model::WorkerKey& key : past) {
    if (!holds_attempt(*tables_, key)) erased += static_cast<std::int64_t>(tables_->lives.erase(key));
  }
  return erased;
}

Result<std::vector<model::WorkerMinute>> MemoryStore::worker_minutes(const std::string& worker,
                                                                     WallTime since) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::WorkerMinute> out;
  for (const auto& [name, row] : tables_->worker_minutes) {
    if (row.worker == worker && row.minute >= since) out.push_back(row);
  }
  return out;
}

Result<std::vector<model::PoolMinute>> MemoryStore::pool_minutes(WallTime since) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::PoolMinute> out;
  for (const auto& [name, row] : tables_->pool_minutes) {
    if (row.minute >= since) out.push_back(row);
  }
  return out;
}

}  // namespace rota::master::store
