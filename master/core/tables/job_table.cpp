#include "master/core/tables/job_table.h"

#include <algorithm>
#include <limits>

#include "common/base/check.h"

namespace rota::master::core {
namespace {

constexpr JobId kLastJob{std::numeric_limits<std::int64_t>::max()};

std::optional<DueTick> first_of(const std::set<DueTick>& due) {
  return due.empty() ? std::nullopt : std::optional(*due.begin());
}

}  // namespace

JobEntry& JobTable::add(JobEntry entry) {
  const JobId id = entry.row.id;
  if (!entry.row.one_off && entry.row.state != model::JobState::Deleted) give_name(entry);
  const auto [at, added] = jobs_.emplace(id, std::move(entry));
  CHECK_OR_DIE(added, "a job was added twice");
  count_grace(at->second, 1);
  return at->second;
}

JobEntry* JobTable::find(JobId id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const JobEntry* JobTable::find(JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

void JobTable::erase(JobId id) {
  JobEntry* job = find(id);
  if (job == nullptr) return;
  CHECK_OR_DIE(job->unfinished_.empty(), "a job with unfinished runs was erased");
  set_next_tick(*job, std::nullopt);
  count_grace(*job, -1);
  release_name(*job);
  jobs_.erase(id);
}

void JobTable::forget_if_done(JobId id) {
  const JobEntry* job = find(id);
  if (job == nullptr || !job->unfinished_.empty()) return;
  if (job->row.one_off || job->row.state == model::JobState::Deleted) erase(id);
}

void JobTable::set_rules(JobEntry& job, RulesPtr rules) {
  count_grace(job, -1);
  job.rules_ = std::move(rules);
  count_grace(job, 1);
}

void JobTable::count_grace(const JobEntry& job, std::int64_t change) {
  if (job.row.one_off) return;
  const auto at = graces_.try_emplace(job.rules_->tick_grace, 0).first;
  at->second += change;
  if (at->second == 0) graces_.erase(at);
}

// --- names

JobEntry* JobTable::find_named(const std::string& space, const std::string& name) {
  const auto found = names_.find({space, name});
  return found == names_.end() ? nullptr : find(found->second);
}

void JobTable::release_name(const JobEntry& job) {
  const auto found = names_.find({job.row.space, job.row.name});
  if (found != names_.end() && found->second == job.row.id) names_.erase(found);
}

void JobTable::note_deleted(const JobEntry& job) {
  newly_deleted_.emplace_back(job.row.id, job.row.version);
  if (newly_deleted_.size() > kDeletedMost) newly_deleted_.pop_front();
}

bool JobTable::was_deleted_later(JobId id, JobVersion version) const {
  return std::any_of(newly_deleted_.begin(), newly_deleted_.end(),
                     [&](const auto& each) { return each.first == id && each.second > version; });
}

// --- ticks

void JobTable::set_next_tick(JobEntry& job, std::optional<WallTime> tick) {
  if (job.next_tick_) {
    due_.erase({*job.next_tick_, job.row.id});
    due_often_.erase({*job.next_tick_, job.row.id});
  }
  job.next_tick_ = tick;
  if (!tick) return;
  due_.insert({*tick, job.row.id});
  if (job.schedule.fires_often()) due_often_.insert({*tick, job.row.id});
}

std::optional<DueTick> JobTable::first_due() const { return first_of(due_); }

std::optional<DueTick> JobTable::first_due_after(WallTime at) const {
  const auto next = due_.upper_bound({at, kLastJob});
  return next == due_.end() ? std::nullopt : std::optional(*next);
}

std::optional<DueTick> JobTable::first_due_often() const { return first_of(due_often_); }

std::optional<WallTime> JobTable::next_taken(const JobEntry& job, WallTime end) {
  const auto taken = taken_.find(job.row.id);
  if (taken == taken_.end()) return std::nullopt;
  std::set<WallTime>& ticks = taken->second;
  while (!ticks.empty() && (!job.next_tick_ || *ticks.begin() < *job.next_tick_)) ticks.erase(ticks.begin());
  if (ticks.empty()) {
    taken_.erase(taken);
    return std::nullopt;
  }
  return *ticks.begin() <= end ? std::optional(*ticks.begin()) : std::nullopt;
}

}  // namespace rota::master::core
