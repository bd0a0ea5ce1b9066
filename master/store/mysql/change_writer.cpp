#include "master/store/mysql/change_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/wire/definition_json.h"
#include "master/store/mysql/alike_updates.h"
#include "master/store/mysql/job_rows.h"
#include "master/store/mysql/kept_runs.h"
#include "master/store/mysql/multi_row.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

std::string list_of(const std::set<std::int64_t>& ids) { return fmt::format("{}", fmt::join(ids, ",")); }

/// Which of these ids the table does not hold.
Result<std::set<std::int64_t>> missing_ids(Connection& connection, std::string_view table,
                                           std::string_view column, std::set<std::int64_t> ids) {
  auto asked = connection.stream(
      fmt::format("SELECT {0} FROM {1} WHERE {0} IN ({2})", column, table, list_of(ids)),
      [&](Row& row) -> Result<void> {
        ids.erase(row.integer());
        return {};
      });
  if (!asked) return fail(asked.error());
  return ids;
}

// --- jobs ---------------------------------------------------------------------------------------

/// The newest row of each job; jobs that free a name come before jobs that use one. So a repeat of "delete x,
/// make x again" meets no false conflict.
std::vector<const model::Job*> jobs_to_write(const std::vector<model::Job>& jobs) {
  std::set<std::int64_t> seen;
  std::vector<const model::Job*> out;
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
    if (seen.insert(job->id.value).second) out.push_back(&*job);
  }
  std::reverse(out.begin(), out.end());
  std::stable_partition(out.begin(), out.end(), [](const auto* job) { return !holds_its_name(*job); });
  return out;
}

Result<void> write_jobs(Connection& connection, const std::vector<model::Job>& jobs) {
  if (jobs.empty()) return {};
  const auto rows = jobs_to_write(jobs);
  auto written = write_rows(
      connection, kUpsertJobs,
      {rows.size(), [&](Binder& binder, std::size_t i) { bind_job(binder, *rows[i]); }});
  if (!written) return fail(written.error());
  std::set<std::int64_t> named;
  for (const auto* job : rows) {
    if (holds_its_name(*job)) named.insert(job->id.value);
  }
  if (named.empty()) return {};
  auto missing = missing_ids(connection, "job", "job_id", std::move(named));
  if (!missing) return fail(missing.error());
  if (missing->empty()) return {};
  const auto clash = std::find_if(rows.begin(), rows.end(), [&](const auto* job) {
    return missing->contains(job->id.value);
  });
  return fail(ErrorCode::AlreadyExists, fmt::format("job {} can not be stored: another saved job of "
                                                    "namespace '{}' has the name '{}'",
                                                    (*clash)->id.value, (*clash)->space,
                                                    (*clash)->name));
}

Result<void> write_defined_versions(Connection& connection,
                                    const std::vector<const model::JobVersionRow*>& rows) {
  std::vector<VersionTexts> texts;
  texts.reserve(rows.size());
  for (const auto* version : rows) {
    auto rules = wire::rules_to_json(version->definition->rules);
    if (!rules) return fail(rules.error());
    auto definition = wire::definition_to_json(*version->definition);
    if (!definition) return fail(definition.error());
    texts.push_back({std::move(*rules), std::move(*definition)});
  }
  auto written = write_rows(
      connection, kUpsertVersions,
      {rows.size(), [&](Binder& binder, std::size_t i) { bind_version(binder, *rows[i], texts[i]); },
       [&](std::size_t i) { return texts[i].rules.size() + texts[i].definition.size() + 100; }});
  return written ? Result<void>() : fail(written.error());
}

