#include "test/contract/agreement/store_script.h"

#include <fmt/format.h>

#include <set>

#include "test/contract/store/samples.h"

namespace rota::agreement {

namespace samples = master::store::testing;
using master::core::Changes;
using model::Reason;
using model::RunState;

namespace {

const std::vector<std::int64_t> kJobs = {10, 11, 12, kOneOffBit | 5};
const std::vector<std::string> kJobNames = {"a", "ab", "b", "A"};
/// It never changes; two jobs have the same, so that only one of them can be saved.
const std::string& name_of(std::int64_t job) {
  return job == 12 ? kJobNames[0] : kJobNames[static_cast<std::size_t>(job % 10) % kJobNames.size()];
}
const std::vector<std::string> kKeys = {"k", "k ", "K", "key'; --"};
const std::vector<RunState> kStates = {
    RunState::Waiting, RunState::Queued,   RunState::Dispatched, RunState::Running, RunState::Succeeded,
    RunState::Failed,  RunState::TimedOut, RunState::Cancelled,  RunState::Killed,  RunState::Lost};
const std::vector<RunState> kEnds = {RunState::Succeeded, RunState::Failed, RunState::TimedOut,
                                     RunState::Killed, RunState::Lost, RunState::KillFailed};

bool is_one_off(std::int64_t job) { return (job & kOneOffBit) != 0; }

}  // namespace

WallTime StoreScript::moment() { return wall_from_ms(samples::kBase + dice_.below(20) * 500); }

std::int64_t StoreScript::random_job() { return dice_.one_of(kJobs); }

/// Mostly an existing one: a leader knows what it stored.
std::int64_t StoreScript::stored_job() {
  std::vector<std::int64_t> stored;
  for (const auto& [id, version] : versions_) stored.push_back(id);
  return stored.empty() || dice_.chance(3) ? random_job() : dice_.one_of(stored);
}

StoreStep StoreScript::next() {
  StoreStep step;
  if (add_fault(step)) {
  } else if (dice_.chance(5) || std::exchange(went_back_, false)) {
    step.kind = StoreStep::Kind::TakeOffice;
    step.epoch = Epoch{epoch_ + dice_.below(3)};
    epoch_ = std::max(epoch_, step.epoch.value);
  } else {
    step.epoch = Epoch{dice_.chance(6) ? epoch_ + dice_.below(3) - 1 : epoch_};
    step.changes = dice_.chance(20) ? last_ : random_changes();
    last_ = step.changes;
  }
  step.query.limit = static_cast<std::int32_t>(1 + dice_.below(6));
  if (dice_.chance(40)) step.query.job = dice_.one_of(kJobNames);
  if (dice_.chance(50)) step.query.one_off = dice_.chance(50);
  if (dice_.chance(40)) step.query.states = {dice_.one_of(kStates), dice_.one_of(kStates)};
  if (dice_.chance(30)) step.query.since = moment();
  if (dice_.chance(30)) step.query.before = RunId{100 + dice_.below(40)};
  return step;
}

/// True when the step does nothing else.
bool StoreScript::add_fault(StoreStep& step) {
  if (faults_ == StoreFaults::None) return false;
  step.answer_is_lost = dice_.chance(15);
  if (!dice_.chance(15)) return false;
  static const std::vector<StoreStep::Kind> kinds = {StoreStep::Kind::SettleGrant, StoreStep::Kind::SettleUuid,
                                                     StoreStep::Kind::BackUp, StoreStep::Kind::BackUp,
                                                     StoreStep::Kind::GoBack};
  step.kind = dice_.one_of(kinds);
  step.grant = Millis{1000 * dice_.below(9)};
  went_back_ = went_back_ || step.kind == StoreStep::Kind::GoBack;
  return true;
}

void StoreScript::note(const StoreStep& step, bool stored) {
  if (!stored) return;
  const auto note_end = [&](RunId id, const model::RunProgress& progress) {
    if (model::is_final(progress.state)) ended_.insert(id.value);
  };
  for (const model::Run& run : step.changes.new_runs) {
    runs_.push_back(run.id.value);
    note_end(run.id, run.progress);
  }
  for (const auto& update : step.changes.updated_runs) note_end(update.id, update.progress);
  for (const model::JobVersionRow& row : step.changes.versions) {
    JobVersion& newest = versions_[row.job.value];
    newest = std::max(newest, row.version);
  }
}

Changes StoreScript::random_changes() {
  Changes changes;
  if (dice_.chance(25) || versions_.empty()) add_job(changes);
  if (dice_.chance(20)) add_edit(changes);
  if (dice_.chance(50)) add_runs(changes);
  if (dice_.chance(50)) add_updates(changes);
  if (dice_.chance(25)) add_attempts(changes);
  if (dice_.chance(20)) add_gaps(changes);
  if (dice_.chance(15)) add_life(changes);
  if (dice_.chance(15)) add_start(changes);
  if (dice_.chance(20)) add_note(changes);
  if (dice_.chance(10)) add_drain(changes);
  if (dice_.chance(10)) add_death(changes);
  if (dice_.chance(15)) add_calendar(changes);
  if (dice_.chance(15)) add_semaphore(changes);
  if (dice_.chance(15)) add_quota(changes);
  if (dice_.chance(15)) add_hold(changes);
  if (dice_.chance(15)) add_setting(changes);
  if (dice_.chance(15)) add_notification(changes);
  if (dice_.chance(15)) add_late(changes);
  if (dice_.chance(15)) add_scaling(changes);
  if (dice_.chance(40)) changes.watermark = next_watermark();
  return changes;
}

/// Half of them with an unfinished slice of ticks.
master::core::Watermark StoreScript::next_watermark() {
  const WallTime through = wall_from_ms(samples::kBase + ++watermark_s_ * 1000);
  if (dice_.chance(50)) return through;
  return {through, through + Millis{dice_.below(1000)}, JobId{dice_.below(13)}};
}

void StoreScript::add_job(Changes& changes) {
  const std::int64_t id = random_job();
  const std::string& name = name_of(id);
  model::Job job = samples::a_job(id, name);
  job.one_off = is_one_off(id);
  job.version = versions_.contains(id) ? versions_[id] : 1;
  if (dice_.chance(25)) job.state = dice_.chance(50) ? model::JobState::Paused : model::JobState::Deleted;
  job.state_why = dice_.chance(20) ? samples::nasty_text() : "";
  if (dice_.chance(30)) job.ticks_through = moment();
  if (dice_.chance(30)) job.memory = {3, -1, moment(), moment()};
  changes.jobs.push_back(job);
  model::JobVersionRow version = samples::a_version(id, job.version, name);
  version.enabled = !job.one_off;
  changes.versions.push_back(std::move(version));
}

/// Closes the newest version; mostly opens the next one, with a definition of its own or the old one.
void StoreScript::add_edit(Changes& changes) {
  const std::int64_t id = stored_job();
  const auto known = versions_.find(id);
  const JobVersion present = known == versions_.end() ? 1 : known->second;
  model::JobVersionRow closed = samples::a_version(id, present, "edited");
  closed.definition = nullptr;
  closed.valid_to = moment();
  changes.versions.push_back(closed);
  if (dice_.chance(20)) return;
  model::JobVersionRow opened = samples::a_version(id, present + 1, name_of(id));
  opened.valid_from = *closed.valid_to;
  if (dice_.chance(50)) opened.definition = nullptr;
  changes.versions.push_back(opened);
  model::Job job = samples::a_job(id, name_of(id));
  job.one_off = is_one_off(id);
  job.version = present + 1;
  changes.jobs.push_back(job);
}

model::Outcome StoreScript::random_outcome() {
  model::Outcome outcome;
  outcome.state = dice_.one_of(kEnds);
  outcome.reason = outcome.state == RunState::Lost ? Reason::WorkerLost
                   : outcome.state == RunState::Succeeded ? Reason::None : Reason::ExitStatus;
  outcome.exit_status = static_cast<std::int32_t>(dice_.below(4)) - 1;
  if (dice_.chance(50)) outcome.started = moment();
  if (dice_.chance(80)) outcome.ended = moment();
  if (dice_.chance(20)) outcome.message = samples::nasty_text();
  if (dice_.chance(20)) outcome.result = samples::binary_bytes(300);
  outcome.stdout_bytes = dice_.below(1000);
  return outcome;
}

model::RunProgress StoreScript::random_progress() {
  model::RunProgress progress;
  progress.state = dice_.one_of(kStates);
  progress.reason = dice_.chance(30) ? Reason::RetryDelay : Reason::None;
  progress.attempt = static_cast<AttemptNo>(dice_.below(4));
  progress.epoch = Epoch{epoch_};
  if (dice_.chance(70)) progress.worker = {"w" + std::to_string(dice_.below(2)), "ab"};
  if (dice_.chance(70)) progress.dispatched = moment();
  if (dice_.chance(40)) progress.started = moment();
  if (dice_.chance(20)) progress.not_before = moment();
  if (dice_.chance(20)) progress.detail = samples::nasty_text();
  progress.cancel_asked = dice_.chance(10);
  progress.losses = static_cast<std::int32_t>(dice_.below(3));
  if (model::is_final(progress.state)) {
    progress.ended = moment();
    if (dice_.chance(80)) progress.outcome = random_outcome();
  }
  return progress;
}

void StoreScript::add_runs(Changes& changes) {
  const std::int64_t count = 1 + dice_.below(4);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t job = stored_job();
    model::Run run = samples::a_manual_run(next_run_++, job);
    run.kind = is_one_off(job) ? model::RunKind::OneOff : model::RunKind::Manual;
    const auto known = versions_.find(job);
    if (known != versions_.end()) run.version = known->second;
    run.scheduled = moment();
    if (!is_one_off(job) && dice_.chance(60)) {
      run.kind = model::RunKind::Tick;
      run.tick = run.scheduled = wall_from_ms(samples::kBase + dice_.below(40) * 1000);
    } else if (dice_.chance(40)) {
      run.request_key = dice_.one_of(kKeys);
      run.request_hash = "h" + std::to_string(dice_.below(3));
    }
    if (dice_.chance(20)) {
      run.parameters = std::make_shared<const model::Parameters>(model::Parameters{{"p", "1"}});
    }
    run.progress = random_progress();
    changes.new_runs.push_back(std::move(run));
  }
}

