// The jobs of the model's world, and what is done to them.
#include <doctest/doctest.h>

#include <algorithm>

#include <fmt/format.h>

#include "common/time/zones.h"
#include "world.h"

namespace rota::when_model {

using namespace master::core;

namespace {
const std::vector<std::string> kCalendars = {"a", "b", "c"};
const std::vector<std::string> kCalmCalendars = {"d"};

}  // namespace

World::Job* World::any_job() {
  std::vector<Job*> living;
  for (Job& job : jobs_) {
    if (!job.deleted) living.push_back(&job);
  }
  return living.empty() ? nullptr : dice_.one_of(living);
}

void World::edit_something() {
  if (dice_.chance(50)) look();
  Job* job = any_job();
  if (job == nullptr || jobs_.size() < kMostJobs) return create();
  // What its rules may end just now is looked at first.
  if (job->rules.firings > 0 || job->has_after_end()) look();
  switch (dice_.pick(0, 5)) {
    case 0: return pause(*job, job->enabled);
    case 1: return pause(*job, false);
    case 2: return job->has_after_end() ? apply(*job) : remove(*job);
    case 3: return apply(*job);
    default: fill(*job); return apply(*job);
  }
}

void World::fill(Job& job) {
  job.entries.clear();
  if (job.space == "calm") {
    job.entries.push_back(random_after_end(dice_, at_, kCalmCalendars));
    return;
  }
  for (std::int64_t left = dice_.pick(1, 3); left > 0; --left) {
    job.entries.push_back(random_entry(dice_, at_, {job.space, job.name}, kCalendars));
  }
}

void World::create() {
  Job job;
  job.space = dice_.chance(25) ? "calm" : "default";
  job.name = fmt::format("job{}", ++names_);
  job.rules.grace = dice_.chance(50) ? dice_.pick(2, 7200) * 1000 : dice_.pick(1, 300) * 1'200'000;
  job.rules.overlap = dice_.one_of(std::vector{Overlap::Allow, Overlap::Allow, Overlap::Queue, Overlap::Skip});
  job.rules.late = dice_.one_of(std::vector{Late::FireOnce, Late::Skip, Late::FireAll});
  if (job.space == "calm") job.rules.overlap = Overlap::Skip;
  if (job.rules.late == Late::FireAll && job.rules.overlap == Overlap::Skip) job.rules.late = Late::FireOnce;
  job.rules.queue_limit = dice_.pick(1, 40);
  if (dice_.chance(25)) job.rules.firings = static_cast<std::int32_t>(dice_.pick(1, 300));
  if (dice_.chance(10)) job.rules.until_success = true;
  if (dice_.chance(20)) job.rules.pause_after = static_cast<std::int32_t>(dice_.pick(2, 8));
  fill(job);
  apply(job);
  if (job.version == 0) return;
  if (jobs_.size() >= kMostJobs) std::erase_if(jobs_, [](const Job& each) { return each.deleted; });
  jobs_.push_back(std::move(job));
}

Event World::applied(const Job& job) const {
  std::vector<std::string> lines;
  for (const PlainEntry& entry : job.entries) lines.push_back(entry.line);
  using model::LatePolicy;
  const LatePolicy late = job.rules.late == Late::FireOnce  ? LatePolicy::FireOnce
                          : job.rules.late == Late::FireAll ? LatePolicy::FireAll
                                                            : LatePolicy::Skip;
  const model::Overlap overlap = job.rules.overlap == Overlap::Skip    ? model::Overlap::Skip
                                 : job.rules.overlap == Overlap::Queue ? model::Overlap::Queue
                                                                       : model::Overlap::Allow;
  const auto built = test::a_job(job.name).entries(lines).late(late).overlap(overlap).grace(Millis{job.rules.grace})
      .queue_limit(static_cast<std::int32_t>(job.rules.queue_limit)).firings(job.rules.firings)
      .pausing_after(job.rules.pause_after).described(std::to_string(job.edits)).build();
  model::JobDefinition definition = *built;
  definition.space = job.space;
  if (job.rules.until_success) definition.rules.until = model::Until::Success;
  ApplyJob event;
  event.token = Token{token_};
  event.principal = "dice";
  event.definition = std::make_shared<const model::JobDefinition>(std::move(definition));
  for (const std::string& zone : kZones) event.zone.others.push_back(*timezone::load_zone(zone));
  return event;
}

/// A fixed rate counts on from where it did unless the entries change.
void World::apply(Job& job) {
  ++token_;
  ++job.edits;
  const Standing before = standings()[job.id];
  const auto lines = [](const std::vector<PlainEntry>& entries) {
    std::vector<std::string> out;
    for (const PlainEntry& entry : entries) out.push_back(entry.line);
    return out;
  };
  const bool is_new = job.version == 0;
  std::vector<std::string> known;
  if (!is_new) known = h_->versions.at({job.id, job.version}).definition ?
      h_->versions.at({job.id, job.version}).definition->rules.schedule.entries : known;
  for (JobVersion v = job.version - 1; !is_new && known.empty() && v > 0; --v) {
    if (const auto& row = h_->versions.at({job.id, v}); row.definition) known = row.definition->rules.schedule.entries;
  }
  Job old = job;
  if (!is_new) old.planned_through = 0;
  std::vector<PlainEntry> fresh = job.entries;
  if (!is_new && known != lines(fresh)) {
    // What is recorded with the edit is planned by the entries of before.
    old.entries = entries_before_[job.id];
  }
  handle(applied(job));
  const auto* taken = std::get_if<JobApplied>(&h_->last.replies.back().body);
  if (taken == nullptr) {  // it could never fire
    if (!is_new) job.entries = entries_before_[job.id];
    return count("refused");
  }
  count("edits of jobs");
  const bool has_others = is_new || known != lines(fresh);
  if (!is_new) {
    judge(old, before);
    old.entries = std::move(fresh);
    job = std::move(old);
  }
  job.id = taken->job;
  open_version(job, has_others);
}

void World::pause(Job& job, bool paused) {
  if (job.enabled != paused) return;
  const Standing before = standings()[job.id];
  handle(SetPaused{Token{++token_}, "dice", job.space, job.name, paused, ""});
  judge(job, before);
  job.enabled = !paused;
  if (!paused) {
    job.fired = job.failures = 0;
    job.has_succeeded = false;
  }
  count(paused ? "pauses" : "resumptions");
  open_version(job, false);
}

void World::remove(Job& job) {
  const Standing before = standings()[job.id];
  handle(DeleteJob{Token{++token_}, "dice", job.space, job.name, ""});
  judge(job, before);
  job.deleted = true;
  count("deletions");
  if (dice_.chance(70)) bring_back(job);
}

void World::bring_back(Job& job) {
  nap(dice_.pick(1, 300'000));
  UndeleteJob event;
  event.token = Token{++token_};
  event.principal = "dice";
  event.job = h_->jobs.at(job.id);
  event.version = h_->versions.at({job.id, job.version});
  for (JobVersion v = job.version; !event.version.definition && v > 0; --v) {
    event.version.definition = h_->versions.at({job.id, v}).definition;
  }
  for (const std::string& zone : kZones) event.zone.others.push_back(*timezone::load_zone(zone));
  handle(event);
  REQUIRE(std::holds_alternative<JobApplied>(h_->last.replies.back().body));
  job.deleted = false;
  job.due.reset();
  count("undeletions");
  open_version(job, false);
}

void World::open_version(Job& job, bool has_other_entries) {
  entries_before_[job.id] = job.entries;
  ++job.version;
  job.valid_from = job.recorded = at_;
  job.frozen.clear();
  job.planned_through = 0;
  if (has_other_entries) {
    job.anchor = at_;
    job.due.reset();
  }
  if (job.has_after_end()) {
    const bool stands = job.due && *job.due > at_ && job.enabled;
    if (!stands) {
      const Standing now = standings()[job.id];
      const bool is_free = job.enabled && now.begun + now.late == 0;
      job.due = is_free ? open_from(job.entries.front(), calendars_, at_ + job.entries.front().interval) : std::nullopt;
    }
  }
  judge_state(job);
}

}  // namespace rota::when_model
