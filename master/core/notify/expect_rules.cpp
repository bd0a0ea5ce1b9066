#include "master/core/workers/scale_desk.h"
#include "master/core/notify/expect_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/duration_text.h"
#include "master/core/memory_rules.h"
#include "master/core/notify/expectations.h"
#include "master/core/notify/notify_rules.h"
#include "master/core/workers/departed_rules.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::core {

using model::LateRow;
using model::RunState;
using model::ToldOnce;

namespace {

constexpr Millis kForgottenDead = std::chrono::hours{48};

std::size_t bit(ToldOnce what) { return static_cast<std::size_t>(what); }

RunFactsNow facts_now(const RunEntry& run) {
  const RunTrack& progress = run.progress();
  RunFactsNow out;
  out.state = progress.state;
  const bool has_begun = run.is_held() || model::is_final(progress.state);
  if (progress.first_dispatched()) {
    out.begun = progress.first_dispatched();
  } else if (has_begun) {
    out.begun = progress.dispatched();
  }
  if (model::is_final(progress.state)) out.ended = progress.ended();
  return out;
}

std::vector<Millis> pace_of(const State& state, JobId job) {
  const model::JobPace* pace = state.expects().pace(job);
  return pace == nullptr ? std::vector<Millis>{} : pace->last;
}

std::optional<Millis> limit_now(const State& state, const RunEntry& run) {
  return length_limit(run.rules().expect_longer_than, pace_of(state, run.row().job));
}

std::optional<WallTime> finish_by_in(const State& state, const model::JobRules& rules,
                                     std::optional<WallTime> tick) {
  if (!tick || rules.expect_finish_by.empty()) return std::nullopt;
  const model::ZoneRules* zone = state.expects().zone(rules.schedule.time_zone);
  return zone == nullptr ? std::nullopt : finish_by_of(rules.expect_finish_by, *zone, *tick);
}

/// A child has its parent's logical time, which may be long over.
WallTime start_counts_from(model::RunKind kind, WallTime scheduled, WallTime recorded) {
  return kind == model::RunKind::Child ? recorded : scheduled;
}

std::string expected_words(const model::JobRules& rules, const LateRow& row) {
  switch (row.what) {
    case ToldOnce::StartWithin:
      return "did not start within " + format_duration(rules.expect_start_within);
    case ToldOnce::FinishBy:
      return fmt::format("has not succeeded by {} ({})", rules.expect_finish_by,
                         format_moment(row.due.value_or(WallTime{})));
    default:
      return fmt::format("takes longer than {} ({})", rules.expect_longer_than, format_duration(row.limit));
  }
}

LateRow row_of(Context& ctx, const JobEntry& job, ToldOnce what) {
  LateRow row;
  row.job = job.row.id;
  row.what = what;
  row.space = job.row.space();
  row.job_name = job.row.name;
  row.epoch = ctx.state.epoch();
  row.told = ctx.at;
  return row;
}

void tell(Context& ctx, const JobEntry& job, LateRow row, std::string text) {
  ++ctx.state.counters().late_told;
  const RunId run = row.run;
  const std::optional<WallTime> tick = row.tick;
  ctx.out.changes.late.push_back(std::move(row));
  notify_of_job(ctx, model::Happening::Late, job, {run, tick, std::move(text)});
}

void tell_of_run(Context& ctx, const RunEntry& run, Expected& expected, ToldOnce what,
                 std::optional<WallTime> due, Millis limit = Millis{0}) {
  expected.told.set(bit(what));
  LateRow row = row_of(ctx, run.job(), what);
  row.run = run.id();
  row.tick = run.row().tick;
  row.due = due;
  row.was = std::string(name_of(run.progress().state));
  row.limit = limit;
  std::string text = fmt::format("run {} {}: it is {} ({})", run.id().value, expected_words(run.rules(), row),
                                 row.was, name_of(run.progress().reason));
  tell(ctx, run.job(), std::move(row), std::move(text));
}

/// Start and finish of what will never run.
void tell_of_none(Context& ctx, const JobEntry& job, const LateRow& like, std::string_view why) {
  const model::JobRules& rules = job.rules();
  for (const ToldOnce what : {ToldOnce::StartWithin, ToldOnce::FinishBy}) {
    LateRow row = like;
    row.what = what;
    if (what == ToldOnce::StartWithin) {
      if (rules.expect_start_within <= Millis{0}) continue;
      row.due = like.due.value_or(WallTime{}) + rules.expect_start_within;
    } else {
      row.due = finish_by_in(ctx.state, rules, like.tick);
      if (!row.due) continue;
    }
    auto& told_paused = ctx.state.expects().told_paused();
    if (row.was == model::kWasPaused && !told_paused.insert({row.job, *row.tick, what}).second) continue;
    tell(ctx, job, row, fmt::format("{} {}", why, expected_words(rules, row)));
  }
}

/// True: it is looked at again, since its worker may be about to tell its end.
bool is_awaited(Context& ctx, const RunEntry& run, ToldOnce what) {
  const Millis led = std::chrono::duration_cast<Millis>(ctx.now.mono - ctx.state.began());
  if (!run.is_held() || led >= kEndAwaitedInNewTerm) return false;
  ctx.state.expects().look_at(ctx.at + (kEndAwaitedInNewTerm - led), run.id(), what);
  return true;
}

void look_at_length(Context& ctx, const RunEntry& run, Expected& expected) {
  const RunFactsNow facts = facts_now(run);
  const auto limit = limit_now(ctx.state, run);
  if (!facts.begun || !limit) return;
  const WallTime at = *facts.begun + *limit + kEndAwaited;
  if (at > ctx.at) return ctx.state.expects().look_at(at, run.id(), ToldOnce::LongerThan);
  if (is_awaited(ctx, run, ToldOnce::LongerThan)) return;
  tell_of_run(ctx, run, expected, ToldOnce::LongerThan, std::nullopt, *limit);
}

void look_at_run(Context& ctx, const RunEntry& run, ToldOnce what) {
  Expected* expected = ctx.state.expects().find(run.id());
  if (expected == nullptr || expected->told[bit(what)]) return;
  switch (what) {
    case ToldOnce::StartWithin:
      if (started_in_time(facts_now(run), *expected->start_by)) return;
      return tell_of_run(ctx, run, *expected, what, expected->start_by);
    case ToldOnce::FinishBy:
      if (is_awaited(ctx, run, what)) return;
      return tell_of_run(ctx, run, *expected, what, expected->finish_by);
    default: return look_at_length(ctx, run, *expected);
  }
}

/// The first tick that this version's pause keeps from firing. A job that its rules have ended has none.
std::optional<WallTime> first_paused(const JobEntry& job) {
  const bool is_paused = job.row.state == model::JobState::Paused && !job.row.one_off;
  if (!is_paused || !expects_of_tick(job.rules())) return std::nullopt;
  if (!why_over(job).empty() && !is_paused_by_failures(job)) return std::nullopt;
  return job.schedule().next_after(job.valid_from);
}

void look_at_paused(Context& ctx, const DueTick& due) {
  ctx.state.expects().paused().erase(due);
  const JobEntry* job = ctx.state.find_job(due.job);
  const auto first = job == nullptr ? std::nullopt : first_paused(*job);
  if (!first) return;
  if (*first > ctx.at) return ctx.state.expects().paused().insert({*first, due.job});
  LateRow row = row_of(ctx, *job, ToldOnce::StartWithin);
  row.tick = row.due = *first;
  row.was = std::string(model::kWasPaused);
  tell_of_none(ctx, *job, row, "a tick does not fire, since the job is paused, so it");
}

void note_pace(Context& ctx, const RunEntry& run, const RunFactsNow& facts) {
  const std::string& longer = run.job().rules().expect_longer_than;
  const bool has_length = facts.state == RunState::Succeeded && facts.begun && facts.ended;
  const bool counts = longer.ends_with('x') && has_length;
  if (!counts || run.job().row.one_off) return;
  const model::JobPace* known = ctx.state.expects().pace(run.row().job);
  model::JobPace pace = known == nullptr ? model::JobPace{} : *known;
  pace.job = run.row().job;
  ++pace.successes;
  pace.last.push_back(std::max(*facts.ended - *facts.begun, Millis{0}));
  if (pace.last.size() > model::kPaceKept) pace.last.erase(pace.last.begin());
  ctx.out.changes.paces.push_back(pace);
  ctx.state.expects().put_pace(std::move(pace));
}

}  // namespace