void StoreScript::add_updates(Changes& changes) {
  std::set<std::int64_t> mentioned;
  for (const model::Run& run : changes.new_runs) mentioned.insert(run.id.value);
  const model::RunProgress alike = random_progress();
  const bool all_alike = dice_.chance(30);
  const std::int64_t count = 1 + dice_.below(5);
  for (std::int64_t i = 0; i < count && !runs_.empty(); ++i) {
    const std::int64_t id = dice_.chance(2) ? 9999 : dice_.one_of(runs_);
    if (!mentioned.insert(id).second) continue;
    model::RunProgress progress = all_alike ? alike : random_progress();
    while (ended_.contains(id) && !model::is_final(progress.state)) progress = random_progress();
    changes.updated_runs.push_back({RunId{id}, progress});
  }
}

void StoreScript::add_attempts(Changes& changes) {
  if (runs_.empty()) return;
  model::AttemptRow row;
  row.run = RunId{dice_.one_of(runs_)};
  row.attempt = static_cast<AttemptNo>(1 + dice_.below(3));
  row.worker = {"w1", "ab"};
  row.epoch = Epoch{epoch_};
  if (dice_.chance(60)) row.dispatched = moment();
  row.late = dice_.chance(20);
  row.outcome = random_outcome();
  changes.attempts.push_back(std::move(row));
}

