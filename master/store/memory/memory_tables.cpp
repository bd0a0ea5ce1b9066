#include "master/store/memory/memory_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "master/core/time/calendar_lead.h"
#include "master/store/mysql/job_rows.h"

namespace rota::master::store {
namespace {

using Names = std::pair<std::string, std::string>;

/// The newest row of each job; jobs that free a name come before jobs that use one, as MySQL gets them.
std::vector<const model::Job*> jobs_in_order(const std::vector<model::Job>& jobs) {
  std::set<JobId> seen;
  std::vector<const model::Job*> out;
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
    if (seen.insert(job->id).second) out.push_back(&*job);
  }
  std::reverse(out.begin(), out.end());
  std::stable_partition(out.begin(), out.end(), [](const auto* job) { return !holds_its_name(*job); });
  return out;
}

/// Which job has which name while the jobs of a batch are written one by one.
class NameHolders {
 public:
  explicit NameHolders(const MemoryTables& tables) : tables_(tables) {}

  /// False when another job has the name.
  bool put(const model::Job& job) {
    const Names name{job.space, job.name};
    const JobId present = holder_of(name);
    if (holds_its_name(job) && present && present != job.id) return false;
    const auto old = tables_.jobs.find(job.id);
    if (old != tables_.jobs.end() && holds_its_name(old->second)) {
      changed_[{old->second.space, old->second.name}] = {};
    }
    if (holds_its_name(job)) changed_[name] = job.id;
    return true;
  }

 private:
  JobId holder_of(const Names& name) const {
    if (const auto changed = changed_.find(name); changed != changed_.end()) return changed->second;
    const auto standing = tables_.job_of_name.find(name);
    return standing == tables_.job_of_name.end() ? JobId{} : standing->second;
  }

