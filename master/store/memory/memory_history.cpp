#include <algorithm>

#include "master/store/memory/memory_store.h"
#include "master/store/memory/memory_tables.h"

namespace rota::master::store {
namespace {

Millis keep_runs_of(const MemoryTables& tables, JobId id) {
  const auto job = tables.jobs.find(id);
  if (job == tables.jobs.end()) return Millis{0};
  const auto version = tables.versions.find({id, job->second.version});
  const bool is_known = version != tables.versions.end() && version->second.definition;
  return is_known ? version->second.definition->rules.keep_runs : Millis{0};
}

void erase_one_off_without_runs(MemoryTables& tables, JobId id) {
  const auto job = tables.jobs.find(id);
  if (job == tables.jobs.end() || !job->second.one_off) return;
  if (std::ranges::any_of(tables.runs, [&](const auto& run) { return run.second.job == id; })) return;
  tables.jobs.erase(job);
  std::erase_if(tables.versions, [&](const auto& version) { return version.first.first == id; });
}

}  // namespace

Result<std::optional<Millis>> MemoryStore::shortest_keep() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::optional<Millis> shortest;
  for (const auto& [id, job] : tables_->jobs) {
    const Millis keep = keep_runs_of(*tables_, id);
    if (!job.one_off && keep > Millis{0}) shortest = std::min(shortest.value_or(keep), keep);
  }
  return shortest;
}

Result<std::vector<PastRun>> MemoryStore::past_runs(RunId after, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<PastRun> out;
  for (auto at = tables_->runs.upper_bound(after); at != tables_->runs.end(); ++at) {
    if (static_cast<std::int32_t>(out.size()) >= std::max(limit, 1)) break;
    const model::Run& run = at->second;
    out.push_back({run.id, run.job, run.tick, model::is_final(run.progress.state), run.recorded,
                   std::max(run.progress.ended.value_or(run.recorded), run.recorded),
                   keep_runs_of(*tables_, run.job)});
  }
  return out;
}

Result<std::vector<PastGap>> MemoryStore::past_gaps(const GapKey& after, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<PastGap> out;
  for (auto at = tables_->gaps.upper_bound({after.job, after.version, after.from});
       at != tables_->gaps.end(); ++at) {
    if (static_cast<std::int32_t>(out.size()) >= std::max(limit, 1)) break;
    const model::Gap& gap = at->second;
    out.push_back({{gap.job, gap.version, gap.from}, gap.to, keep_runs_of(*tables_, gap.job)});
  }
  return out;
}

Result<void> MemoryStore::forget_through(const std::map<JobId, WallTime>& moments) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  for (const auto& [job, moment] : moments) {
    WallTime& gone = tables_->gone[job];
    gone = std::max(gone, moment);
  }
  return {};
}

Result<void> MemoryStore::erase_runs(const std::vector<PastRun>& runs) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  MemoryTables& tables = *tables_;
  for (const PastRun& past : runs) {
    const auto found = tables.runs.find(past.run);
    if (found == tables.runs.end() || !model::is_final(found->second.progress.state)) continue;
    std::erase_if(tables.attempts, [&](const auto& row) { return row.first.first == past.run; });
    std::erase_if(tables.run_of_tick, [&](const auto& row) { return row.second == past.run; });
    std::erase_if(tables.run_of_key, [&](const auto& row) { return row.second == past.run; });
    tables.runs_gone_through = std::max(tables.runs_gone_through, past.run);
    std::erase_if(tables.late, [&](const auto& row) { return row.second.run == past.run; });
    tables.notes.erase(past.run);
    tables.pruned.erase(past.run);
    tables.runs.erase(found);
    std::erase_if(tables.children, [&](const auto& row) {
      const model::ChildRow& child = row.second;
      const bool is_of = child.parent == past.run || child.run == past.run;
      return is_of && !tables.runs.contains(child.parent) && !tables.runs.contains(child.run);
    });
    erase_one_off_without_runs(tables, past.job);
  }
  return {};
}

Result<void> MemoryStore::erase_gaps(const std::vector<GapKey>& gaps) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  for (const GapKey& gap : gaps) {
    tables_->gaps.erase({gap.job, gap.version, gap.from});
    std::erase_if(tables_->late, [&](const auto& row) {
      return row.second.job == gap.job && row.second.run == RunId{} && row.second.tick == gap.from;
    });
  }
  return {};
}

}  // namespace rota::master::store
