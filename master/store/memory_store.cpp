#include "master/store/memory_store.h"

#include <fmt/format.h>

#include "master/store/job_rows.h"
#include "master/store/log_rules.h"
#include "master/store/memory_tables.h"

namespace rota::master::store {
namespace {

/// Names of saved jobs, derived anew from the newest mention of each job.
Result<void> put_jobs(auto& tables, const std::vector<model::Job>& jobs) {
  std::map<JobId, model::Job> newest;
  for (const model::Job& job : jobs) newest[job.id] = job;
  for (const auto& [id, job] : newest) {
    if (const auto old = tables.jobs.find(id); old != tables.jobs.end() && holds_its_name(old->second)) {
      tables.job_of_name.erase({old->second.space, old->second.name});
    }
    tables.jobs[id] = job;
  }
  for (const auto& [id, job] : newest) {
    if (!holds_its_name(job)) continue;
    const auto [at, fresh] = tables.job_of_name.emplace(std::pair{job.space, job.name}, id);
    if (!fresh && at->second != id) {
      return fail(ErrorCode::AlreadyExists,
                  fmt::format("job {} can not be stored: another saved job of namespace '{}' has the "
                              "name '{}'",
                              id.value, job.space, job.name));
    }
  }
  return {};
}

Result<void> put_version(auto& tables, model::JobVersionRow version) {
  const std::pair key{version.job, version.version};
  if (const auto old = tables.versions.find(key); old != tables.versions.end()) {
    old->second.valid_to = version.valid_to;
    return {};
  }
  if (!version.definition) {
    auto before = tables.versions.lower_bound(key);
    if (before == tables.versions.begin() || (--before)->first.first != version.job) {
      return fail(ErrorCode::NotFound,
                  fmt::format("job {} has no version to close or carry on", version.job.value));
    }
    version.definition = before->second.definition;
  }
  tables.versions.emplace(key, std::move(version));
  return {};
}

Result<void> put_run(auto& tables, const model::Run& run) {
  if (tables.runs.contains(run.id)) return {};
  if (run.tick) {
    const auto [at, fresh] = tables.run_of_tick.emplace(std::pair{run.job, *run.tick}, run.id);
    if (!fresh) {
      return fail(ErrorCode::AlreadyExists,
                  fmt::format("run {} can not be stored: run {} has its job and tick", run.id.value,
                              at->second.value));
    }
  }
  if (!run.request_key.empty()) {
    const auto [at, fresh] =
        tables.run_of_key.emplace(std::pair{run.principal, run.request_key}, run.id);
    if (!fresh) {
      return fail(ErrorCode::AlreadyExists,
                  fmt::format("run {} can not be stored: run {} has its principal and request key",
                              run.id.value, at->second.value));
    }
  }
  tables.runs.emplace(run.id, run);
  return {};
}

Result<void> update_run(auto& tables, const core::RunUpdate& update) {
  const auto found = tables.runs.find(update.id);
  if (found == tables.runs.end()) {
    return fail(ErrorCode::NotFound,
                fmt::format("runs to update are not in the store: {}", update.id.value));
  }
  found->second.progress = update.progress;
  return {};
}

bool same_gap(const model::Gap& a, const model::Gap& b) {
  return a.to == b.to && a.count == b.count && a.reason == b.reason && a.reference == b.reference &&
         a.epoch == b.epoch;
}

Result<void> put_gap(auto& tables, const model::Gap& gap) {
  const auto [at, fresh] = tables.gaps.emplace(std::tuple{gap.job, gap.version, gap.from}, gap);
  if (fresh || same_gap(at->second, gap)) return {};
  return fail(ErrorCode::AlreadyExists,
              fmt::format("a gap of job {} version {} from {} can not be stored: another one begins there",
                          gap.job.value, gap.version, to_ms(gap.from)));
}

void put_note(auto& tables, const model::RunNote& note) {
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

Result<void> put_all(auto& tables, const core::Changes& changes) {
  if (auto put = put_jobs(tables, changes.jobs); !put) return put;
  for (const auto& version : changes.versions) {
    if (auto put = put_version(tables, version); !put) return put;
  }
  for (const auto& run : changes.new_runs) {
    if (auto put = put_run(tables, run); !put) return put;
  }
  for (const auto& update : changes.updated_runs) {
    if (auto put = update_run(tables, update); !put) return put;
  }
  for (const auto& attempt : changes.attempts) {
    tables.attempts[{attempt.run, attempt.attempt}] = attempt;
  }
  for (const auto& note : changes.notes) put_note(tables, note);
  for (const auto& gap : changes.gaps) {
    if (auto put = put_gap(tables, gap); !put) return put;
  }
  for (const auto& life : changes.lives) tables.lives[life.key] = life;
  for (const auto& drain : changes.drains) tables.drains[drain.worker] = drain;
  if (changes.watermark) tables.watermark = changes.watermark;
  return {};
}

Result<std::shared_ptr<const model::ZoneRules>> always_utc(std::string_view) {
  static const auto utc = std::make_shared<const model::ZoneRules>();
  return utc;
}

}  // namespace

MemoryStore::MemoryStore(ZoneSource zones)
    : zones_(zones ? std::move(zones) : ZoneSource(always_utc)), tables_(std::make_unique<Tables>()) {}
MemoryStore::~MemoryStore() = default;

void MemoryStore::fail_next(ApplyOutcome outcome, bool applied) {
  const std::scoped_lock lock(mutex_);
  fault_ = Fault{outcome, applied};
}

void MemoryStore::set_down(bool down) {
  const std::scoped_lock lock(mutex_);
  down_ = down;
}

Result<void> MemoryStore::up() const {
  if (down_) return fail(ErrorCode::Unavailable, "the store is down");
  return {};
}

ApplyResult MemoryStore::apply(Epoch epoch, const core::Changes& changes) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return {ApplyOutcome::Failed, fine.error().message, {}, false};
  if (epoch != tables_->epoch) {
    return {ApplyOutcome::Fenced,
            fmt::format("the epoch in force is {}, not {}", tables_->epoch.value, epoch.value),
            tables_->epoch, false};
  }
  const auto fault = std::exchange(fault_, std::nullopt);
  if (fault && !fault->applied) return {fault->outcome, "as the test asked", {}, false};
  Tables copy = *tables_;  // a batch that is refused leaves nothing
  if (auto put = put_all(copy, changes); !put) {
    return {ApplyOutcome::Failed, put.error().message, {}, true};
  }
  *tables_ = std::move(copy);
  if (fault) return {fault->outcome, "as the test asked", {}, false};
  return {ApplyOutcome::Applied, "", {}, false};
}

// --- office -------------------------------------------------------------------------------------

Result<Office::Marks> MemoryStore::read_marks() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  return Marks{tables_->epoch, tables_->watermark, tables_->cluster_uuid, SystemClock().wall()};
}

Result<std::string> MemoryStore::settle_uuid(const std::string& proposed) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  if (tables_->cluster_uuid.empty()) tables_->cluster_uuid = proposed;
  return tables_->cluster_uuid;
}

Result<Millis> MemoryStore::settle_grant(Millis own) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  tables_->longest_grant = std::max(tables_->longest_grant, own);
  return tables_->longest_grant;
}

Result<void> MemoryStore::take_office(Epoch epoch, const std::string&) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fine;
  if (tables_->epoch >= epoch) {
    return fail(ErrorCode::Conflict,
                fmt::format("the epoch in the database is {} or higher already", epoch.value));
  }
  tables_->epoch = epoch;
  return {};
}

Result<void> MemoryStore::probe() {
  const std::scoped_lock lock(mutex_);
  return up();
}

}  // namespace rota::master::store