void StoreScript::add_gaps(Changes& changes) {
  const std::int64_t from = dice_.below(12);
  changes.gaps.push_back(samples::a_gap(random_job(), from, from + dice_.below(3)));
  if (dice_.chance(30)) changes.gaps.push_back(samples::a_gap(random_job(), from + 20, from + 21));
}

void StoreScript::add_life(Changes& changes) {
  master::core::WorkerLife life;
  life.key = {"w" + std::to_string(dice_.below(2)), "i" + std::to_string(dice_.below(3))};
  life.address = {"127.0.0.1", static_cast<std::uint16_t>(4000 + dice_.below(3))};
  life.pool = "default";
  life.joined = moment();
  if (dice_.chance(70)) life.slots = static_cast<std::int32_t>(dice_.below(5));
  if (dice_.chance(70)) life.offers = model::Amounts{{"memory", dice_.below(3)}, {"cpu", std::int64_t{1} << 40}};
  if (dice_.chance(50)) {
    life.left = moment();
    life.why_left = "its node is gone";
  }
  changes.lives.push_back(std::move(life));
}

/// Sometimes one that stands already, which stays as it is.
void StoreScript::add_start(Changes& changes) {
  model::WorkerStart start;
  start.key = {"w" + std::to_string(dice_.below(2)), "s" + std::to_string(dice_.below(6))};
  start.home = "h" + std::to_string(dice_.below(2));
  start.pool = "default";
  start.accepted = moment();
  start.number = ++starts_;
  changes.starts.push_back(std::move(start));
}