Result<void> close_or_carry(Connection& connection, const model::JobVersionRow& version) {
  auto changed = connection.change(
      kCloseOrCarryVersion, [&](Binder& binder) { bind_close_or_carry(binder, version); });
  if (!changed) return fail(changed.error());
  if (*changed > 0) return {};
  bool stands = false;  // a repeat changes nothing either
  auto asked = connection.query(
      "SELECT COUNT(*) FROM job_version WHERE job_id = ? AND version = ?",
      [&](Binder& binder) { binder.integer(version.job.value).integer(version.version); },
      [&](Row& row) -> Result<void> {
        stands = row.integer() == 1;
        return {};
      });
  if (!asked || stands) return asked;
  return fail(ErrorCode::NotFound, fmt::format("job {} has no version {} to close or carry on",
                                               version.job.value, version.version));
}

Result<void> write_versions(Connection& connection,
                            const std::vector<model::JobVersionRow>& versions) {
  std::vector<const model::JobVersionRow*> defined;
  for (const auto& version : versions) {
    if (version.definition) defined.push_back(&version);
  }
  if (auto done = write_defined_versions(connection, defined); !done) return done;
  for (const auto& version : versions) {
    if (version.definition) continue;
    if (auto done = close_or_carry(connection, version); !done) return done;
  }
  return {};
}

// --- runs ---------------------------------------------------------------------------------------

/// Which row is in the way of a run that could not be inserted.
Error clash_of(Connection& connection, const model::Run& run) {
  std::string found;
  const auto note = [&](std::string_view what) {
    return [&found, what](Row& row) -> Result<void> {
      found += fmt::format(" run {} has {}", row.integer(), what);
      return {};
    };
  };
  auto asked = connection.query(
      "SELECT run_id FROM run WHERE job_id = ? AND tick_ms = ?",
      [&](Binder& binder) { binder.integer(run.job.value).time(run.tick); }, note("its job and tick;"));
  if (asked && !run.request_key.empty()) {
    asked = connection.query(
        "SELECT run_id FROM run WHERE principal = ? AND request_key = ?",
        [&](Binder& binder) { binder.text(run.principal).text(run.request_key); },
        note("its principal and request key;"));
  }
  if (!asked) return asked.error();
  return Error(ErrorCode::AlreadyExists,
               fmt::format("run {} can not be stored:{}", run.id.value, found));
}

Result<void> check_inserted(Connection& connection, const std::vector<model::Run>& runs) {
  std::set<std::int64_t> ids;
  for (const auto& run : runs) ids.insert(run.id.value);
  auto missing = missing_ids(connection, "run", "run_id", std::move(ids));
  if (!missing) return fail(missing.error());
  for (const auto& run : runs) {
    if (missing->contains(run.id.value)) return fail(clash_of(connection, run));
  }
  return {};
}

Result<void> write_new_runs(Connection& connection, const std::vector<model::Run>& runs) {
  std::vector<std::string> parameters(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].parameters) continue;
    auto json = wire::texts_to_json(*runs[i].parameters);
    if (!json) return fail(json.error());
    parameters[i] = std::move(*json);
  }
  std::vector<std::size_t> young, others;
  for (std::size_t i = 0; i < runs.size(); ++i) (is_young(runs[i].progress) ? young : others).push_back(i);
  const auto insert = [&](const MultiRow& statement, const std::vector<std::size_t>& some, auto bind) {
    return write_rows(
        connection, statement,
        {some.size(),
         [&](Binder& binder, std::size_t i) {
           const std::size_t at = some[i];
           bind(binder, runs[at], runs[at].parameters ? &parameters[at] : nullptr);
         },
         [&](std::size_t i) {
           return parameters[some[i]].size() + runs[some[i]].progress.detail.size() + 300;
         }});
  };
  auto inserted = insert(kInsertYoungRuns, young, bind_young_run);
  if (!inserted) return fail(inserted.error());
  auto written = insert(kInsertRuns, others, bind_new_run);
  if (!written) return fail(written.error());
  // Each inserted row counts 1, each absorbed one 0: only repeats and conflicts cost another query.
  if (*inserted + *written == static_cast<std::int64_t>(runs.size())) return {};
  return check_inserted(connection, runs);
}

