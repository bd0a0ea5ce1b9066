#include "master/store/mysql/change_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "common/wire/definition_json.h"
#include "master/store/mysql/alike_updates.h"
#include "master/store/mysql/calendar_rows.h"
#include "master/store/mysql/child_rows.h"
#include "master/store/mysql/quota_rows.h"
#include "master/store/mysql/hold_rows.h"
#include "master/store/mysql/semaphore_rows.h"
#include "master/store/mysql/job_rows.h"
#include "master/store/mysql/kept_runs.h"
#include "master/store/mysql/literals.h"
#include "master/store/mysql/late_told_rows.h"
#include "master/store/mysql/notification_rows.h"
#include "master/store/mysql/scale_rows.h"
#include "master/store/mysql/run_rows.h"
#include "master/store/mysql/setting_rows.h"

namespace rota::master::store {
namespace {

std::string list_of(const std::set<std::int64_t>& ids) { return fmt::format("{}", fmt::join(ids, ",")); }

Visit erase_from(std::set<std::int64_t>& ids) {
  return [&ids](Row& row) -> Result<void> {
    ids.erase(row.integer());
    return {};
  };
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

/// A saved job whose name another one holds got no row.
void write_jobs(BatchText& batch, const std::vector<model::Job>& jobs) {
  const auto rows = jobs_to_write(jobs);
  batch.add_rows(kUpsertJobs,
                 {rows.size(), [&](Binder& binder, std::size_t i) { bind_job(binder, *rows[i]); }});
  auto missing = std::make_shared<std::set<std::int64_t>>();
  for (const auto* job : rows) {
    if (holds_its_name(*job)) missing->insert(job->id.value);
  }
  if (missing->empty()) return;
  batch.ask(fmt::format("SELECT job_id FROM job WHERE job_id IN ({})", list_of(*missing)),
            erase_from(*missing));
  batch.check([missing, rows]() -> Result<void> {
    const auto clash = std::find_if(rows.begin(), rows.end(), [&](const auto* job) {
      return missing->contains(job->id.value);
    });
    if (clash == rows.end()) return {};
    return fail(ErrorCode::AlreadyExists,
                fmt::format("job {} can not be stored: another saved job of namespace '{}' has the name '{}'",
                            (*clash)->id.value, (*clash)->space, (*clash)->name));
  });
}

bool is_of_saved_job(const model::JobVersionRow& version) { return (version.job.value & kOneOffBit) == 0; }

Result<void> write_defined_versions(BatchText& batch, const std::vector<const model::JobVersionRow*>& rows,
                                    bool by_content) {
  std::vector<ContentTexts> texts;
  texts.reserve(rows.size());
  for (const auto* version : rows) {
    const bool is_shared = by_content && is_of_saved_job(*version);
    auto made = is_shared ? shared_texts(*version->definition) : whole_texts(*version->definition);
    if (!made) return fail(made.error());
    texts.push_back(std::move(*made));
  }
  write_contents(batch, texts);
  batch.add_rows(kUpsertVersions, {rows.size(), [&](Binder& binder, std::size_t i) {
                                     bind_version(binder, *rows[i], texts[i]);
                                   }});
  return {};
}

Result<void> check_stands(Connection& connection, const model::JobVersionRow& version) {
  bool stands = false;
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

void close_or_carry(BatchText& batch, const model::JobVersionRow& version) {
  const auto statement =
      with_literals(kCloseOrCarryVersion, [&](Binder& binder) { bind_close_or_carry(binder, version); });
  batch.add_counted(statement, [&batch, &version](std::int64_t changed) {
    // A repeat changes nothing either.
    return changed > 0 ? Result<void>() : check_stands(batch.connection(), version);
  });
}

Result<void> write_versions(BatchText& batch, const std::vector<model::JobVersionRow>& versions,
                            bool by_content) {
  std::vector<const model::JobVersionRow*> defined;
  for (const auto& version : versions) {
    if (version.definition) defined.push_back(&version);
  }
  if (auto done = write_defined_versions(batch, defined, by_content); !done) return done;
  for (const auto& version : versions) {
    if (!version.definition) close_or_carry(batch, version);
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

/// A row without a job is no inserted one: an update of this batch made it.
Result<void> check_inserted(Connection& connection, const std::vector<model::Run>& runs) {
  std::set<std::int64_t> missing;
  for (const auto& run : runs) missing.insert(run.id.value);
  auto asked = connection.stream(
      fmt::format("SELECT run_id FROM run WHERE job_id <> 0 AND run_id IN ({})", list_of(missing)),
      erase_from(missing));
  if (!asked) return asked;
  for (const auto& run : runs) {
    if (missing.contains(run.id.value)) return fail(clash_of(connection, run));
  }
  return {};
}

Result<void> write_new_runs(BatchText& batch, const std::vector<model::Run>& runs) {
  std::vector<std::string> parameters(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].parameters) continue;
    auto json = wire::texts_to_json(*runs[i].parameters);
    if (!json) return fail(json.error());
    parameters[i] = std::move(*json);
  }
  std::vector<std::size_t> bare, young, others;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    (is_bare(runs[i]) ? bare : is_young(runs[i].progress) ? young : others).push_back(i);
  }
  const auto insert = [&](const MultiRow& statement, const std::vector<std::size_t>& some, auto bind) {
    // Each inserted row counts 1, each absorbed one 0: only repeats and conflicts cost another query.
    batch.add_rows(statement,
                   {some.size(),
                    [&](Binder& binder, std::size_t i) {
                      const std::size_t at = some[i];
                      bind(binder, runs[at], runs[at].parameters ? &parameters[at] : nullptr);
                    }},
                   [&batch, &runs, count = some.size()](std::int64_t inserted) {
                     if (inserted == static_cast<std::int64_t>(count)) return Result<void>();
                     return check_inserted(batch.connection(), runs);
                   });
  };
  insert(kInsertBareRuns, bare, [](Binder& binder, const model::Run& run, const std::string*) {
    bind_bare_run(binder, run);
  });
  insert(kInsertYoungRuns, young, bind_young_run);
  insert(kInsertRuns, others, bind_new_run);
  return {};
}

/// An upsert of a run that is not there would make a row without a job; the transaction then goes.
Result<void> check_updated(Connection& connection, const std::vector<std::int64_t>& ids) {
  std::string ghosts;
  auto asked = connection.stream(
      fmt::format("SELECT run_id FROM run WHERE job_id = 0 AND run_id IN ({})", fmt::join(ids, ",")),
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

void write_updates(BatchText& batch, const MultiRow& statement, BindUpdate bind,
                   const std::vector<const core::RunUpdate*>& updates) {
  std::vector<std::int64_t> ids;
  ids.reserve(updates.size());
  for (const auto* update : updates) ids.push_back(update->id.value);
  batch.add_rows(statement,
                 {updates.size(), [&](Binder& binder, std::size_t i) {
                    bind(binder, updates[i]->id, updates[i]->progress);
                  }},
                 [&batch, ids = std::move(ids)](std::int64_t written) {
                   // Each changed row counts 2: less means that some stood already, or were not there.
                   if (written == 2 * static_cast<std::int64_t>(ids.size())) return Result<void>();
                   return check_updated(batch.connection(), ids);
                 });
}

Result<void> write_runs(BatchText& batch, const core::Changes& changes) {
  if (auto done = write_new_runs(batch, changes.new_runs); !done) return done;
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
  write_alike(batch, plain);
  write_updates(batch, kUpdateRuns, bind_progress, plain);
  forget_dispatch_apart(batch, plain);
  for (const AlikeSuccesses& alike : take_alike_successes(succeeded)) {
    const AlikeForm& form = *alike.form;
    const MultiRow statement{form.head, form.columns, alike.tail, ", 'succeeded', 'none'"};
    write_updates(batch, statement, form.bind_row, alike.updates);
  }
  write_updates(batch, kUpdateSucceededRuns, bind_success, succeeded);
  write_updates(batch, kUpdateRunsWithOutcome, bind_with_outcome, with_outcome);
  forget_dispatch_apart(batch, with_outcome);
  write_kept_runs(batch, changes);
  return {};
}

/// Rows that only ever take the place of others.
template <typename Item>
void write_each(BatchText& batch, const MultiRow& statement, const std::vector<Item>& items,
                void (*bind)(Binder&, const Item&)) {
  batch.add_rows(statement,
                 {items.size(), [&](Binder& binder, std::size_t i) { bind(binder, items[i]); }});
}

// --- gaps, lives, watermark -----------------------------------------------------------------------

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

void write_gaps(BatchText& batch, const std::vector<model::Gap>& gaps) {
  batch.add_rows(kInsertGaps,
                 {gaps.size(), [&](Binder& binder, std::size_t i) { bind_gap(binder, gaps[i]); }},
                 [&batch, &gaps](std::int64_t inserted) -> Result<void> {
                   if (inserted == static_cast<std::int64_t>(gaps.size())) return {};
                   for (const auto& gap : gaps) {
                     if (auto same = check_gap(batch.connection(), gap); !same) return same;
                   }
                   return {};
                 });
}

void write_watermark(BatchText& batch, const core::Watermark& watermark) {
  batch.add(with_literals(
      "INSERT INTO watermark (partition_no, value_ms, reaching_ms, job_id) VALUES (1, ?, ?, ?) "
      "ON DUPLICATE KEY UPDATE value_ms = VALUES(value_ms), reaching_ms = VALUES(reaching_ms), "
      "job_id = VALUES(job_id)",
      [&](Binder& binder) {
        binder.time(watermark.through).time(watermark.reaching).integer(watermark.job.value);
      }));
}

/// A batch of a leader that holds ticks moves no watermark. It counts as a beat, so that a master elsewhere
/// with another ZooKeeper sees a leader by it too: one that stood still stores before it beats again.
void write_beat(BatchText& batch) { batch.add("UPDATE zookeeper SET beats = beats + 1 WHERE one = 1"); }

}  // namespace

Result<void> gather_changes(BatchText& batch, const core::Changes& changes, bool by_content) {
  write_jobs(batch, changes.jobs);
  if (auto done = write_versions(batch, changes.versions, by_content); !done) return done;
  if (auto done = write_runs(batch, changes); !done) return done;
  write_each(batch, kUpsertAttempts, changes.attempts, bind_attempt);
  write_each(batch, kUpsertNotes, changes.notes, bind_note);
  write_gaps(batch, changes.gaps);
  write_each(batch, kUpsertLives, changes.lives, bind_life);
  write_each(batch, kUpsertDrains, changes.drains, bind_drain);
  write_each(batch, kUpsertDeaths, changes.deaths, bind_death);
  write_each(batch, kUpsertFreezes, changes.freezes, bind_freeze);
  write_each(batch, kInsertStarts, changes.starts, bind_start);
  if (auto done = write_calendars(batch, changes.calendars); !done) return done;
  if (!changes.quotas.empty()) write_quotas(batch, changes.quotas);
  if (!changes.semaphores.empty()) write_semaphores(batch, changes.semaphores);
  if (!changes.holds.empty()) write_holds(batch, changes.holds);
  write_scaling(batch, changes);
  write_children(batch, changes);
  write_notifications(batch, changes);
  write_late(batch, changes);
  if (!changes.settings.empty()) write_settings(batch, changes.settings);
  if (changes.watermark) {
    write_watermark(batch, *changes.watermark);
  } else if (!changes.empty()) {
    write_beat(batch);
  }
  return {};
}

Result<void> write_changes(BatchText& batch, const core::Changes& changes, bool by_content) {
  if (auto gathered = gather_changes(batch, changes, by_content); !gathered) return gathered;
  return batch.finish();
}

}  // namespace rota::master::store