  const MemoryTables& tables_;
  std::map<Names, JobId> changed_;  ///< 0: nobody
};

Result<void> check_names(const MemoryTables& tables, const core::Changes& changes) {
  if (changes.jobs.empty()) return {};
  NameHolders holders(tables);
  for (const model::Job* job : jobs_in_order(changes.jobs)) {
    if (holders.put(*job)) continue;
    return fail(ErrorCode::AlreadyExists,
                fmt::format("job {} can not be stored: another saved job of namespace '{}' has the name '{}'",
                            job->id.value, job->space, job->name));
  }
  return {};
}

bool has_version_before(const MemoryTables& tables, JobId job, JobVersion version) {
  auto at = tables.versions.lower_bound({job, version});
  return at != tables.versions.begin() && (--at)->first.first == job;
}

/// A version without a definition closes one that stands, or carries on the one before it.
Result<void> check_versions(const MemoryTables& tables, const core::Changes& changes) {
  for (auto at = changes.versions.begin(); at != changes.versions.end(); ++at) {
    if (at->definition || tables.versions.contains({at->job, at->version})) continue;
    if (has_version_before(tables, at->job, at->version)) continue;
    bool comes = false;
    for (auto earlier = changes.versions.begin(); earlier != at; ++earlier) {
      comes = comes || (earlier->job == at->job && earlier->version <= at->version);
    }
    if (!comes) {
      return fail(ErrorCode::NotFound,
                  fmt::format("job {} has no version to close or carry on", at->job.value));
    }
  }
  return {};
}

Error taken(RunId run, RunId by, const char* what) {
  return {ErrorCode::AlreadyExists,
          fmt::format("run {} can not be stored: run {} has its {}", run.value, by.value, what)};
}

Result<void> check_new_runs(const MemoryTables& tables, const core::Changes& changes) {
  std::set<RunId> seen;
  std::map<std::pair<JobId, WallTime>, RunId> ticks;
  std::map<Names, RunId> keys;
  for (const model::Run& run : changes.new_runs) {
    if (tables.runs.contains(run.id) || !seen.insert(run.id).second) continue;
    if (run.tick) {
      const std::pair tick{run.job, *run.tick};
      const auto standing = tables.run_of_tick.find(tick);
      if (standing != tables.run_of_tick.end()) return fail(taken(run.id, standing->second, "job and tick"));
      const auto [at, is_new] = ticks.emplace(tick, run.id);
      if (!is_new) return fail(taken(run.id, at->second, "job and tick"));
    }
    if (run.request_key.empty()) continue;
    const Names key{run.principal, run.request_key};
    const auto standing = tables.run_of_key.find(key);
    if (standing != tables.run_of_key.end()) {
      return fail(taken(run.id, standing->second, "principal and request key"));
    }
    const auto [at, is_new] = keys.emplace(key, run.id);
    if (!is_new) return fail(taken(run.id, at->second, "principal and request key"));
  }
  for (const core::RunUpdate& update : changes.updated_runs) {
    if (tables.runs.contains(update.id) || seen.contains(update.id)) continue;
    return fail(ErrorCode::NotFound, fmt::format("runs to update are not in the store: {}", update.id.value));
  }
  return {};
}

bool same_gap(const model::Gap& a, const model::Gap& b) {
  return a.to == b.to && a.count == b.count && a.reason == b.reason && a.reference == b.reference &&
         a.epoch == b.epoch;
}

Result<void> check_gaps(const MemoryTables& tables, const core::Changes& changes) {
  std::map<std::tuple<JobId, JobVersion, WallTime>, const model::Gap*> coming;
  for (const model::Gap& gap : changes.gaps) {
    const std::tuple key{gap.job, gap.version, gap.from};
    const auto standing = tables.gaps.find(key);
    const bool stands = standing != tables.gaps.end();
    const model::Gap& first = stands ? standing->second : *coming.emplace(key, &gap).first->second;
    if (same_gap(first, gap)) continue;
    return fail(ErrorCode::AlreadyExists,
                fmt::format("a gap of job {} version {} from {} can not be stored: another one begins there",
                            gap.job.value, gap.version, to_ms(gap.from)));
  }
  return {};
}

void put_version(MemoryTables& tables, const model::JobVersionRow& version) {
  const auto [at, is_new] = tables.versions.try_emplace({version.job, version.version}, version);
  if (!is_new) {
    at->second.valid_to = version.valid_to;
  } else if (!version.definition) {
    at->second.definition = std::prev(at)->second.definition;
  }
}

void put_note(MemoryTables& tables, const model::RunNote& note) {
  model::RunNote& row = tables.notes[note.run];
  row.run = note.run;
  row.attempt = note.attempt;
  row.said = note.said;
  if (note.percent) {
    row.percent = note.percent;
    row.text = note.text;
  }
  if (!note.checkpoint) return;
  row.checkpoint = note.checkpoint;
  row.checkpoint_attempt = note.attempt;
  row.checkpoint_said = note.said;
}

void put_late(MemoryTables& tables, const core::Changes& changes) {
  for (const auto& row : changes.late) tables.late.try_emplace(key_of(row), row);
  for (const auto& row : changes.paces) tables.paces.insert_or_assign(row.job, row);
  if (!changes.forget_dead) return;
  std::erase_if(tables.late, [&](const auto& each) {
    return each.second.what == model::ToldOnce::WorkerDead && each.second.told < *changes.forget_dead;
  });
}

void put_notifications(MemoryTables& tables, const core::Changes& changes) {
  for (const auto& row : changes.notifications) tables.notifications.insert_or_assign(row.id, row);
  for (const auto& row : changes.receivers) tables.receivers.try_emplace({row.epoch, row.rule.name}, row);
  if (!changes.forget_notifications) return;
  std::erase_if(tables.notifications, [&](const auto& each) {
    return each.second.state != model::Delivery::Open && each.second.made < *changes.forget_notifications;
  });
}

void put_scaling(MemoryTables& tables, const core::Changes& changes) {
  for (const auto& row : changes.scaling) tables.scaling.insert_or_assign(row.id, row);
  if (!changes.forget_scaling) return;
  const core::ForgetScaling& forget = *changes.forget_scaling;
  std::erase_if(tables.scaling, [&](const auto& each) {
    const bool is_kept = std::ranges::find(forget.except, each.first) != forget.except.end();
    return each.second.state != model::HookState::Open && each.second.made < forget.before && !is_kept;
  });
}

}  // namespace

Result<void> check_changes(const MemoryTables& tables, const core::Changes& changes) {
  if (auto fine = check_names(tables, changes); !fine) return fine;
  if (auto fine = check_versions(tables, changes); !fine) return fine;
  if (auto fine = check_new_runs(tables, changes); !fine) return fine;
  return check_gaps(tables, changes);
}