/// An upsert of a run that is not there would make a row without a job; the transaction then goes.
Result<void> check_updated(Connection& connection, const std::vector<const core::RunUpdate*>& updates) {
  std::set<std::int64_t> ids;
  for (const auto* update : updates) ids.insert(update->id.value);
  std::string ghosts;
  auto asked = connection.stream(
      fmt::format("SELECT run_id FROM run WHERE job_id = 0 AND run_id IN ({})", list_of(ids)),
      [&](Row& row) -> Result<void> {
        ghosts += fmt::format(" {}", row.integer());
        return {};
      });
  if (!asked || ghosts.empty()) return asked;
  return fail(ErrorCode::NotFound, "runs to update are not in the store:" + ghosts);
}

using BindUpdate = void (*)(Binder& binder, RunId id, const model::RunProgress& progress);

void bind_with_outcome(Binder& binder, RunId id, const model::RunProgress& progress) {
  bind_progress(binder, id, progress);
  bind_outcome(binder, progress.outcome);
}

Result<void> write_updates(Connection& connection, const MultiRow& statement, BindUpdate bind,
                           const std::vector<const core::RunUpdate*>& updates) {
  if (updates.empty()) return {};
  auto written = write_rows(
      connection, statement,
      {updates.size(),
       [&](Binder& binder, std::size_t i) { bind(binder, updates[i]->id, updates[i]->progress); },
       [&](std::size_t i) {
         const auto& progress = updates[i]->progress;
         return progress.detail.size() + progress.outcome.message.size() +
                progress.outcome.result.size() + 300;
       }});
  if (!written) return fail(written.error());
  // Each changed row counts 2: less means that some stood already, or were not there.
  if (*written == 2 * static_cast<std::int64_t>(updates.size())) return {};
  return check_updated(connection, updates);
}

Result<void> write_runs(Connection& connection, const core::Changes& changes) {
  if (!changes.new_runs.empty()) {
    if (auto done = write_new_runs(connection, changes.new_runs); !done) return done;
  }
  std::vector<core::RunUpdate> born_final;
  for (const auto& run : changes.new_runs) {
    if (has_outcome(run.progress.outcome)) born_final.push_back({run.id, run.progress});
  }
  std::vector<const core::RunUpdate*> plain, succeeded, with_outcome;
  for (const auto& update : changes.updated_runs) {
    if (is_plain_success(update.progress)) {
      succeeded.push_back(&update);
    } else {
      (has_outcome(update.progress.outcome) ? with_outcome : plain).push_back(&update);
    }
  }
  for (const auto& update : born_final) with_outcome.push_back(&update);
  if (auto done = write_alike(connection, plain); !done) return done;
  if (auto done = write_updates(connection, kUpdateRuns, bind_progress, plain); !done) return done;
  auto done = write_updates(connection, kUpdateSucceededRuns, bind_success, succeeded);
  if (!done) return done;
  done = write_updates(connection, kUpdateRunsWithOutcome, bind_with_outcome, with_outcome);
  return done ? write_kept_runs(connection, changes) : done;
}

Result<void> write_attempts(Connection& connection, const std::vector<model::AttemptRow>& attempts) {
  if (attempts.empty()) return {};
  auto written = write_rows(
      connection, kUpsertAttempts,
      {attempts.size(), [&](Binder& binder, std::size_t i) { bind_attempt(binder, attempts[i]); },
       [&](std::size_t i) {
         return attempts[i].outcome.message.size() + attempts[i].outcome.result.size() + 300;
       }});
  return written ? Result<void>() : fail(written.error());
}

// --- gaps, lives, watermark -----------------------------------------------------------------------

Result<void> write_notes(Connection& connection, const std::vector<model::RunNote>& notes) {
  if (notes.empty()) return {};
  auto written = write_rows(
      connection, kUpsertNotes,
      {notes.size(), [&](Binder& binder, std::size_t i) { bind_note(binder, notes[i]); },
       [&](std::size_t i) { return 300 + (notes[i].checkpoint ? notes[i].checkpoint->size() : 0); }});
  return written ? Result<void>() : fail(written.error());
}

