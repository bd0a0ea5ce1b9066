#include "harness.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "master/core/definition_hash.h"

namespace rota::test {

using namespace master::core;

namespace {

/// One object for all, as whoever reads zones gives it: jobs in one zone share their schedules.
const std::shared_ptr<const model::ZoneRules>& utc() {
  static const auto kUtc = std::make_shared<const model::ZoneRules>();
  return kUtc;
}

}  // namespace

Harness::Harness(Recovered recovered, CoreOptions opts, Epoch e, std::optional<Now> at)
    : epoch(e), options(opts) {
  now = at.value_or(now);
  // What was stored before stands here too.
  watermark = recovered.watermark;
  for (const RecoveredJob& job : recovered.jobs) jobs[job.job.id] = job.job;
  for (const model::Run& run : recovered.runs) runs[run.id] = run;
  for (const model::Freeze& freeze : recovered.freezes) freezes[freeze.id] = freeze;
  for (const model::WorkerStart& start : recovered.starts) starts[start.key] = start;
  for (const model::ChildRow& row : recovered.children) children[{row.parent, row.name}] = row;
  for (const model::OwedChildren& row : recovered.children_owed) owed[row.parent] = row;
  scheduler = std::make_unique<Scheduler>(epoch, options, std::move(recovered), now);
}

void Harness::handle(const Event& event) {
  last = Effects{};
  scheduler->handle(event, now, last);
  record(last);
  if (++handled_ % check_each == 0) scheduler->check_invariants();
  for (const Violation& broken : scheduler->sample_invariants()) FAIL(broken.what << "; " << broken.around);
  if (last.list_workers == 0 || !listing_works) return;
  const std::int64_t asked = last.list_workers;
  handle(WorkersListed{asked});
}

void Harness::record(const Effects& effects) {
  const Changes& changes = effects.changes;
  std::set<RunId> named;
  for (const model::Job& job : changes.jobs) jobs[job.id] = job;
  for (const model::JobVersionRow& row : changes.versions) {
    auto [at, added] = versions.try_emplace({row.job, row.version}, row);
    if (!added) at->second.valid_to = row.valid_to;
  }
  for (const model::Run& run : changes.new_runs) {
    REQUIRE(named.insert(run.id).second);
    REQUIRE(runs.emplace(run.id, run).second);
  }
  for (const RunUpdate& update : changes.updated_runs) {
    REQUIRE(named.insert(update.id).second);
    REQUIRE(runs.contains(update.id));
    runs[update.id].progress = update.progress;
  }
  row_writes += static_cast<std::int64_t>(changes.new_runs.size() + changes.updated_runs.size());
  gaps.insert(gaps.end(), changes.gaps.begin(), changes.gaps.end());
  attempts.insert(attempts.end(), changes.attempts.begin(), changes.attempts.end());
  lives.insert(lives.end(), changes.lives.begin(), changes.lives.end());
  for (const model::Freeze& freeze : changes.freezes) freezes[freeze.id] = freeze;
  for (const model::WorkerStart& start : changes.starts) REQUIRE(starts.emplace(start.key, start).second);
  for (const auto& row : changes.children) REQUIRE(children.emplace(std::pair{row.parent, row.name}, row).second);
  for (const auto& row : changes.children_owed) REQUIRE(owed.emplace(row.parent, row).second);
  for (const RunId parent : changes.children_done) REQUIRE(owed.erase(parent) == 1);
  for (const model::WorkerDrain& drain : changes.drains) drains[drain.worker] = drain;
  for (const model::WorkerDeath& death : changes.deaths) deaths[death.life] = death;
  for (const model::WorkerHold& hold : changes.holds) holds[hold.number] = hold;
  if (changes.watermark) {
    CHECK((!watermark || *changes.watermark > *watermark));
    watermark = changes.watermark;
    ++watermark_writes;
  }
  for (const auto& row : effects.changes.calendars) calendars.push_back(row);
  for (const auto& row : effects.changes.semaphores) semaphores.push_back(row);
  for (const auto& row : effects.changes.quotas) quotas.push_back(row);
  for (const auto& row : effects.changes.settings) settings.push_back(row);
  for (const auto& row : effects.changes.notifications) notifications.insert_or_assign(row.id, row);
  for (const auto& row : effects.changes.scaling) scaling.insert_or_assign(row.id, row);
  for (const auto& call : effects.hook_calls) {
    REQUIRE(scaling.contains(call.id));          // stored before, or in the same batch
    hook_calls.push_back(call);
  }
  late.insert(late.end(), effects.changes.late.begin(), effects.changes.late.end());
  for (const auto& row : effects.changes.paces) paces[row.job] = row;
  told.insert(told.end(), effects.notifications.begin(), effects.notifications.end());
  notices.insert(notices.end(), effects.notices.begin(), effects.notices.end());
  watched.insert(watched.end(), effects.watch_beats.begin(), effects.watch_beats.end());
  sends_.insert(sends_.end(), effects.sends.begin(), effects.sends.end());
}

void Harness::advance(Millis by) {
  while (by > Millis{0}) {
    const auto wake = scheduler->next_wake(now);
    const Millis step = wake ? std::clamp(*wake, Millis{0}, by) : by;
    now.wall += step;
    now.mono += step;
    by -= step;
    tick();
  }
}

model::WorkerKey Harness::join(const model::WorkerInfo& info) {
  handle(WorkerSeen{info});
  listed();
  inventory(info.key);
  pop_hellos();
  return info.key;
}

void Harness::leave(const model::WorkerKey& key) {
  handle(BeatsEnded{key, now.mono - 6s});
  handle(WorkerGone{key});
}

void Harness::inventory(const model::WorkerKey& key, std::vector<model::HeldAttempt> held,
                        std::optional<model::DrainAck> drain) {
  model::Inventory all;
  all.worker = key;
  all.highest_epoch = epoch;
  all.attempts = std::move(held);
  all.drain = drain;
  handle(HelloAnswered{std::move(all)});
}

template <typename Body>
Body Harness::reply_of(const Event& event) {
  handle(event);
  REQUIRE(!last.replies.empty());
  REQUIRE(std::holds_alternative<Body>(last.replies.back().body));
  return std::get<Body>(last.replies.back().body);
}

JobId Harness::apply(const JobBuilder& job, std::optional<JobVersion> expected) {
  ApplyJob event;
  event.token = Token{next_token_++};
  event.principal = "tester";
  event.definition = job.build();
  event.zone = utc();
  event.expected_version = expected;
  return reply_of<JobApplied>(event).job;
}

namespace {

Result<CalendarApplied> calendar_answer(const Effects& effects) {
  REQUIRE(!effects.replies.empty());
  const ReplyBody& body = effects.replies.back().body;
  if (const auto* error = std::get_if<Error>(&body)) return fail(*error);
  return std::get<CalendarApplied>(body);
}

}  // namespace

Result<CalendarApplied> Harness::apply_calendar(const model::Calendar& calendar,
                                                std::optional<std::int32_t> expected) {
  ApplyCalendar event;
  event.token = Token{next_token_++};
  event.principal = "tester";
  event.space = "default";
  event.calendar = std::make_shared<const model::Calendar>(calendar);
  auto compiled = compile_calendar(calendar, utc());
  REQUIRE(compiled);
  event.compiled = std::make_shared<const CompiledCalendar>(std::move(*compiled));
  event.expected_version = expected;
  handle(event);
  return calendar_answer(last);
}

namespace {

Result<SemaphoreApplied> semaphore_answer(const Effects& effects) {
  REQUIRE(!effects.replies.empty());
  if (const auto* error = std::get_if<Error>(&effects.replies[0].body)) return fail(*error);
  return std::get<SemaphoreApplied>(effects.replies[0].body);
}

}  // namespace

Result<SemaphoreApplied> Harness::set_semaphore(const std::string& name, std::int32_t count,
                                                std::optional<std::int32_t> expected) {
  handle(SetSemaphore{Token{next_token_++}, "tester", "default", name, count, expected});
  return semaphore_answer(last);
}

Result<QuotaApplied> Harness::set_quota(SetQuota event) {
  event.token = Token{next_token_++};
  event.principal = "tester";
  handle(event);
  REQUIRE(!last.replies.empty());
  if (const auto* error = std::get_if<Error>(&last.replies[0].body)) return fail(*error);
  return std::get<QuotaApplied>(last.replies[0].body);
}

Result<SettingApplied> Harness::set_setting(const std::string& name, std::optional<std::int64_t> value,
                                            std::optional<std::int32_t> expected) {
  handle(SetSetting{Token{next_token_++}, "tester", name, value, "a test", expected});
  REQUIRE(!last.replies.empty());
  if (const auto* error = std::get_if<Error>(&last.replies[0].body)) return fail(*error);
  return std::get<SettingApplied>(last.replies[0].body);
}

Result<SemaphoreApplied> Harness::delete_semaphore(const std::string& name) {
  handle(DeleteSemaphore{Token{next_token_++}, "tester", "default", name});
  return semaphore_answer(last);
}

Result<CalendarApplied> Harness::delete_calendar(const std::string& name) {
  handle(DeleteCalendar{Token{next_token_++}, "tester", "default", name, "not wanted"});
  return calendar_answer(last);
}

RunId Harness::run_now(const std::string& name, const std::string& key, const std::string& hash) {
  const RunNow event{Token{next_token_++}, "tester", "default", name, key, hash, nullptr};
  return reply_of<Submitted>(event).items.at(0).run;
}

RunId Harness::submit(const std::string& key, const std::string& hash, JobId job) {
  SubmitRuns event;
  event.token = Token{next_token_++};
  event.principal = "tester";
  event.items.push_back({job, a_job("one-off").build(), key, hash, nullptr});
  return reply_of<Submitted>(event).items.at(0).run;
}

Result<RunId> Harness::submit_unused(const std::string& key, const UnusedKeys& unused) {
  SubmitRuns event;
  event.token = Token{next_token_++};
  event.principal = "tester";
  event.items.push_back({JobId{kOneOffBit + 1}, a_job("one-off").build(), key, "h", nullptr});
  event.unused = unused;
  handle(event);
  const auto& body = last.replies.at(0).body;
  if (const auto* error = std::get_if<Error>(&body)) return fail(*error);
  return std::get<Submitted>(body).items.at(0).run;
}

void Harness::cancel(RunId run) { handle(CancelRun{Token{next_token_++}, "tester", run, "enough"}); }

void Harness::pause(const std::string& name, bool paused) {
  handle(SetPaused{Token{next_token_++}, "tester", "default", name, paused, "maintenance"});
}

void Harness::remove(const std::string& name) {
  handle(DeleteJob{Token{next_token_++}, "tester", "default", name, "not wanted"});
}

bool Harness::renew(const model::WorkerKey& key) {
  handle(RenewAsked{Token{next_token_++}, key});
  return std::holds_alternative<Renewed>(last.replies.at(0).body);
}

void Harness::accept(RunId id) {
  handle(DispatchAnswered{run(id).progress.worker,
                          {{attempt(id), DispatchVerdict::Kind::Accepted, {}, {}}}});
}

void Harness::refuse(RunId id, model::Refusal refusal) {
  handle(DispatchAnswered{run(id).progress.worker,
                          {{attempt(id), DispatchVerdict::Kind::Refused, refusal, "said no"}}});
}

void Harness::lose_answer(RunId id) {
  handle(DispatchAnswered{run(id).progress.worker,
                          {{attempt(id), DispatchVerdict::Kind::Unknown, {}, "timed out"}}});
}

void Harness::report(RunId id, model::RunState state) {
  report(attempt(id), run(id).progress.worker, state);
}

void Harness::report(model::AttemptKey key, const model::WorkerKey& worker, model::RunState state) {
  model::AttemptReport line;
  line.key = key;
  line.worker = worker;
  line.what = model::AttemptReport::What::Finished;
  line.outcome = ended_as(state);
  const auto taken = reply_of<ReportsTaken>(Reported{Token{next_token_++}, worker, {line}});
  CHECK(taken.taken == std::vector{key});
}

void Harness::report_started(RunId id) {
  model::AttemptReport line;
  line.key = attempt(id);
  line.worker = run(id).progress.worker;
  line.started = now.wall;
  handle(Reported{Token{next_token_++}, line.worker, {line}});
}

std::vector<RunId> Harness::runs_of(JobId job) const {
  std::vector<RunId> all;
  for (const auto& [id, run] : runs) {
    if (run.job == job) all.push_back(id);
  }
  return all;
}

std::vector<model::Gap> Harness::gaps_of(JobId job) const {
  std::vector<model::Gap> all;
  std::copy_if(gaps.begin(), gaps.end(), std::back_inserter(all),
               [job](const model::Gap& gap) { return gap.job == job; });
  return all;
}

template <typename Message>
std::vector<Message> Harness::take() {
  std::vector<Message> taken;
  std::vector<Send> left;
  for (Send& send : sends_) {
    if (std::holds_alternative<Message>(send)) {
      taken.push_back(std::get<Message>(std::move(send)));
    } else {
      left.push_back(std::move(send));
    }
  }
  sends_ = std::move(left);
  return taken;
}

std::vector<SendDispatch> Harness::pop_dispatch_calls() { return take<SendDispatch>(); }
std::vector<SendCancel> Harness::pop_cancels() { return take<SendCancel>(); }
std::vector<SendHello> Harness::pop_hellos() { return take<SendHello>(); }
std::vector<SendDrain> Harness::pop_drains() { return take<SendDrain>(); }

std::vector<DispatchItem> Harness::pop_dispatches() {
  std::vector<DispatchItem> all;
  for (const SendDispatch& call : take<SendDispatch>()) {
    all.insert(all.end(), call.items.begin(), call.items.end());
  }
  return all;
}

RunView Harness::view(RunId id) const {
  const Snapshot snapshot = scheduler->snapshot(now);
  REQUIRE(snapshot.waiting.contains(id));
  return snapshot.waiting.find(id)->second;
}

std::int64_t Harness::counter(const std::string& name) const {
  return scheduler->snapshot(now).counters.at(name);
}

Recovered Harness::recovered() const {
  Recovered all;
  all.watermark = watermark;
  std::set<JobId> needed;
  for (const auto& [id, run] : runs) {
    if (model::is_final(run.progress.state)) continue;
    all.runs.push_back(run);
    needed.insert(run.job);
    const auto& made_by = versions.at({run.job, run.version}).definition;
    if (jobs.at(run.job).version == run.version || made_by == nullptr) continue;
    all.older_rules.push_back(
        {run.job, run.version, std::make_shared<const KeptRules>(*made_by)});
  }
  for (const auto& [id, job] : jobs) {
    if ((job.state == model::JobState::Deleted || job.one_off) && !needed.contains(id)) continue;
    RecoveredJob entry;
    entry.job = job;
    const auto& row = versions.at({id, job.version});
    auto definition = row.definition;
    for (JobVersion v = job.version; !definition && v > 0; --v) {
      definition = versions.at({id, v}).definition;
    }
    entry.rules = std::make_shared<const KeptRules>(*definition);
    entry.definition_hash = definition_hash(*definition);
    entry.zone = utc();
    entry.valid_from = row.valid_from;
    entry.anchor = row.anchor;
    all.jobs.push_back(std::move(entry));
  }
  for (const auto& [life, death] : deaths) {
    if (!death.came_back) all.confirmed.push_back(death);
  }
  for (const auto& [number, hold] : holds) {
    if (!hold.ended) all.holds.push_back(hold);
  }
  for (const auto& [id, freeze] : freezes) {
    if (!freeze.done) all.freezes.push_back(freeze);
  }
  std::map<std::pair<std::string, std::string>, model::WorkerStart> newest_starts;
  for (const auto& [key, start] : starts) {
    model::WorkerStart& known = newest_starts[{key.worker, start.home}];
    if (known.number < start.number) known = start;
  }
  for (const auto& [place, start] : newest_starts) all.starts.push_back(start);
  for (const auto& [key, row] : children) {
    const auto child = runs.find(row.run);
    if (child != runs.end() && !model::is_final(child->second.progress.state)) all.children.push_back(row);
  }
  for (const auto& [parent, row] : owed) all.children_owed.push_back(row);
  for (const auto& [worker, drain] : drains) {
    if (drain.draining) all.drains.push_back(drain);
  }
  all.told = late_before;
  all.told.insert(all.told.end(), late.begin(), late.end());
  for (const auto& [job, row] : paces) all.paces.push_back(row);
  all.expect_zones = {utc()};
  for (const auto& [id, row] : notifications) {
    if (row.state == model::Delivery::Open) all.notifications.push_back(row);
  }
  for (const model::SemaphoreRow& row : semaphores) {
    const auto same = std::ranges::find_if(all.semaphores, [&](const auto& known) {
      return known.space == row.space && known.name == row.name;
    });
    if (same == all.semaphores.end()) all.semaphores.push_back(row);
    else *same = row;
  }
  for (const auto& row : quotas) all.quotas.push_back(row);
  std::map<std::string, model::ScaleChange> newest_scaling;
  for (const auto& [id, row] : scaling) newest_scaling.insert_or_assign(row.pool, row);
  for (const auto& [pool, row] : newest_scaling) all.scaling.push_back(row);
  std::map<std::string, model::SettingRow> newest_settings;
  for (const model::SettingRow& row : settings) newest_settings[row.name] = row;
  for (const auto& [name, row] : newest_settings) all.settings.push_back(row);
  for (const model::CalendarRow& row : calendars) {
    all.calendars.push_back({row, utc()});
  }
  std::map<std::string, WorkerLife> newest;
  for (const WorkerLife& life : lives) newest[life.key.id] = life;
  for (const auto& [id, life] : newest) all.newest_lives.push_back(life);
  return all;
}

}  // namespace rota::test
