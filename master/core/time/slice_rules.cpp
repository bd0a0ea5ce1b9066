#include "master/core/time/slice_rules.h"

#include <algorithm>

#include "common/base/check.h"
#include "master/core/admission/late_rules.h"
#include "master/core/batch_rows.h"
#include "master/core/time/time_rules.h"

namespace rota::master::core {
namespace {

constexpr Millis kMoment{1};                // times are whole milliseconds
constexpr Millis kLongestSlice{60'000};     // in it a job fires at most 600 times
constexpr std::int64_t kLookedAtMost = 50'000;
constexpr std::int64_t kAheadShare = 4;     // of a batch: for what fires often, and for what came later

/// Rows of ticks that this batch and those before it have made.
std::int64_t rows_made(const Context& ctx) {
  return ctx.state.counters().ticks_fired + static_cast<std::int64_t>(ctx.out.changes.gaps.size());
}

/// Rows that its late ticks make: a run and a gap, or a run for each of them.
std::int64_t late_rows(const JobEntry& job, WallTime first, WallTime edge, std::int64_t most) {
  if (job.rules().late != model::LatePolicy::FireAll) return 2;
  const std::int64_t enough = std::min(kCaughtUpOfJob, most + 1);
  return 1 + job.schedule().count_between(first - kMoment, edge, enough);
}

/// Whether the ticks through `end` make at most so many rows.
bool fits(const Context& ctx, WallTime end, std::int64_t most) {
  std::int64_t left = most;
  for (const auto& [tick, id] : ctx.state.jobs().due()) {
    if (tick > end || left < 0) break;
    const JobEntry& job = *ctx.state.find_job(id);
    const WallTime edge = late_edge(ctx, job);
    if (tick <= edge) left -= late_rows(job, tick, edge, left);
    left -= job.schedule().count_between(std::max(tick - kMoment, edge), end, left + 1);
  }
  return left >= 0;
}

bool all_fit(const Context& ctx, std::int64_t most) {
  const JobTable& jobs = ctx.state.jobs();
  const bool is_just_due = ctx.at - jobs.first_due()->at <= Millis{1000};
  if (is_just_due && jobs.due_count() <= static_cast<std::size_t>(most)) return true;
  return fits(ctx, ctx.at, most);
}

/// The latest moment through which the ticks of all jobs fit into one batch; empty: not even the first does.
std::optional<WallTime> fitting_end(const Context& ctx, std::int64_t most) {
  const WallTime first = ctx.state.jobs().first_due()->at;
  WallTime end = ctx.at;
  while (!fits(ctx, end, most)) {
    if (end <= first) return std::nullopt;
    end = first + (end - first) / 2;
  }
  return end;
}

void record_whole(Context& ctx, WallTime end) {
  State& state = ctx.state;
  for (auto next = state.jobs().first_due(); next && next->at <= end; next = state.jobs().first_due()) {
    record_ticks_through(ctx, *state.find_job(next->job), end);
  }
  state.ticks().record_all(end);
}

/// Up to here ticks are late for every job: they make at most two rows of a job, however many they are.
WallTime all_late(const Context& ctx) { return ctx.at - ctx.state.jobs().longest_grace() - kMoment; }

void begin_slice(Context& ctx) {
  State& state = ctx.state;
  const WallTime first = state.jobs().first_due()->at;
  const WallTime end = std::min(ctx.at, std::max(first + kLongestSlice, all_late(ctx)));
  state.ticks().begin_slice(first - kMoment, end);
  ++state.counters().tick_slices;
}

/// A slice is started when even one moment is too much, and for a backlog that is late for all jobs, which
/// would otherwise make a row of each job for each moment. It is not started while an older master is
/// registered that could not read it.
void fire_all_or_begin(Context& ctx, std::int64_t most) {
  const bool may_slice = ctx.state.ticks().all_know_slices();
  const std::optional<DueTick> next = ctx.state.jobs().first_due();
  if (!next || next->at > ctx.at || all_fit(ctx, most)) return record_whole(ctx, ctx.at);
  const WallTime first = next->at;
  if (may_slice && first <= all_late(ctx)) return begin_slice(ctx);
  const auto end = fitting_end(ctx, most);
  if (!end && may_slice) return begin_slice(ctx);
  record_whole(ctx, end.value_or(first));
}

/// The next jobs of the slice, in order of their ids.
void record_part(Context& ctx, std::int64_t most) {
  State& state = ctx.state;
  const WallTime end = state.ticks().watermark().reaching;
  const std::int64_t enough = rows_made(ctx) + most;
  const auto rest = state.jobs().after(state.ticks().watermark().job);
  auto at = rest.begin();
  for (std::int64_t looked_at = 0; at != rest.end(); ++at) {
    if (rows_made(ctx) >= enough || ++looked_at > kLookedAtMost) break;
    JobEntry& job = at->second;
    if (job.next_tick() && *job.next_tick() <= end) record_ticks_through(ctx, job, end);
    state.ticks().pass_job(at->first);
  }
  const std::optional<DueTick> next = state.jobs().first_due();
  const bool is_over = !next || next->at > end;
  CHECK_OR_DIE(is_over || at != rest.end(), "a slice passed a job that is due in it");
  if (is_over) state.ticks().end_slice();
}

void record_ahead(Context& ctx, JobEntry& job) {
  const WallTime through = std::min(ctx.at, *job.next_tick() + kLongestSlice);
  record_ticks_through(ctx, job, through);
  job.row.ticks_through = through;
  write_job(ctx, job);
}

/// Jobs that do not wait for their turn in the slice; the one that has been due longest comes first.
void record_others(Context& ctx, std::int64_t most) {
  State& state = ctx.state;
  std::int64_t enough = rows_made(ctx) + most;
  while (rows_made(ctx) < enough) {
    const std::optional<DueTick> next = state.jobs().first_due_often();
    if (!next || next->at > ctx.at) break;
    record_ahead(ctx, *state.find_job(next->job));
  }
  enough = rows_made(ctx) + most;
  while (rows_made(ctx) < enough) {
    const std::optional<DueTick> next = state.jobs().first_due_after(state.ticks().watermark().reaching);
    if (!next || next->at > ctx.at) break;
    record_ahead(ctx, *state.find_job(next->job));
  }
}

}  // namespace

void fire_due(Context& ctx, std::int64_t most) {
  State& state = ctx.state;
  if (state.ticks().are_held()) return;
  if (!state.ticks().watermark().is_parted()) fire_all_or_begin(ctx, most);
  if (!state.ticks().watermark().is_parted()) return;
  record_others(ctx, std::max<std::int64_t>(most / kAheadShare, 1));
  record_part(ctx, most);
}

}  // namespace rota::master::core