Result<void> check_gap(Connection& connection, const model::Gap& gap) {
  bool same = false;
  auto asked = connection.query(
      "SELECT COUNT(*) FROM gap WHERE job_id = ? AND job_version = ? AND from_ms = ? AND to_ms = ? "
      "AND tick_count = ? AND reason = ? AND reference = ? AND epoch = ?",
      [&](Binder& binder) { bind_gap(binder, gap); },
      [&](Row& row) -> Result<void> {
        same = row.integer() == 1;
        return {};
      });
  if (!asked || same) return asked;
  return fail(ErrorCode::AlreadyExists,
              fmt::format("a gap of job {} version {} from {} can not be stored: another one begins there",
                          gap.job.value, gap.version, to_ms(gap.from)));
}

Result<void> write_gaps(Connection& connection, const std::vector<model::Gap>& gaps) {
  if (gaps.empty()) return {};
  auto written = write_rows(
      connection, kInsertGaps,
      {gaps.size(), [&](Binder& binder, std::size_t i) { bind_gap(binder, gaps[i]); }});
  if (!written) return fail(written.error());
  if (*written == static_cast<std::int64_t>(gaps.size())) return {};
  for (const auto& gap : gaps) {
    if (auto same = check_gap(connection, gap); !same) return same;
  }
  return {};
}

Result<void> write_lives(Connection& connection, const std::vector<core::WorkerLife>& lives) {
  if (lives.empty()) return {};
  auto written = write_rows(
      connection, kUpsertLives,
      {lives.size(), [&](Binder& binder, std::size_t i) { bind_life(binder, lives[i]); }});
  return written ? Result<void>() : fail(written.error());
}

Result<void> write_drains(Connection& connection, const std::vector<model::WorkerDrain>& drains) {
  if (drains.empty()) return {};
  auto written = write_rows(
      connection, kUpsertDrains,
      {drains.size(), [&](Binder& binder, std::size_t i) { bind_drain(binder, drains[i]); }});
  return written ? Result<void>() : fail(written.error());
}

Result<void> write_deaths(Connection& connection, const std::vector<model::WorkerDeath>& deaths) {
  if (deaths.empty()) return {};
  auto written = write_rows(
      connection, kUpsertDeaths,
      {deaths.size(), [&](Binder& binder, std::size_t i) { bind_death(binder, deaths[i]); }});
  return written ? Result<void>() : fail(written.error());
}

Result<void> write_watermark(Connection& connection, const core::Watermark& watermark) {
  auto written = connection.change(
      "INSERT INTO watermark (partition_no, value_ms, reaching_ms, job_id) VALUES (1, ?, ?, ?) "
      "ON DUPLICATE KEY UPDATE value_ms = VALUES(value_ms), reaching_ms = VALUES(reaching_ms), "
      "job_id = VALUES(job_id)",
      [&](Binder& binder) {
        binder.time(watermark.through).time(watermark.reaching).integer(watermark.job.value);
      });
  return written ? Result<void>() : fail(written.error());
}

}  // namespace

Result<void> write_changes(Connection& connection, const core::Changes& changes) {
  if (auto done = write_jobs(connection, changes.jobs); !done) return done;
  if (auto done = write_versions(connection, changes.versions); !done) return done;
  if (auto done = write_runs(connection, changes); !done) return done;
  if (auto done = write_attempts(connection, changes.attempts); !done) return done;
  if (auto done = write_notes(connection, changes.notes); !done) return done;
  if (auto done = write_gaps(connection, changes.gaps); !done) return done;
  if (auto done = write_lives(connection, changes.lives); !done) return done;
  if (auto done = write_drains(connection, changes.drains); !done) return done;
  if (auto done = write_deaths(connection, changes.deaths); !done) return done;
  if (changes.watermark) return write_watermark(connection, *changes.watermark);
  return {};
}

}  // namespace rota::master::store
