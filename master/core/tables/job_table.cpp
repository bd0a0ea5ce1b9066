#include "master/core/tables/job_table.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "master/core/time/cron_hash.h"

namespace rota::master::core {
namespace {

const SchedulePtr& never() {
  static const auto kNever = std::make_shared<const CompiledSchedule>();
  return kNever;
}

void note_user(JobTable::Users& all, const std::pair<std::string, std::string>& name, JobId job,
               bool uses) {
  IdSet<JobId>& users = all[name];
  uses ? users.insert(job) : users.erase(job);
  if (users.empty()) all.erase(name);
}

}  // namespace

// --- an entry

JobFacts::JobFacts(model::Job row)
    : id(row.id),
      name(std::move(row.name)),
      version(row.version),
      state(row.state),
      one_off(row.one_off),
      created(row.created),
      changed(row.changed),
      ticks_through(row.ticks_through),
      space_(std::make_shared<const std::string>(std::move(row.space))) {
  rare_.set({std::move(row.state_by), std::move(row.state_why), row.memory});
}

void JobFacts::set_state(model::JobState to, std::string by, std::string why) {
  state = to;
  rare_.set({std::move(by), std::move(why), memory()});
}

void JobFacts::set_asked_by(std::string principal) {
  if (!principal.empty()) rare_.change().asked_by = std::move(principal);
}

void JobFacts::set_memory(const model::JobMemory& memory) {
  if (!(memory == this->memory())) rare_.change().memory = memory;
}

model::Job JobFacts::as_row() const {
  model::Job row;
  row.id = id;
  row.space = space();
  row.name = name;
  row.version = version;
  row.state = state;
  row.one_off = one_off;
  row.state_by = rare_.get().state_by;
  row.state_why = rare_.get().state_why;
  row.memory = memory();
  row.created = created;
  row.changed = changed;
  row.ticks_through = ticks_through;
  return row;
}

JobEntry::JobEntry(model::Job row_in, Plan plan) : row(std::move(row_in)), plan_(std::move(plan)) {
  if (plan_.schedule == nullptr) plan_.schedule = never();
}

Millis JobEntry::jitter_at(WallTime tick) const {
  const CompiledEntries* entries = schedule().entries();
  if (entries == nullptr || !entries->has_jitter()) return Millis{0};
  return entries->jitter_at(tick, job_hash(row.space(), row.name));
}

Millis JobEntry::jitter_at_start(WallTime at, std::string_view start) const {
  const CompiledEntries* entries = schedule().entries();
  if (entries == nullptr || !entries->has_jitter()) return Millis{0};
  return entries->jitter_at_start(at, start, job_hash(row.space(), row.name));
}

void JobEntry::leave_behind(RunId run) {
  if (!behind().empty()) runs_.change().behind.erase(run);
}

void JobEntry::drop_unfinished(RunId run) {
  runs_.change().unfinished.erase(run);
  if (!has_runs()) runs_.clear();
}

void JobEntry::wait_to_catch_up(RunId run) {
  runs_.change().unfinished.erase(run);
  runs_.change().caught_up.insert(run);
}

void JobEntry::begin_to_catch_up(RunId run) {
  runs_.change().caught_up.erase(run);
  runs_.change().unfinished.insert(run);
}

// --- entries

JobEntry& JobTable::add(JobEntry entry) {
  const JobId id = entry.row.id;
  const std::size_t before = jobs_.size();
  const auto at = jobs_.emplace_hint(jobs_.end(), id, std::move(entry));  // mostly it is the newest
  CHECK_OR_DIE(jobs_.size() > before, "a job was added twice");
  JobEntry& job = at->second;
  share_space(job.row);
  if (!job.row.one_off && job.row.state != model::JobState::Deleted) give_name(job);
  count_grace(job, 1);
  return job;
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
  CHECK_OR_DIE(!job->has_runs(), "a job with unfinished runs was erased");
  set_next_tick(*job, std::nullopt);
  count_grace(*job, -1);
  release_name(*job);
  jobs_.erase(id);
}

void JobTable::forget_if_done(JobId id) {
  const JobEntry* job = find(id);
  if (job == nullptr || job->has_runs()) return;
  if (job->row.one_off || job->row.state == model::JobState::Deleted) erase(id);
}

void JobTable::set_plan(JobEntry& job, Plan plan) {
  const bool is_named = find_named(job.row.space(), job.row.name) == &job;
  count_grace(job, -1);
  if (is_named) note_use(job, false);
  job.plan_ = std::move(plan);
  count_grace(job, 1);
  if (is_named) note_use(job, true);
}

void JobTable::note_use(const JobEntry& job, bool uses) {
  for (const auto& [semaphore, count] : job.rules().uses) {
    note_user(semaphore_users_, {job.row.space(), semaphore}, job.row.id, uses);
  }
  for (const auto* children : {&job.rules().on_success, &job.rules().on_failure, &job.rules().on_end}) {
    for (const std::string& child : *children) {
      note_user(parents_, {job.row.space(), child}, job.row.id, uses);
    }
  }
  if (job.rules().schedule.entries.empty()) return;
  if (job.schedule().has_worker_start()) {
    uses ? void(start_jobs_.insert(job.row.id)) : void(start_jobs_.erase(job.row.id));
  }
  // A schedule that this program cannot read has none compiled, and may name calendars all the same.
  const bool is_read = job.schedule().entries() != nullptr;
  const auto calendars = is_read ? job.schedule().calendars() : calendars_of(job.rules().schedule);
  for (const std::string& calendar : calendars) {
    note_user(users_, {job.row.space(), calendar}, job.row.id, uses);
  }
}

const IdSet<JobId>& JobTable::users_of_semaphore(const std::string& space, const std::string& name) const {
  static const IdSet<JobId> kNone;
  const auto found = semaphore_users_.find({space, name});
  return found == semaphore_users_.end() ? kNone : found->second;
}

const IdSet<JobId>& JobTable::parents_of(const std::string& space, const std::string& name) const {
  static const IdSet<JobId> kNone;
  const auto found = parents_.find({space, name});
  return found == parents_.end() ? kNone : found->second;
}

const IdSet<JobId>& JobTable::users_of(const std::string& space, const std::string& calendar) const {
  static const IdSet<JobId> kNone;
  const auto found = users_.find({space, calendar});
  return found == users_.end() ? kNone : found->second;
}

void JobTable::share_space(JobFacts& row) {
  auto known = spaces_.find(std::string_view(row.space()));
  if (known == spaces_.end()) known = spaces_.insert(row.space_).first;
  row.space_ = *known;
}

void JobTable::count_grace(const JobEntry& job, std::int64_t change) {
  if (job.row.one_off) return;
  const auto at = graces_.try_emplace(job.rules().tick_grace, 0).first;
  at->second += change;
  if (at->second == 0) graces_.erase(at);
}

// --- names

JobEntry* JobTable::find_named(const std::string& space, const std::string& name) {
  return names_.find(space, name);
}

const JobEntry* JobTable::find_named(const std::string& space, const std::string& name) const {
  return names_.find(space, name);
}

void JobTable::give_name(JobEntry& job) {
  const JobEntry* had = names_.find(job.row.space(), job.row.name);
  if (had != nullptr) note_use(*had, false);
  if (had == nullptr) count_named(job.row.space(), 1);
  names_.set(job);
  note_use(job, true);
}

void JobTable::release_name(const JobEntry& job) {
  if (names_.find(job.row.space(), job.row.name) != &job) return;
  names_.erase(job);
  count_named(job.row.space(), -1);
  note_use(job, false);
}

std::int64_t JobTable::named_in(const std::string& space) const {
  const auto found = named_in_.find(space);
  return found == named_in_.end() ? 0 : found->second;
}

void JobTable::count_named(const std::string& space, std::int64_t change) {
  const auto at = named_in_.try_emplace(space, 0).first;
  at->second += change;
  if (at->second == 0) named_in_.erase(at);
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

void JobTable::set_memory(JobEntry& job, const model::JobMemory& memory) {
  if (memory == job.row.memory()) return;
  job.row.set_memory(memory);
  changed_memories_.insert(job.row.id);
}

bool JobTable::is_taken(JobId id, WallTime tick) const {
  const auto found = taken_.find(id);
  return found != taken_.end() && found->second.contains(tick);
}

void JobTable::set_next_tick(JobEntry& job, std::optional<WallTime> tick) {
  if (job.next_tick_) {
    due_.erase({*job.next_tick_, job.row.id});
    due_often_.erase({*job.next_tick_, job.row.id});
  }
  job.next_tick_ = tick;
  if (!tick) return;
  due_.insert({*tick, job.row.id});
  if (job.schedule().fires_often()) due_often_.insert({*tick, job.row.id});
}

std::optional<DueTick> JobTable::first_due() const { return due_.first(); }

std::optional<DueTick> JobTable::first_due_after(WallTime at) const {
  return due_.first_after(at);
}

std::optional<DueTick> JobTable::first_due_often() const { 
  return due_often_.empty() ? std::nullopt : std::optional(*due_often_.begin());
}

std::optional<WallTime> JobTable::next_taken(const JobEntry& job, WallTime recorded, WallTime end) {
  const auto taken = taken_.find(job.row.id);
  if (taken == taken_.end()) return std::nullopt;
  std::set<WallTime>& ticks = taken->second;
  ticks.erase(ticks.begin(), ticks.upper_bound(recorded));
  if (ticks.empty()) {
    taken_.erase(taken);
    return std::nullopt;
  }
  if (!job.next_tick_) return std::nullopt;
  const auto next = ticks.lower_bound(*job.next_tick_);
  return next != ticks.end() && *next <= end ? std::optional(*next) : std::nullopt;
}

}  // namespace rota::master::core