void expect_run(State& state, const RunEntry& run) {
  const model::JobRules& rules = run.rules();
  if (!expects_of_run(rules)) return;
  ExpectTable& table = state.expects();
  table.want_mark();
  Expected& expected = table.add(run.id(), {});
  if (rules.expect_start_within > Millis{0}) {
    expected.start_by = start_counts_from(run.row().kind, run.row().scheduled, run.row().recorded) +
                        rules.expect_start_within;
    table.look_at(*expected.start_by, run.id(), ToldOnce::StartWithin);
  }
  expected.finish_by = finish_by_in(state, rules, run.row().tick);
  if (expected.finish_by) table.look_at(*expected.finish_by + kEndAwaited, run.id(), ToldOnce::FinishBy);
  expect_length(state, run);
}

void expect_length(State& state, const RunEntry& run) {
  if (run.rules().expect_longer_than.empty()) return;
  const auto begun = facts_now(run).begun;
  const auto limit = limit_now(state, run);
  if (begun && limit) state.expects().look_at(*begun + *limit + kEndAwaited, run.id(), ToldOnce::LongerThan);
}

void settle_expectations(Context& ctx, const RunEntry& run) {
  const RunFactsNow facts = facts_now(run);
  if (Expected* expected = ctx.state.expects().find(run.id())) {
    const auto is_open = [&](ToldOnce what) { return !expected->told[bit(what)]; };
    if (expected->start_by && is_open(ToldOnce::StartWithin) &&
        !started_in_time(facts, *expected->start_by)) {
      tell_of_run(ctx, run, *expected, ToldOnce::StartWithin, expected->start_by);
    }
    if (expected->finish_by && is_open(ToldOnce::FinishBy) &&
        !finished_in_time(facts, *expected->finish_by)) {
      tell_of_run(ctx, run, *expected, ToldOnce::FinishBy, expected->finish_by);
    }
    const auto limit = limit_now(ctx.state, run);
    if (limit && is_open(ToldOnce::LongerThan) && !kept_to_length(facts, *limit, ctx.at)) {
      tell_of_run(ctx, run, *expected, ToldOnce::LongerThan, std::nullopt, *limit);
    }
    ctx.state.expects().erase(run.id());
  }
  note_pace(ctx, run, facts);
}