void put_changes(MemoryTables& tables, const core::Changes& changes) {
  put_definitions(tables, changes);
  put_new_runs(tables, changes);
  for (const core::RunUpdate& update : changes.updated_runs) put_update(tables, update);
  put_the_rest(tables, changes);
}

void put_definitions(MemoryTables& tables, const core::Changes& changes) {
  for (const model::Job* job : jobs_in_order(changes.jobs)) {
    const auto old = tables.jobs.find(job->id);
    if (old != tables.jobs.end() && holds_its_name(old->second)) {
      tables.job_of_name.erase({old->second.space, old->second.name});
    }
    tables.jobs.insert_or_assign(job->id, *job);
    if (holds_its_name(*job)) tables.job_of_name.insert_or_assign({job->space, job->name}, job->id);
  }
  for (const model::JobVersionRow& version : changes.versions) put_version(tables, version);
}

void put_new_runs(MemoryTables& tables, const core::Changes& changes) {
  for (const model::Run& run : changes.new_runs) {
    if (!tables.runs.emplace(run.id, run).second) continue;
    if (run.tick) tables.run_of_tick.emplace(std::pair{run.job, *run.tick}, run.id);
    if (run.request_key.empty()) continue;
    tables.run_of_key.emplace(std::pair{run.principal, run.request_key}, run.id);
  }
}

void put_update(MemoryTables& tables, const core::RunUpdate& update) {
  tables.runs.at(update.id).progress = update.progress;
}

void put_the_rest(MemoryTables& tables, const core::Changes& changes) {
  for (const auto& attempt : changes.attempts) {
    model::AttemptRow& row = tables.attempts[{attempt.run, attempt.attempt}];
    const auto before = row.dispatched;
    row = attempt;
    if (!row.dispatched) row.dispatched = before;  // whoever brings a late result does not know it
  }
  for (const auto& note : changes.notes) put_note(tables, note);
  for (const auto& gap : changes.gaps) tables.gaps.emplace(std::tuple{gap.job, gap.version, gap.from}, gap);
  for (const auto& life : changes.lives) tables.lives.insert_or_assign(life.key, life);
  for (const auto& freeze : changes.freezes) tables.freezes.insert_or_assign(freeze.id, freeze);
  for (const auto& start : changes.starts) tables.starts.emplace(start.key, start);
  for (const auto& row : changes.children) tables.children.try_emplace({row.parent, row.name}, row);
  for (const auto& row : changes.children_owed) tables.children_owed.try_emplace(row.parent, row);
  for (const RunId parent : changes.children_done) tables.children_owed.erase(parent);
  for (const auto& drain : changes.drains) tables.drains.insert_or_assign(drain.worker, drain);
  for (const auto& death : changes.deaths) tables.deaths.insert_or_assign(death.life, death);
  for (const auto& row : changes.quotas) tables.quotas.try_emplace({row.of, row.name, row.version}, row);
  for (const auto& row : changes.settings) tables.settings.try_emplace({row.name, row.version}, row);
  for (const auto& hold : changes.holds) {
    const auto at = tables.holds.try_emplace(hold.number, hold).first;
    at->second.until = hold.until;
    at->second.trial = hold.trial;
    at->second.ended = hold.ended;
  }
  for (const auto& row : changes.semaphores) {
    tables.semaphores.try_emplace({row.space, row.name, row.version}, row);
  }
  for (const auto& row : changes.calendars) {
    tables.calendars.try_emplace({row.space, row.calendar->name, row.version}, row);
  }
  put_notifications(tables, changes);
  put_scaling(tables, changes);
  put_late(tables, changes);
  if (changes.watermark) {
    tables.watermark = changes.watermark;
  } else if (!changes.empty()) {
    ++tables.beats;  // else a batch of a leader that holds ticks would be no sign of it
  }
}

Result<void> put_claim(MemoryTables& tables, const Claim& claim) {
  if (tables.epoch >= claim.epoch) {
    return fail(ErrorCode::Conflict,
                fmt::format("the epoch in the database is {} or higher already", claim.epoch.value));
  }
  tables.epoch = claim.epoch;
  tables.holder = claim.holder;
  tables.terms[claim.epoch] = {claim.holder, WallTime{}};
  if (claim.zookeeper) tables.zookeeper = claim.zookeeper;
  return {};
}

