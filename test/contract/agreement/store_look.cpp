// How a store looks from outside, as text: two stores with the same rows give the same text.
#include <fmt/format.h>

#include <algorithm>

#include "common/wire/definition_json.h"
#include "master/core/definition_hash.h"
#include "test/contract/agreement/store_script.h"

namespace rota::agreement {

namespace {

using master::store::testing::Backend;

std::string at(const std::optional<WallTime>& time) {
  return time ? std::to_string(to_ms(*time)) : "-";
}

std::string at(const std::optional<master::core::Watermark>& mark) {
  return mark ? fmt::format("{} {} {}", to_ms(mark->through), to_ms(mark->reaching), mark->job.value) : "-";
}

std::string words(const model::Outcome& outcome) {
  return fmt::format("{} {} {} {} m{} r{} {} {} {} {} {} {}", name_of(outcome.state), name_of(outcome.reason),
                     outcome.exit_status, outcome.signal, std::hash<std::string>()(outcome.message),
                     std::hash<std::string>()(outcome.result), to_ms(outcome.started),
                     to_ms(outcome.ended), outcome.stdout_bytes, outcome.stderr_bytes,
                     outcome.cpu_us.value_or(-1), outcome.peak_memory_bytes.value_or(-1));
}

std::string words(const model::Run& run) {
  const model::RunProgress& progress = run.progress;
  return fmt::format(
      "run {} job {}.{} {} {} {} tick {} scheduled {} recorded {} key '{}' {} parameters {} | {} {} d{} "
      "attempt {} failures {} losses {} first {} {}@{} epoch {} {} {} {} {} {} | {}",
      run.id.value, run.job.value, run.version, name_of(run.kind), run.space, run.principal, at(run.tick),
      to_ms(run.scheduled), to_ms(run.recorded), run.request_key, run.request_hash,
      run.parameters ? std::to_string(run.parameters->size()) : "-", name_of(progress.state),
      name_of(progress.reason), std::hash<std::string>()(progress.detail), progress.attempt,
      progress.failures, progress.losses, at(progress.first_dispatched), progress.worker.id, progress.worker.incarnation, progress.epoch.value,
      at(progress.dispatched), at(progress.started), at(progress.ended), at(progress.not_before),
      progress.cancel_asked, words(progress.outcome));
}

std::string words(const model::Job& job) {
  return fmt::format("job {} {}/{} version {} state {} one-off {} by {} why {} {} {} ticks {} "
                     "fired {} failures {} due {} over {}", job.id.value,
                     job.space, job.name, job.version, static_cast<int>(job.state), job.one_off,
                     job.state_by, std::hash<std::string>()(job.state_why), to_ms(job.created),
                     to_ms(job.changed), at(job.ticks_through), job.memory.fired, job.memory.failures,
                     at(job.memory.due), at(job.memory.over_since));
}

std::string words(const model::JobVersionRow& row) {
  return fmt::format("version {}.{} from {} to {} anchor {} enabled {} by {} is {}", row.job.value,
                     row.version, to_ms(row.valid_from), at(row.valid_to), to_ms(row.anchor), row.enabled,
                     row.principal, row.definition ? master::core::definition_hash(*row.definition) : 0);
}

std::string words(const model::AttemptRow& row) {
  return fmt::format("attempt {}/{} {}@{} epoch {} {} late {} | {}", row.run.value, row.attempt,
                     row.worker.id, row.worker.incarnation, row.epoch.value, at(row.dispatched), row.late,
                     words(row.outcome));
}

std::string words(const model::Gap& gap) {
  return fmt::format("gap {}.{} {} to {} of {} {} {} epoch {}", gap.job.value, gap.version, to_ms(gap.from),
                     to_ms(gap.to), gap.count, name_of(gap.reason), gap.reference, gap.epoch.value);
}

std::string words(const master::core::WorkerLife& life) {
  return fmt::format("life {}@{} {}:{} {} {} {} {} has {} {}", life.key.id, life.key.incarnation, life.address.host,
                     life.address.port, life.pool, to_ms(life.joined), at(life.left), life.why_left,
                     life.slots.value_or(-1), life.offers ? wire::amounts_to_json(*life.offers) : "nothing known");
}

std::string words(const model::WorkerDeath& death) {
  return fmt::format("death {}@{} by {} why {} epoch {} at {} back {}", death.life.id, death.life.incarnation,
                     death.principal, std::hash<std::string>()(death.why), death.epoch.value, to_ms(death.confirmed),
                     at(death.came_back));
}

std::string words(const model::CalendarRow& row) {
  const model::Calendar& calendar = *row.calendar;
  return fmt::format("calendar {}/{} version {} from {} made {} by {} deleted {} why {}: {} {} {}", row.space,
                     calendar.name, row.version, to_ms(row.from), to_ms(row.changed), row.principal, row.deleted,
                     std::hash<std::string>()(row.why), std::hash<std::string>()(calendar.description),
                     calendar.exclude.size(), calendar.hours.size());
}

std::string words(const model::WorkerHold& hold) {
  return fmt::format("hold {} of {} in {} {} strikes {} since {} until {} trial {} ended {} why {}", hold.number,
                     hold.worker, hold.pool, name_of(hold.kind), hold.strikes, to_ms(hold.since), to_ms(hold.until),
                     at(hold.trial), at(hold.ended), std::hash<std::string>()(hold.why));
}

std::string words(const model::SemaphoreRow& row) {
  return fmt::format("semaphore {}/{} version {} count {} made {} number {} by {} deleted {}", row.space, row.name,
                     row.version, row.count, to_ms(row.changed), row.number, row.principal, row.deleted);
}

std::string words(const model::QuotaRow& row) {
  return fmt::format("limits of {} {} version {}: {} {} {} {} {} made {} number {} by {}, times {} {} {}", name_of(row.of), row.name,
                     row.version, row.quota.slots, row.quota.weight, row.quota.jobs, row.quota.unfinished,
                     row.quota.firings, to_ms(row.changed), row.number, row.principal, row.quota.timeout.count(),
                     row.quota.run_timeout.count(), row.quota.queue_timeout.count()) +
         fmt::format(" workers {} to {} hook '{}'", row.quota.min_workers, row.quota.max_workers, row.quota.hook);
}

std::string words(const model::ScaleChange& row) {
  std::string out = fmt::format("scale {} {} {}>{} of {} leaving {} {} hook {} made {} {} tries {} settled {} error {}", row.id,
                                row.pool, row.before, row.after, row.present, row.leaving, name_of(row.reason), row.hook,
                                to_ms(row.made), name_of(row.state), row.attempts,
                                row.settled ? to_ms(*row.settled) : 0, row.last_error);
  for (const auto& key : row.stoppable) out += " " + key.id + "/" + key.incarnation;
  return out;
}

std::string words(const model::SettingRow& row) {
  return fmt::format("setting {} version {}: {} made {} number {} by {}: {}", row.name, row.version,
                     row.value ? std::to_string(*row.value) : "unset", to_ms(row.changed), row.number, row.principal,
                     row.why);
}

std::string words(const model::Notification& row) {
  return fmt::format("notification {} to {} {} run {} {} tries {} settled {} error {}", row.id, row.receiver,
                     name_of(row.what), row.run.value, name_of(row.state), row.attempts,
                     row.settled ? to_ms(*row.settled) : 0, row.last_error);
}

std::string words(const model::LateRow& row) {
  return fmt::format("late {} {} {} {} {} {} {} {} {} {}", row.job.value, row.run.value,
                     row.tick ? to_ms(*row.tick) : 0, name_of(row.what), row.worker, row.job_name,
                     row.due ? to_ms(*row.due) : 0, to_ms(row.told), row.was, row.limit.count());
}

std::string words(const master::store::JobRow& row) { return words(row.job) + " | " + words(row.version); }
std::string words(const master::store::RunRow& row) { return row.job_name + ": " + words(row.run); }

std::string words(const model::WorkerStart& start) {
  return fmt::format("start {} of {} on {} in {} at {} number {}", start.key.start, start.key.worker, start.home,
                     start.pool, to_ms(start.accepted), start.number);
}

template <typename T>
void add(std::string& out, const char* what, const Result<std::vector<T>>& rows) {
  out += std::string(what) + ":\n";
  if (!rows) {
    out += "  refused: " + std::string(rota::name_of(rows.error().code)) + "\n";
    return;
  }
  for (const T& row : *rows) out += "  " + words(row) + "\n";
}

template <typename T>
void add_one(std::string& out, const char* what, const Result<T>& row) {
  out += std::string(what) + ": " +
         (row ? words(*row) : "refused: " + std::string(rota::name_of(row.error().code))) + "\n";
}

void add_notes(std::string& out, master::store::Reader& reader) {
  std::vector<RunId> runs;
  const auto all = reader.runs_after(RunId{0}, 1000);
  for (const auto& run : *all) runs.push_back(run.id);
  const auto checkpoints = reader.checkpoints_of(runs);
  for (const auto& [run, checkpoint] : *checkpoints) {
    const auto note = reader.note_of(run).value().value();
    out += fmt::format("note of {}/{} at {}: {} {} | saved by {} at {}: {}\n", run.value, note.attempt, to_ms(note.said),
                       note.percent.value_or(-1), std::hash<std::string>()(note.text), note.checkpoint_attempt,
                       to_ms(note.checkpoint_said), std::hash<std::string>()(checkpoint));
  }
}

void add_recovered(std::string& out, const Backend& on) {
  auto all = on.office->recover();
  if (!all) {
    out += "recover refused: " + std::string(rota::name_of(all.error().code)) + "\n";
    return;
  }
  std::sort(all->jobs.begin(), all->jobs.end(),
            [](const auto& a, const auto& b) { return a.job.id < b.job.id; });
  out += "recovered, watermark " + at(all->watermark) + "\n";
  for (const auto& job : all->jobs) {
    out += fmt::format("  {} from {} anchor {} is {}\n", words(job.job), to_ms(job.valid_from),
                       to_ms(job.anchor), job.definition_hash);
  }
  for (const auto& run : all->runs) out += "  " + words(run) + "\n";
  for (const auto& each : all->failed_exits) {
    out += fmt::format("  run {} exit {} times {}\n", each.run.value, each.exit_status, each.count);
  }
  std::vector<std::string> older;
  for (const auto& rules : all->older_rules) {
    older.push_back(fmt::format("  rules {}.{}\n", rules.job.value, rules.version));
  }
  std::sort(older.begin(), older.end());
  for (const auto& line : older) out += line;
  for (const auto& drain : all->drains) {
    out += fmt::format("  drained {} until {} by {} why {} at {}\n", drain.worker, at(drain.deadline), drain.principal,
                       std::hash<std::string>()(drain.why), to_ms(drain.changed));
  }
  for (const auto& start : all->starts) out += "  " + words(start) + "\n";
  for (const auto& death : all->confirmed) out += "  confirmed " + words(death) + "\n";
  for (const auto& hold : all->holds) out += "  " + words(hold) + "\n";
  for (const auto& calendar : all->calendars) out += "  " + words(calendar.row) + "\n";
  std::vector<std::string> quotas;
  for (const auto& quota : all->quotas) quotas.push_back("  " + words(quota) + "\n");
  std::sort(quotas.begin(), quotas.end());
  for (const auto& line : quotas) out += line;
  std::vector<std::string> told;
  for (const auto& row : all->told) told.push_back("  " + words(row) + "\n");
  for (const auto& pace : all->paces) {
    told.push_back(fmt::format("  pace {} {} {}\n", pace.job.value, pace.successes, pace.last.size()));
  }
  std::sort(told.begin(), told.end());
  for (const auto& line : told) out += line;
  for (const auto& row : all->notifications) out += "  " + words(row) + "\n";
  for (const auto& row : all->scaling) out += "  " + words(row) + "\n";
  std::vector<std::string> settings;
  for (const auto& row : all->settings) settings.push_back("  " + words(row) + "\n");
  std::sort(settings.begin(), settings.end());
  for (const auto& line : settings) out += line;
  std::vector<std::string> semaphores;
  for (const auto& semaphore : all->semaphores) semaphores.push_back("  " + words(semaphore) + "\n");
  std::sort(semaphores.begin(), semaphores.end());
  for (const auto& line : semaphores) out += line;
  for (const auto& key : all->given_up) out += fmt::format("  given up {}/{}\n", key.run.value, key.attempt);
}

}  // namespace

std::string words_of(const master::store::ApplyResult& result) {
  return fmt::format("outcome {} permanent {} found {} went back {}\n", static_cast<int>(result.outcome),
                     result.permanent, result.found.value, result.went_back);
}

std::string play(const Backend& on, const StoreStep& step) {
  if (step.kind != StoreStep::Kind::TakeOffice) return words_of(on.store->apply(step.epoch, step.changes));
  return take_office(*on.office, step.epoch);
}

/// Every other leader finds all masters able to read definitions by content.
std::string take_office(master::store::Office& office, Epoch epoch) {
  const auto taken = office.enter_office(epoch, "script");
  if (taken && epoch.value % 2 == 0) {
    (void)office.need_contents(epoch);
    (void)office.beat(epoch);
  }
  return words_of("office", taken);
}

std::string look(const Backend& on, const StoreStep& step) {
  auto& reader = *on.reader;
  std::string out = "watermark " + at(reader.watermark().value()) + "\n";
  const auto marks = on.office->read_marks().value();
  out += fmt::format("marks {} {} {}\n", marks.epoch.value, at(marks.watermark), marks.cluster_uuid);
  add(out, "runs", reader.runs_after(RunId{0}, 1000));
  add(out, "attempts", reader.attempts_after(RunId{0}, 0, 1000));
  add(out, "saved jobs", reader.saved_jobs(JobId{0}, 100));
  for (const std::int64_t job : {std::int64_t{10}, std::int64_t{11}, std::int64_t{12}, kOneOffBit | 5}) {
    add(out, "versions", reader.versions_of(JobId{job}));
    add(out, "gaps", reader.gaps_of(JobId{job}));
    add(out, "ticks", reader.tick_runs_of(JobId{job}, wall_from_ms(0), wall_from_ms(2'000'000'000'000), 5));
  }
  add(out, "jobs", reader.list_jobs("default", "", 100, ""));
  add(out, "jobs a…", reader.list_jobs("default", "a", 1, ""));
  add(out, "jobs after j", reader.list_jobs("default", "", 100, "j"));
  add_one(out, "job a", reader.get_job("default", "a"));
  add(out, "asked", reader.list_runs(step.query));
  add(out, "lives", reader.lives_of("w1", 2));
  add(out, "starts", reader.starts_after(2, 5));
  add(out, "deaths", reader.deaths_of(""));
  add(out, "holds", reader.holds_of("", 5));
  add(out, "holds of w1", reader.holds_of("w1", 5));
  add(out, "calendars", reader.list_calendars("default", "", 100));
  add(out, "versions of de", reader.calendar_versions("default", "de"));
  add(out, "limits of pools", reader.list_quotas(model::QuotaOf::Pool, 100));
  add(out, "limits of namespaces", reader.list_quotas(model::QuotaOf::Space, 2));
  add(out, "versions of etl", reader.quota_versions(model::QuotaOf::Pool, "etl"));
  for (std::int64_t job = 1; job < 6; ++job) add(out, "late ones", reader.late_of(JobId{job}));
  add(out, "newest late ones", reader.list_late(JobId{}, "default", WallTime{}, 7));
  add(out, "scaling", reader.list_scaling("", 0, 100));
  add(out, "scaling of etl", reader.list_scaling("etl", 20, 3));
  add(out, "notifications", reader.list_notifications(false, 100));
  add(out, "newest settings", reader.newest_settings());
  add(out, "versions of settings", reader.setting_versions(""));
  add(out, "versions of catch_up.rate", reader.setting_versions("catch_up.rate"));
  add(out, "semaphores", reader.list_semaphores("default", "", 100));
  add(out, "versions of oracle", reader.semaphore_versions("default", "oracle"));
  add_one(out, "deleted a", reader.last_deleted("default", "a"));
  const auto keys = reader.runs_of_keys("local", {"k", "k ", "K", "key'; --", "none"});
  for (const auto& [key, used] : *keys) {
    out += fmt::format("key '{}' run {} {}\n", key, used.run.value, used.request_hash);
  }
  add_notes(out, reader);
  add_recovered(out, on);
  return out;
}

}  // namespace rota::agreement