void expect_skipped(Context& ctx, const JobEntry& job, const model::Run& run) {
  if (!expects_of_tick(job.rules())) return;
  ctx.state.expects().want_mark();
  LateRow row = row_of(ctx, job, ToldOnce::StartWithin);
  row.run = run.id;
  row.due = start_counts_from(run.kind, run.scheduled, run.recorded);
  row.was = std::string(name_of(run.progress.state));
  tell_of_none(ctx, job, row, fmt::format("run {} was skipped ({}), so it", run.id.value,
                                          name_of(run.progress.reason)));
}

void expect_gap(Context& ctx, const JobEntry& job, const model::Gap& gap) {
  if (!expects_of_tick(job.rules()) || gap.reason == model::Reason::CalendarEdited) return;
  ctx.state.expects().want_mark();
  LateRow row = row_of(ctx, job, ToldOnce::StartWithin);
  row.tick = row.due = gap.from;
  row.was = std::string(name_of(gap.reason));
  tell_of_none(ctx, job, row, fmt::format("a tick did not fire ({}), so it", row.was));
}

void expect_paused(State& state, const JobEntry& job) {
  if (!expects_of_run(job.rules())) return;
  state.expects().want_mark();
  if (const auto first = first_paused(job)) state.expects().paused().insert({*first, job.row.id});
}