std::vector<model::Gap> gaps_beyond(const MemoryTables& tables, WallTime moment) {
  std::vector<model::Gap> gaps;
  for (const auto& [key, gap] : tables.gaps) {
    if (gap.to > moment) gaps.push_back(gap);
  }
  return gaps;
}

namespace {

/// How far any job is recorded: to the watermark, or by its own row, or by an edit, beyond it.
WallTime farthest_recorded(const MemoryTables& tables, WallTime watermark) {
  WallTime farthest = watermark;
  for (const auto& [key, version] : tables.versions) farthest = std::max(farthest, version.valid_from);
  for (const auto& [id, job] : tables.jobs) {
    farthest = std::max(farthest, job.ticks_through.value_or(WallTime{}));
  }
  return farthest;
}

}  // namespace

Result<void> put_rewind(MemoryTables& tables, const Rewind& rewind) {
  const bool is_expected = tables.watermark && tables.watermark->through == rewind.from_through &&
                           tables.watermark->reaching == rewind.from;
  if (tables.epoch != rewind.epoch || !is_expected) {
    return fail(ErrorCode::Conflict, "another epoch or watermark stands");
  }
  tables.rewinds.push_back({rewind.epoch, farthest_recorded(tables, rewind.from), rewind.to});
  for (const model::Gap& gap : rewind.erased) tables.gaps.erase({gap.job, gap.version, gap.from});
  for (const model::Gap& gap : rewind.cut) {
    tables.gaps.insert_or_assign({gap.job, gap.version, gap.from}, gap);
  }
  for (auto& [key, version] : tables.versions) {
    version.valid_from = std::min(version.valid_from, rewind.to);
    if (version.valid_to) version.valid_to = std::min(*version.valid_to, rewind.to);
  }
  for (auto& [id, job] : tables.jobs) {
    if (job.ticks_through) job.ticks_through = std::min(*job.ticks_through, rewind.to);
  }
  for (auto& [key, row] : tables.calendars) {
    if (row.changed <= rewind.to) continue;
    row.changed = rewind.to;
    const Millis each_later{row.version};  // than the version before it
    row.from = std::min(row.from, rewind.to + core::kCalendarLead + each_later);
  }
  tables.watermark = rewind.to;
  return {};
}

std::vector<model::SettingRow> newest_settings_in(const MemoryTables& tables) {
  std::map<std::string, model::SettingRow> newest;
  for (const auto& [key, row] : tables.settings) newest.insert_or_assign(row.name, row);
  std::vector<model::SettingRow> rows;
  for (auto& [name, row] : newest) rows.push_back(std::move(row));
  return rows;
}

std::int64_t newest_setting_number(const MemoryTables& tables) {
  std::int64_t newest = 0;
  for (const auto& [key, row] : tables.settings) newest = std::max(newest, row.number);
  return newest;
}

std::vector<model::QuotaRow> newest_quotas_in(const MemoryTables& tables) {
  std::vector<model::QuotaRow> rows;
  for (const auto& [key, row] : tables.quotas) {
    const bool is_later = !rows.empty() && rows.back().of == row.of && rows.back().name == row.name;
    if (is_later) rows.pop_back();
    rows.push_back(row);
  }
  return rows;
}

std::vector<model::QuotaRow> quotas_of_term_in(const MemoryTables& tables) {
  std::vector<model::QuotaRow> rows;
  for (const model::QuotaRow& newest : newest_quotas_in(tables)) {
    std::vector<model::QuotaRow> versions;
    bool has_times = false;
    for (auto at = tables.quotas.lower_bound({newest.of, newest.name, 0});
         at != tables.quotas.end() && at->second.of == newest.of && at->second.name == newest.name; ++at) {
      const model::Quota& quota = at->second.quota;
      has_times = has_times || (quota.timeout + quota.run_timeout + quota.queue_timeout) > Millis{0};
      versions.push_back(at->second);
    }
    if (!has_times) versions = {newest};
    rows.insert(rows.end(), versions.begin(), versions.end());
  }
  return rows;
}

}  // namespace rota::master::store
