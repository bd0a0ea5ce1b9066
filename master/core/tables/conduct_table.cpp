#include "master/core/tables/conduct_table.h"

#include <algorithm>

namespace rota::master::core {
namespace {

bool counts(MonoTime then, MonoTime now) { return now - then <= kConductWindow; }

}  // namespace

void ConductTable::note_failure(const std::string& worker, JobId job, MonoTime at) {
  auto& jobs = failed_[worker];
  jobs[job].at = at;
  failed_on_[job.value].insert(worker);
  if (jobs.size() > kJobsKept) drop_old(worker, at);
}

/// What is too old goes; if that is nothing, the job whose last failure is the oldest.
void ConductTable::drop_old(const std::string& worker, MonoTime at) {
  const auto& jobs = failed_.at(worker);
  std::vector<JobId> old;
  for (const auto& [job, failed] : jobs) {
    if (!counts(failed.at, at)) old.push_back(job);
  }
  if (old.empty()) {
    const auto by_time = [](const auto& one, const auto& other) { return one.second.at < other.second.at; };
    old.push_back(std::ranges::min_element(jobs, by_time)->first);
  }
  for (const JobId job : old) drop(worker, job);
}

void ConductTable::drop(const std::string& worker, JobId job) {
  const auto on = failed_on_.find(job.value);
  if (on != failed_on_.end() && on->second.erase(worker) > 0 && on->second.empty()) failed_on_.erase(on);
  const auto of = failed_.find(worker);
  if (of != failed_.end() && of->second.erase(job) > 0 && of->second.empty()) failed_.erase(of);
}

std::vector<std::string> ConductTable::note_success(const std::string& worker, JobId job, MonoTime at) {
  const auto on = failed_on_.find(job.value);
  if (on == failed_on_.end()) return {};
  std::vector<std::string> others;
  for (const std::string& each : on->second) {
    if (each == worker) continue;
    Failed& failed = failed_.at(each).at(job);
    if (!counts(failed.at, at)) continue;
    failed.elsewhere = at;
    others.push_back(each);
  }
  drop(worker, job);
  return others;
}

std::vector<JobId> ConductTable::proven_against(const std::string& worker, MonoTime at) const {
  std::vector<JobId> proven;
  const auto of = failed_.find(worker);
  if (of == failed_.end()) return proven;
  for (const auto& [job, failed] : of->second) {
    const bool is_proven = failed.elsewhere && counts(*failed.elsewhere, at) && counts(failed.at, at);
    if (is_proven) proven.push_back(job);
  }
  return proven;
}

void ConductTable::forget_failures(const std::string& worker) {
  const auto of = failed_.find(worker);
  if (of == failed_.end()) return;
  std::vector<JobId> jobs;
  for (const auto& [job, failed] : of->second) jobs.push_back(job);
  for (const JobId job : jobs) drop(worker, job);
}

void ConductTable::note_lost(const std::string& worker, const std::string& pool, MonoTime at) {
  auto& lost = lost_[pool];
  const auto is_old = [at](const Lost& one) { return at - one.at > kConductWindow + kCrowdWindow; };
  while (!lost.empty() && (lost.size() >= kLostKept || is_old(lost.front()))) lost.pop_front();
  lost.push_back({at, worker});
}

int ConductTable::lost_alone(const std::string& worker, const std::string& pool, std::size_t crowd,
                             MonoTime at) const {
  const auto in = lost_.find(pool);
  if (in == lost_.end()) return 0;
  int alone = 0;
  for (const Lost& each : in->second) {
    if (each.worker != worker || !counts(each.at, at)) continue;
    std::set<std::string> beside;
    for (const Lost& other : in->second) {
      const auto apart = other.at < each.at ? each.at - other.at : other.at - each.at;
      if (other.worker != worker && apart <= kCrowdWindow) beside.insert(other.worker);
    }
    if (beside.size() < crowd) ++alone;
  }
  return alone;
}

void ConductTable::forget_lost(const std::string& worker, const std::string& pool) {
  const auto in = lost_.find(pool);
  if (in == lost_.end()) return;
  std::erase_if(in->second, [&](const Lost& each) { return each.worker == worker; });
  if (in->second.empty()) lost_.erase(in);
}

std::size_t ConductTable::note_return(const std::string& pool, Millis window, MonoTime at) {
  auto& returns = returns_[pool];
  while (!returns.empty() && at - returns.front() > window) returns.pop_front();
  returns.push_back(at);
  return returns.size();
}

std::int32_t ConductTable::strikes(const std::string& worker, MonoTime at) const {
  const auto found = strikes_.find(worker);
  if (found == strikes_.end() || at - found->second.hold_ends > kConductWindow) return 0;
  return found->second.count;
}

void ConductTable::note_strikes(const std::string& worker, std::int32_t count, MonoTime hold_ends) {
  strikes_.insert_or_assign(worker, Strikes{count, hold_ends});
  if (strikes_.size() <= kStrikesKept) return;
  const auto by_time = [](const auto& one, const auto& other) {
    return one.second.hold_ends < other.second.hold_ends;
  };
  strikes_.erase(std::ranges::min_element(strikes_, by_time));
}

}  // namespace rota::master::core