void tell_expectations(Context& ctx) {
  if (ctx.state.ticks().are_held()) return;
  ExpectTable& table = ctx.state.expects();
  while (const auto due = table.pop_due(ctx.at)) {
    const RunEntry* run = ctx.state.find_run(std::get<RunId>(*due));
    if (run == nullptr || model::is_final(run->progress().state)) continue;
    look_at_run(ctx, *run, std::get<ToldOnce>(*due));
  }
  while (const auto paused = table.paused().first()) {
    if (paused->at > ctx.at) break;
    look_at_paused(ctx, *paused);
  }
}

void tell_dead_workers(Context& ctx) {
  if (!ctx.state.listings().is_listed()) return;
  ExpectTable& table = ctx.state.expects();
  while (const auto away = table.first_away()) {
    if (ctx.at - away->left < ctx.state.options().dead_after) return;
    table.note_back(away->worker);
    table.note_told_dead(away->worker, away->left);
    LateRow row;
    row.what = ToldOnce::WorkerDead;
    row.worker = away->worker;
    row.tick = away->left;
    row.epoch = ctx.state.epoch();
    row.told = ctx.at;
    ctx.out.changes.late.push_back(std::move(row));
    ctx.out.changes.forget_dead =
        ctx.at - std::max(kForgottenDead, ctx.state.options().keep_notifications);
    scale_after_death(ctx, away->worker);
    notify_of_cluster(ctx, model::Happening::WorkerDead, away->worker,
                      fmt::format("worker {} is dead: away since {}: {}", away->worker,
                                  format_moment(away->left), away->why));
  }
}

void mark_expecting_term(Context& ctx) {
  if (!ctx.state.expects().mark()) return;
  LateRow row;
  row.what = ToldOnce::Term;
  row.run = RunId{ctx.state.epoch().value};
  row.epoch = ctx.state.epoch();
  row.told = ctx.at;
  ctx.out.changes.late.push_back(std::move(row));
}

void recover_told(State& state, const std::vector<LateRow>& rows) {
  ExpectTable& table = state.expects();
  for (const LateRow& row : rows) {
    if (row.what == ToldOnce::WorkerDead && row.tick) table.note_told_dead(row.worker, *row.tick);
    if (row.was == model::kWasPaused && row.tick) table.told_paused().insert({row.job, *row.tick, row.what});
    const bool is_of_run = bit(row.what) < 3 && row.run != RunId{};
    Expected* expected = is_of_run ? table.find(row.run) : nullptr;
    if (expected != nullptr) expected->told.set(bit(row.what));
  }
}

void recover_away(State& state, const std::string& worker, WallTime left, const std::string& why) {
  const bool is_old = state.core_time() - left > state.options().dead_after + kDeadToldWithin;
  if (why != kWasStopped && !is_old) state.expects().note_away(worker, left, why);
}

std::optional<Millis> expect_wake(const State& state, Now now) {
  std::optional<Millis> wake;
  const auto at = [&](WallTime moment) {
    const Millis in = moment <= state.core_time() ? Millis{0} : std::max(moment - now.wall, Millis{0});
    wake = std::min(wake.value_or(in), in);
  };
  if (const auto first = state.expects().first(); first && !state.ticks().are_held()) at(*first);
  const auto away = state.expects().first_away();
  if (away && state.listings().is_listed()) at(away->left + state.options().dead_after);
  return wake;
}

}  // namespace rota::master::core