void StoreScript::add_note(Changes& changes) {
  if (runs_.empty()) return;
  model::RunNote note;
  note.run = RunId{dice_.one_of(runs_)};
  note.attempt = static_cast<AttemptNo>(1 + dice_.below(3));
  note.said = moment();
  if (dice_.chance(60)) {
    note.percent = static_cast<std::int32_t>(dice_.below(101));
    note.text = dice_.chance(30) ? samples::nasty_text() : "part";
  }
  if (!note.percent || dice_.chance(40)) note.checkpoint = samples::binary_bytes(50);
  changes.notes.push_back(std::move(note));
}

void StoreScript::add_death(Changes& changes) {
  model::WorkerDeath death;
  death.life = {"w" + std::to_string(dice_.below(2)), dice_.chance(70) ? "ab" : "cd"};
  death.principal = "local";
  death.why = dice_.chance(30) ? samples::nasty_text() : "";
  death.epoch = Epoch{epoch_};
  death.confirmed = moment();
  if (dice_.chance(30)) death.came_back = moment();
  changes.deaths.push_back(std::move(death));
}

void StoreScript::add_hold(Changes& changes) {
  model::WorkerHold hold;
  hold.number = 1 + static_cast<std::int64_t>(dice_.below(6));
  hold.worker = "w" + std::to_string(hold.number % 2);
  hold.pool = "p";
  hold.kind = hold.number % 3 == 0 ? model::WorkerHold::Kind::Flapping : model::WorkerHold::Kind::Excluded;
  hold.strikes = static_cast<std::int32_t>(hold.number);
  hold.since = wall_from_ms(1'700'000'000'000 + hold.number);
  hold.until = hold.since + Millis{60'000};
  hold.why = hold.number == 4 ? samples::nasty_text() : "";
  if (dice_.chance(40)) hold.trial = moment();
  if (dice_.chance(40)) hold.ended = moment();
  changes.holds.push_back(std::move(hold));
}

/// Also a version that stands already, with other content: what stands stays.
void StoreScript::add_setting(Changes& changes) {
  model::SettingRow row;
  row.name = dice_.chance(50) ? "catch_up.rate" : "notify.tries";
  row.version = ++setting_versions_;
  if (dice_.chance(80)) row.value = 1 + dice_.below(9);
  row.changed = wall_from_ms(1'700'000'000'000 + setting_versions_);
  row.number = setting_versions_;
  row.principal = "script";
  row.why = dice_.chance(50) ? "" : "a test";
  changes.settings.push_back(std::move(row));
}

void StoreScript::add_quota(Changes& changes) {
  model::QuotaRow row;
  row.of = dice_.chance(50) ? model::QuotaOf::Pool : model::QuotaOf::Space;
  row.name = dice_.chance(60) ? "etl" : "Etl";
  row.version = ++quota_versions_;
  row.quota = {static_cast<std::int64_t>(dice_.below(5)) - 1, 1 + static_cast<std::int64_t>(dice_.below(9)), -1, 7, 0};
  if (row.of == model::QuotaOf::Pool && row.version % 2 == 0) {
    row.quota.min_workers = row.version % 5;
    row.quota.max_workers = row.version;
    row.quota.hook = "local";
  }
  row.changed = wall_from_ms(1'700'000'000'000 + quota_versions_);
  row.number = quota_versions_;
  row.principal = "local";
  changes.quotas.push_back(std::move(row));
}

void StoreScript::add_semaphore(Changes& changes) {
  model::SemaphoreRow row;
  row.name = dice_.chance(60) ? "oracle" : "ora_2";
  row.version = ++semaphore_versions_;
  row.count = static_cast<std::int32_t>(dice_.below(5));
  row.changed = wall_from_ms(1'700'000'000'000 + semaphore_versions_);
  row.number = semaphore_versions_;
  row.principal = "local";
  row.deleted = dice_.chance(15);
  changes.semaphores.push_back(std::move(row));
}

/// New, or one that stands, further on; now and then old ones are forgotten.
void StoreScript::add_notification(Changes& changes) {
  model::Notification row;
  row.id = dice_.chance(60) ? ++notifications_ : 1 + dice_.below(notifications_ + 1);
  row.receiver = "ops";
  row.what = model::Happening::Failed;
  row.run = RunId{row.id};
  row.text = "run ended";
  row.made = wall_from_ms(1'700'000'000'000 + row.id);
  row.state = static_cast<model::Delivery>(dice_.below(3));
  row.attempts = static_cast<std::int32_t>(dice_.below(4));
  if (row.state != model::Delivery::Open) row.settled = moment();
  if (dice_.chance(30)) row.last_error = "status 503";
  notifications_ = std::max(notifications_, row.id);
  changes.notifications.push_back(std::move(row));
  if (dice_.chance(10)) {
    changes.forget_notifications = wall_from_ms(1'700'000'000'000 + dice_.below(notifications_ + 1));
  }
}

/// Also a row that stands, told at another moment: what stands stays.
void StoreScript::add_late(Changes& changes) {
  model::LateRow row;
  row.job = JobId{1 + dice_.below(5)};
  row.run = RunId{dice_.below(9)};
  if (dice_.chance(70)) row.tick = wall_from_ms(1'700'000'000'000 + dice_.below(9));
  row.what = static_cast<model::ToldOnce>(dice_.below(3));
  row.space = "default";
  row.job_name = dice_.chance(50) ? "a" : "it's; --";
  row.epoch = Epoch{1};
  if (dice_.chance(60)) row.due = moment();
  row.told = moment();
  row.was = dice_.chance(30) ? std::string(model::kWasPaused) : "queued";
  row.limit = Millis{dice_.below(1000)};
  changes.late.push_back(std::move(row));
  model::JobPace pace;
  pace.job = JobId{1 + dice_.below(5)};
  pace.successes = dice_.below(50);
  for (std::int64_t i = dice_.below(21); i > 0; --i) pace.last.emplace_back(dice_.below(100'000));
  changes.paces.push_back(std::move(pace));
}

void StoreScript::add_calendar(Changes& changes) {
  model::Calendar calendar;
  calendar.name = dice_.chance(60) ? "de" : "de_by";
  calendar.description = dice_.chance(30) ? samples::nasty_text() : "";
  if (dice_.chance(50)) calendar.exclude = {"2026-12-25", "2026-12-26..2026-12-31"};
  if (dice_.chance(30)) calendar.hours = {{"2026-11-27", "09:30-13:00"}};
  model::CalendarRow row;
  row.version = static_cast<std::int32_t>(1 + dice_.below(6));
  row.from = moment();
  row.changed = moment();
  row.principal = "local";
  row.deleted = dice_.chance(20);
  if (row.deleted) row.why = samples::nasty_text();
  row.calendar = std::make_shared<const model::Calendar>(std::move(calendar));
  changes.calendars.push_back(std::move(row));
}

void StoreScript::add_drain(Changes& changes) {
  model::WorkerDrain drain;
  drain.worker = "w" + std::to_string(dice_.below(3));
  drain.draining = dice_.chance(60);
  if (drain.draining && dice_.chance(50)) drain.deadline = moment();
  drain.principal = "local";
  drain.why = dice_.chance(30) ? samples::nasty_text() : "";
  drain.changed = moment();
  changes.drains.push_back(std::move(drain));
}

std::string text_of(const StoreStep& step) {
  const std::string lost = step.answer_is_lost ? " (the answer is lost)" : "";
  switch (step.kind) {
    case StoreStep::Kind::TakeOffice: return fmt::format("takes office {}{}", step.epoch.value, lost);
    case StoreStep::Kind::SettleGrant: return fmt::format("settles a grant of {} ms", step.grant.count());
    case StoreStep::Kind::SettleUuid: return "settles a uuid";
    case StoreStep::Kind::BackUp: return "a copy is made";
    case StoreStep::Kind::GoBack: return "the copy comes back";
    case StoreStep::Kind::Apply: break;
  }
  std::string text = fmt::format("applies under epoch {}{}:", step.epoch.value, lost);
  const Changes& changes = step.changes;
  for (const auto& job : changes.jobs) {
    text += fmt::format(" job {} '{}' version {} state {};", job.id.value, job.name, job.version,
                        static_cast<int>(job.state));
  }
  for (const auto& version : changes.versions) {
    text += fmt::format(" version {}.{}{}{};", version.job.value, version.version,
                        version.definition ? "" : " without its definition",
                        version.valid_to ? " closed" : "");
  }
  for (const auto& run : changes.new_runs) {
    text += fmt::format(" run {} of job {} {}{};", run.id.value, run.job.value,
                        run.tick ? fmt::format("tick {}", to_ms(*run.tick) - samples::kBase) : "",
                        run.request_key.empty() ? "" : fmt::format("key '{}'", run.request_key));
  }
  for (const auto& update : changes.updated_runs) {
    text += fmt::format(" update {} to {};", update.id.value, name_of(update.progress.state));
  }
  for (const auto& row : changes.attempts) {
    text += fmt::format(" attempt {}/{} {}{};", row.run.value, row.attempt, name_of(row.outcome.state),
                        row.late ? " late" : "");
  }
  for (const auto& gap : changes.gaps) {
    text += fmt::format(" gap of job {} from {} of {};", gap.job.value, to_ms(gap.from) - samples::kBase,
                        gap.count);
  }
  for (const auto& life : changes.lives) text += fmt::format(" life {}@{};", life.key.id, life.key.incarnation);
  for (const auto& hold : changes.holds) text += fmt::format(" hold {} of {};", hold.number, hold.worker);
  for (const auto& start : changes.starts) text += fmt::format(" start {} of {};", start.key.start, start.key.worker);
  for (const auto& note : changes.notes) {
    text += fmt::format(" note of {}/{}{}{};", note.run.value, note.attempt, note.percent ? " percent" : "",
                        note.checkpoint ? " checkpoint" : "");
  }
  for (const auto& drain : changes.drains) text += fmt::format(" drain of {} {};", drain.worker, drain.draining);
  for (const auto& death : changes.deaths) {
    text += fmt::format(" death of {}@{} {};", death.life.id, death.life.incarnation, death.came_back.has_value());
  }
  if (changes.watermark) text += fmt::format(" watermark {}", to_ms(changes.watermark->through) - samples::kBase);
  return text;
}

}  // namespace rota::agreement
