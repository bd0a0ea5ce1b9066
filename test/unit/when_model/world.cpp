#include "world.h"

#include <doctest/doctest.h>

#include <algorithm>

#include <fmt/format.h>

#include "common/time/zones.h"

namespace rota::when_model {

using namespace master::core;
using model::RunKind;
using model::RunState;

namespace {

constexpr Ms kLead = 10'000;  // so much later an edit of a calendar counts

model::Zones all_zones() {
  model::Zones out;
  for (const std::string& name : kZones) out.others.push_back(*timezone::load_zone(name));
  return out;
}

}  // namespace

World::World(std::uint64_t seed, Tally& tally) : dice_(seed), tally_(tally) {
  options_.fire_at_most = 1'000'000;
  options_.catch_up_rate = static_cast<std::int32_t>(dice_.pick(1, 200));
  h_ = std::make_unique<test::Harness>(Recovered{}, options_, Epoch{epoch_});
  h_->now.wall = wall_from_ms(dice_.begin());
  at_ = to_ms(h_->now.wall);
  h_->join(test::a_worker("w1", 100'000, fmt::format("i{}", ++lives_)));
  for (const char* name : {"a", "b", "c", "d"}) {
    while (calendars_[name].empty()) edit_calendar(name, false);
  }
  for (std::size_t i = 0; i < kMostJobs; ++i) create();
}

void World::step() {
  const std::int64_t what = dice_.pick(0, 29);
  if (what < 12) nap(dice_.pick(1, 600) * dice_.pick(1, 600) * 400);
  else if (what < 15) live();
  else if (what == 15) take_over(dice_.pick(0, 48 * 3600) * 1000);
  else if (what == 16) clock_back();
  else if (what == 17) hold(dice_.pick(1, 12 * 3600) * 1000);
  else if (what == 18) freeze();
  else if (what == 19) end_freeze();
  else if (what < 22) edit_calendar(dice_.one_of(std::vector<std::string>{"a", "b", "c", "d"}), dice_.chance(50));
  else edit_something();
  if (!dice_.chance(10)) finish();
  forget();
}

// --- what happens

/// Both clocks go on, and nobody looks.
void World::pass(Ms by) {
  h_->now.wall += Millis{by};
  h_->now.mono += Millis{by};
}

void World::handle(const Event& event) {
  h_->handle(event);
  at_ = std::max(at_, to_ms(h_->now.wall));
  for (const auto& [id, run] : h_->runs) {
    if (id <= newest_) continue;
    if (run.kind == RunKind::Tick) fired_[run.job].insert(to_ms(*run.tick));
    if (run.kind == RunKind::AfterFreeze) made_up_[run.job].insert(to_ms(run.scheduled));
  }
  if (!h_->runs.empty()) newest_ = std::max(newest_, h_->runs.rbegin()->first);
}

World::Standings World::standings() const {
  Standings out;
  for (const auto& [id, run] : h_->runs) {
    if (model::is_final(run.progress.state)) continue;
    Standing& standing = out[run.job];
    if (run.progress.reason == model::Reason::CaughtUp) {
      ++standing.late;
    } else {
      ++standing.begun;
      if (run.progress.reason == model::Reason::WaitsForRun) ++standing.behind;
    }
  }
  return out;
}

/// The leader looks at the clock, and all is judged.
void World::look() {
  const Standings before = standings();
  handle(TimePassed{});
  judge_all(before);
  for (int left = 1000; left > 0 && h_->scheduler->next_wake(h_->now) == Millis{0}; --left) {
    const Standings again = standings();
    handle(TimePassed{});
    judge_all(again);
  }
}

void World::nap(Ms length) {
  pass(length);
  look();
}

void World::live() {
  for (std::int64_t left = dice_.pick(1, 30); left > 0; --left) {
    const Millis wake = h_->scheduler->next_wake(h_->now).value_or(Millis{60'000});
    pass(std::clamp<Ms>(wake.count(), 0, 3'600'000));
    look();
    finish();
  }
}

void World::hold(Ms length) {
  if (dice_.chance(60)) nap(dice_.pick(1, 36'000) * 1000);  // runs go on when it begins
  handle(HoldTicks{"by dice"});
  is_held_ = true;
  pass(length / 2);
  handle(TimePassed{});
  if (dice_.chance(70)) {
    for (int i = 0; i < 3; ++i) finish();
    if (dice_.chance(40)) change_leader("by dice");
  }
  pass(length / 2);
  handle(TimePassed{});
  for (Job& job : jobs_) judge(job, {}, false);
  Standings before = standings();
  handle(HoldTicks{""});
  is_held_ = false;
  for (Job& job : jobs_) {
    if (job.over_since) judge_over(job, before[job.id]);
  }
  count("held");
  look();
}

/// Behind the core's time nothing happens until the clock has caught up.
void World::clock_back() {
  const Ms by = dice_.pick(1, 100'000);
  h_->now.wall -= Millis{by};
  look();
  pass(by);
  look();
}

void World::take_over(Ms away) {
  for (int i = 0; i < 3; ++i) finish();
  change_leader("");
  pass(away);
  look();
  h_->join(test::a_worker("w1", 100'000, fmt::format("i{}", ++lives_)));
}

/// Nothing is under way.
void World::change_leader(const std::string& hold) {
  auto all = h_->recovered();
  for (RecoveredJob& job : all.jobs) job.zone = all_zones();
  for (RecoveredCalendar& each : all.calendars) each.zone = *timezone::load_zone(each.row.calendar->time_zone);
  CoreOptions options = options_;
  options.tick_hold = hold;
  auto next = std::make_unique<test::Harness>(std::move(all), options, Epoch{++epoch_});
  next->now = h_->now;
  next->jobs = h_->jobs;
  next->versions = h_->versions;
  next->calendars = h_->calendars;
  h_ = std::move(next);
  count(hold.empty() ? "takeovers" : "takeovers in a hold");
  if (!hold.empty()) h_->join(test::a_worker("w1", 100'000, fmt::format("i{}", ++lives_)));
}

/// All that was sent ends, one after the other.
void World::finish() {
  for (int round = 0; round < 20; ++round) {
    const auto sent = h_->pop_dispatches();
    if (sent.empty()) return;
    std::map<model::WorkerKey, std::vector<model::AttemptReport>> reports;
    for (const DispatchItem& item : sent) {
      const model::Run& run = h_->run(item.attempt.run);
      const auto earliest = not_before_.find(run.id);
      if (earliest != not_before_.end() && h_->now.mono < earliest->second) {
        const auto job = std::ranges::find(jobs_, run.job, &Job::id);
        if (job != jobs_.end()) differ(*job, fmt::format("run of tick {} started before its jitter was over", to_ms(*run.tick)));
      }
      model::AttemptReport line;
      line.key = item.attempt;
      line.worker = run.progress.worker;
      line.what = model::AttemptReport::What::Finished;
      line.outcome = test::ended_as(dice_.chance(70) ? RunState::Succeeded : RunState::Failed);
      reports[line.worker].push_back(line);
    }
    for (const auto& [worker, lines] : reports) {
      std::map<JobId, std::vector<RunState>> ends;
      for (const auto& line : lines) ends[h_->run(line.key.run).job].push_back(line.outcome.state);
      handle(Reported{Token{++token_}, worker, lines});
      for (Job& job : jobs_) {
        if (!ends.contains(job.id) || !job.enabled || job.deleted) continue;
        for (const RunState state : ends.at(job.id)) {
          if (state == RunState::Succeeded) job.has_succeeded = true;
          job.failures = state == RunState::Succeeded ? 0 : job.failures + 1;
          if (job.has_after_end()) {
            const auto due = open_from(job.entries.front(), calendars_, at_ + job.entries.front().interval);
            job.due = std::max(job.due, due);
          }
        }
        const bool is_row = job.rules.pause_after > 0 && job.failures >= job.rules.pause_after && !job.has_succeeded;
        const bool is_failed = job.rules.pause_after > 0 && job.failures >= job.rules.pause_after;
        const bool is_done = job.rules.until_success && job.has_succeeded;
        const bool is_over = is_done || (job.rules.until_success ? is_row : is_failed);
        if (is_held_) {  // that waits, and a later end may let it go on
          job.over_since = is_over ? std::optional(job.over_since.value_or(at_)) : std::nullopt;
          if (!job.rules.until_success) job.has_succeeded = false;
          continue;
        }
        judge_end(job, is_over, std::nullopt);
        if (!job.rules.until_success) job.has_succeeded = false;
        judge_state(job);
      }
    }
  }
}

void World::freeze() {
  look();
  const Ms until = at_ + dice_.pick(1, 3000) * 60'000;
  handle(BeginFreeze{Token{++token_}, "dice", "default", wall_from_ms(until), ""});
  const auto* taken = std::get_if<FreezeTaken>(&h_->last.replies.back().body);
  if (taken == nullptr) return;
  count("freezes");
  const auto known = std::ranges::find(freezes_, taken->freeze.id, &Frozen::id);
  if (known == freezes_.end()) {
    freezes_.push_back({taken->freeze.id, at_, until});
  } else {
    known->end = until;
  }
}

void World::end_freeze() {
  look();
  handle(EndFreeze{Token{++token_}, "dice", "default"});
  const auto* taken = std::get_if<FreezeTaken>(&h_->last.replies.back().body);
  if (taken == nullptr) return;
  std::ranges::find(freezes_, taken->freeze.id, &Frozen::id)->end = to_ms(taken->freeze.end());
  pass(1);
  look();
}

void World::edit_calendar(const std::string& name, bool at_a_tick) {
  if (!jobs_.empty()) look();
  auto& versions = calendars_[name];
  if (at_a_tick) {
    Job* job = any_job();
    if (job == nullptr) return;
    ensure_plan(*job, at_ + 5 * kDay);
    const auto tick = job->plan.ticks.upper_bound(at_ + kLead);
    if (tick == job->plan.ticks.end()) return;
    pass(tick->first - kLead - at_);
    look();
  }
  const Ms from = versions.empty() ? at_ : std::max(at_ + kLead, versions.back().from + 1);
  if (!versions.empty() && is_near_a_change(from)) return;  // by local time, which of them counts is not told apart
  auto [calendar, plain] = random_calendar(dice_, name, at_);
  plain.from = from;
  ApplyCalendar event;
  event.token = Token{++token_};
  event.principal = "dice";
  event.space = name == "d" ? "calm" : "default";
  event.calendar = std::make_shared<const model::Calendar>(calendar);
  auto compiled = compile_calendar(calendar, *timezone::load_zone(calendar.time_zone));
  if (!compiled) return;  // no day is open
  event.compiled = std::make_shared<const CompiledCalendar>(std::move(*compiled));
  handle(event);
  const auto* taken = std::get_if<CalendarApplied>(&h_->last.replies.back().body);
  REQUIRE(taken != nullptr);
  CHECK(to_ms(taken->from) == from);
  versions.push_back(std::move(plain));
  count("edits of calendars");
  for (Job& job : jobs_) job.planned_through = 0;
  handle(TimePassed{});  // its users are planned anew
  move_dues(name);
}

/// What an edit of its calendar closes is due when it opens again; what never comes, or came never, so long after now.
void World::move_dues(const std::string& name) {
  for (Job& job : jobs_) {
    const bool is_user = std::ranges::count(job.entries.front().calendars, name) > 0;
    if (!is_user || !job.has_after_end() || !job.enabled || job.deleted) continue;
    const Standing standing = standings()[job.id];
    if (!job.due && standing.begun + standing.late > 0) continue;
    const Ms from = job.due.value_or(at_ + job.entries.front().interval);
    const auto open = open_from(job.entries.front(), calendars_, from);
    if (open != job.due) count("due moved by an edit");
    job.due = open;
    judge_state(job);
  }
}

void World::forget() {
  std::erase_if(h_->runs, [](const auto& each) { return model::is_final(each.second.progress.state); });
  std::erase_if(not_before_, [this](const auto& each) { return !h_->runs.contains(each.first); });
  h_->attempts.clear();
  h_->notices.clear();
  h_->lives.clear();
}

}  // namespace rota::when_model
