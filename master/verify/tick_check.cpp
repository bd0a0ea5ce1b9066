#include "master/verify/tick_check.h"

#include <algorithm>

#include "common/base/duration_text.h"
#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

constexpr std::int32_t kTickPage = 1000;
constexpr std::int64_t kTicksBetweenLooksAtTheClock = 4096;

/// The watermark's answer, or a later one: its own row may say more, and a version is closed only once all
/// its ticks are recorded.
WallTime recorded_through(const core::Watermark& watermark, const model::Job& job,
                          const std::vector<model::JobVersionRow>& versions) {
  WallTime through = std::max(watermark.of(job.id), job.ticks_through.value_or(WallTime{}));
  for (const model::JobVersionRow& version : versions) {
    if (version.valid_to) through = std::max(through, *version.valid_to);
  }
  return through;
}

}  // namespace

Result<void> TickCheck::look_at(const model::Job& job, TickRows rows, MonoTime deadline) {
  if (auto begun = begin(job, rows); !begun) return begun;
  const CalendarRows calendars = [this](const std::string& space, const std::string& name) {
    return sources_.reader.calendar_versions(space, name);
  };
  for (const model::JobVersionRow& version : rows.versions) {
    auto planned = PlannedTicks::of(version, sources_.zones, recorded_, first_moment(), calendars);
    if (!planned) {
      wrong(ticks_, fmt::format("job \"{}\" version {}: {}", name_, version.version,
                                planned.error().message));
      continue;
    }
    if (planned->has_after_end()) after_end_.emplace(version.version, *planned);
    if (auto looked = look_at(version, *planned, deadline); !looked) return looked;
  }
  // What is left so far was never planned.
  if (auto rest = count_runs_before(recorded_ + Millis{1}); !rest) return rest;
  if (auto judged = judge_gaps(); !judged) return judged;
  const EndFacts facts{job, rows.versions, recorded_, first_moment(), !rewinds_.empty()};
  if (auto looked = ends_.look_at(facts, deadline); !looked) return looked;
  return look_beyond(rows.runs.has_value());
}

/// Its ticks, and between them the moments that edits of calendars took away.
Result<void> TickCheck::look_at(const model::JobVersionRow& version, PlannedTicks& planned,
                                MonoTime deadline) {
  auto edited = planned.edited_away().lower_bound(first_moment());
  const auto edited_before = [&](std::optional<WallTime> tick) -> Result<void> {
    for (; edited != planned.edited_away().end() && (!tick || *edited < *tick); ++edited) {
      if (auto matched = match_edited_away(version, *edited); !matched) return matched;
    }
    if (edited != planned.edited_away().end() && *edited == *tick) ++edited;  // it fires by another entry
    return {};
  };
  while (const auto tick = planned.next()) {
    if (++looked_at_ % kTicksBetweenLooksAtTheClock == 0 && BootClock::now() > deadline) {
      return fail(ErrorCode::TimedOut, "verify did not end within its deadline; ask for less");
    }
    if (*tick < first_moment()) continue;
    if (auto matched = edited_before(tick); !matched) return matched;
    if (auto matched = match(version, *tick); !matched) return matched;
  }
  return edited_before(std::nullopt);
}

Result<void> TickCheck::begin(const model::Job& job, TickRows& rows) {
  job_ = job.id;
  name_ = job.name;
  recorded_ = recorded_through(watermark_, job, rows.versions);
  gone_through_ = rows.gone_through.value_or(WallTime{});
  first_moment_ = request_.since.value_or(wall_from_ms(0));
  if (gone_through_ > WallTime{}) first_moment_ = std::max(first_moment_, gone_through_ + Millis{1});
  read_through_ = first_moment() - Millis{1};
  highest_ = Epoch{};
  beyond_.reset();
  after_end_.clear();
  last_tick_.reset();
  begin_runs(rows);
  return begin_gaps(rows);
}

/// Those at hand, or none yet: then they are read page by page.
void TickCheck::begin_runs(TickRows& rows) {
  page_.clear();
  all_read_ = rows.runs.has_value();
  if (!all_read_) return;
  for (model::Run& run : *rows.runs) {
    if (!run.tick || *run.tick < first_moment()) continue;
    if (*run.tick > recorded_) {
      if (was_rewound(run)) continue;
      beyond_ = run.tick;
      break;
    }
    page_.push_back(std::move(run));
  }
}

Result<void> TickCheck::begin_gaps(TickRows& rows) {
  gaps_.clear();
  first_open_gap_ = 0;
  auto gaps = rows.gaps ? Result<std::vector<model::Gap>>(std::move(*rows.gaps))
                        : sources_.reader.gaps_of(job_);
  if (!gaps) return fail(gaps.error());
  for (model::Gap& gap : *gaps) {
    if (gap.from <= recorded_ && gap.to >= first_moment()) gaps_.push_back({std::move(gap), 0});
  }
  std::ranges::stable_sort(gaps_, {}, [](const GapSeen& gap) { return gap.row.from; });
  return {};
}

/// By what stands now. A job that is not saved any more was deleted, which recorded all of its ticks.
Result<WallTime> TickCheck::recorded_now() {
  const auto watermark = sources_.reader.watermark();
  if (!watermark) return fail(watermark.error());
  const auto job = sources_.reader.saved_jobs(JobId{job_.value - 1}, 1);
  if (!job) return fail(job.error());
  if (job->empty() || job->front().id != job_) return kEndOfTime;
  const auto versions = sources_.reader.versions_of(job_);
  if (!versions) return fail(versions.error());
  return recorded_through(watermark->value_or(wall_from_ms(0)), job->front(), *versions);
}

Result<void> TickCheck::look_at_gone() {
  const auto gone = sources_.reader.gone_through(job_);
  if (!gone) return fail(gone.error());
  gone_through_ = std::max(gone_through_, gone->value_or(WallTime{}));
  return {};
}

/// Retention goes on meanwhile; it says so before it deletes.
Result<bool> TickCheck::is_gone(WallTime tick) {
  if (tick <= gone_through_) return true;
  if (auto looked = look_at_gone(); !looked) return fail(looked.error());
  return tick <= gone_through_;
}

std::string TickCheck::place(WallTime tick) const {
  return fmt::format("job \"{}\" tick {}", name_, format_moment(tick));
}

Result<void> TickCheck::match(const model::JobVersionRow& version, WallTime tick) {
  if (auto taken = count_runs_before(tick); !taken) return taken;
  ++ticks_.planned;
  std::int64_t runs = 0;
  for (;;) {
    const auto run = next_run();
    if (!run) return fail(run.error());
    if (*run == nullptr || *(*run)->tick != tick) break;
    ++runs;
    count_run(**run);
    if ((*run)->version != version.version && !was_rewound(**run)) {
      wrong(ticks_, place(tick) + fmt::format(": run {} is of version {}, planned by version {}",
                                              (*run)->id.value, (*run)->version, version.version));
    }
    page_.pop_front();
  }
  return judge(tick, runs, cover(version.version, tick, false));
}

/// No run, but a gap row that says so; unless the job was due then after the end of a run. Masters of older
/// versions wrote no such rows.
Result<void> TickCheck::match_edited_away(const model::JobVersionRow& version, WallTime moment) {
  if (auto counted = count_runs_before(moment + Millis{1}); !counted) return counted;
  const bool has_run = last_tick_ == moment;
  const std::int64_t gaps = cover(version.version, moment, true);
  const bool is_demanded = edits_told_from_ && moment > *edits_told_from_;
  if (gaps == 0 && (has_run || !is_demanded)) return {};
  if (!has_run) ++ticks_.planned;
  return judge(moment, has_run ? 1 : 0, gaps);
}

// Runs before the next planned tick have no plan behind them.
Result<void> TickCheck::count_runs_before(WallTime tick) {
  for (;;) {
    const auto run = next_run();
    if (!run) return fail(run.error());
    if (*run == nullptr || *(*run)->tick >= tick) return {};
    const bool is_planned = is_after_end(**run);
    count_run(**run);
    if (is_planned) {
      ++ticks_.planned;
      ++ticks_.fired;
    } else if (!was_rewound(**run)) {
      wrong(ticks_, place(*(*run)->tick) + fmt::format(": run {} was not planned", (*run)->id.value));
    }
    page_.pop_front();
  }
}

Result<const model::Run*> TickCheck::next_run() {
  while (page_.empty() && !all_read_) {
    auto runs = sources_.reader.tick_runs_of(job_, read_through_, recorded_, kTickPage);
    if (!runs) return fail(runs.error());
    all_read_ = runs->size() < static_cast<std::size_t>(kTickPage);
    for (model::Run& run : *runs) {
      if (!run.tick) continue;
      read_through_ = *run.tick;
      page_.push_back(std::move(run));
    }
  }
  return page_.empty() ? nullptr : &page_.front();
}

/// It fired ahead of its time, which an operator has rewound since: it stands beyond the watermark that was
/// set then, behind it comes what is recorded anew, and what was edited ahead is now valid sooner.
bool TickCheck::was_rewound(const model::Run& run) const {
  return std::ranges::any_of(rewinds_, [&](const store::PastRewind& rewind) {
    return rewind.keeps(epoch_of(run.id), *run.tick);
  });
}

/// A tick that hangs on the end of the run before. That one's row may be gone, its tick says enough.
bool TickCheck::is_after_end(const model::Run& run) const {
  const auto version = after_end_.find(run.version);
  return version != after_end_.end() && version->second.may_be_after_end(*run.tick, last_tick_);
}

void TickCheck::count_run(const model::Run& run) {
  last_tick_ = run.tick;
  max_lateness_ = std::max(max_lateness_, run.recorded - *run.tick);
  if (was_rewound(run)) return;
  count_epoch(epoch_of(run.id), fmt::format("run {} of {}", run.id.value, place(*run.tick)));
}

// Ticks are recorded in their order, so along them the recording epoch never falls, whatever the
// clocks of the masters say.
void TickCheck::count_epoch(Epoch epoch, const std::string& what) {
  ++epochs_.planned;
  if (epoch < highest_) {
    wrong(epochs_, fmt::format("{} is of epoch {}, after rows of epoch {}", what, epoch.value,
                               highest_.value));
  }
  highest_ = std::max(highest_, epoch);
}

/// How many gap rows stand for it. Those of moments that were edited away say so, and stand for nothing else.
std::int64_t TickCheck::cover(JobVersion version, WallTime tick, bool is_edited_away) {
  while (first_open_gap_ < gaps_.size() && gaps_[first_open_gap_].row.to < tick) ++first_open_gap_;
  std::int64_t covering = 0;
  for (std::size_t i = first_open_gap_; i < gaps_.size() && gaps_[i].row.from <= tick; ++i) {
    GapSeen& gap = gaps_[i];
    if (gap.row.to < tick || gap.row.version != version) continue;
    if ((gap.row.reason == model::Reason::CalendarEdited) != is_edited_away) continue;
    if (gap.covered++ == 0) {
      count_epoch(gap.row.epoch, fmt::format("the gap at {}", place(gap.row.from)));
    }
    ++covering;
  }
  return covering;
}

Result<void> TickCheck::judge(WallTime tick, std::int64_t runs, std::int64_t gaps) {
  if (runs > 0) ++ticks_.fired;
  if (gaps > 0) ++ticks_.skipped;
  if (runs + gaps > 1) {
    wrong(ticks_, place(tick) + fmt::format(": {} runs and {} gap rows", runs, gaps));
  } else if (runs + gaps == 0) {
    const auto gone = is_gone(tick);
    if (!gone) return fail(gone.error());
    if (!*gone) miss(ticks_, place(tick) + ": neither a run nor a gap row");
  }
  return {};
}

/// A tick is frozen exactly when a freeze says so; retention does not delete freezes.
Result<void> TickCheck::judge_frozen(const model::Gap& gap) {
  if (!freezes_) {
    auto freezes = sources_.reader.freezes();
    if (!freezes) return fail(freezes.error());
    freezes_ = std::move(*freezes);
  }
  const auto named = std::ranges::find(*freezes_, gap.reference, &model::Freeze::id);
  const bool is_covered = named != freezes_->end() && named->covers(gap.from) && named->covers(gap.to);
  const bool is_older = !freezes_->empty() && freezes_->size() >= 1000 && gap.reference < freezes_->back().id;
  if (!is_covered && !is_older) {
    wrong(ticks_, fmt::format("job \"{}\" gap {} to {}: freeze {} does not cover it", name_,
                              format_moment(gap.from), format_moment(gap.to), gap.reference));
  }
  return {};
}

Result<void> TickCheck::judge_gaps() {
  for (const GapSeen& gap : gaps_) {
    if (gap.row.reason == model::Reason::Frozen) {
      if (auto judged = judge_frozen(gap.row); !judged) return judged;
    }
    const bool seen_whole = gap.row.from >= first_moment() && gap.row.to <= recorded_;
    if (!seen_whole || gap.covered == gap.row.count) continue;
    wrong(ticks_, fmt::format("job \"{}\" gap {} to {}: it says {} ticks, {} were planned in it",
                              name_, format_moment(gap.row.from), format_moment(gap.row.to),
                              gap.row.count, gap.covered));
  }
  return {};
}

// The leader goes on meanwhile: what lies beyond what was recorded first is wrong only when it lies
// beyond what is recorded now.
Result<void> TickCheck::look_beyond(bool at_hand) {
  for (WallTime read_through = recorded_; !at_hand && !beyond_;) {
    const auto runs = sources_.reader.tick_runs_of(job_, read_through, kEndOfTime, kTickPage);
    if (!runs) return fail(runs.error());
    for (const model::Run& run : *runs) {
      if (run.tick) read_through = *run.tick;
      if (run.tick && !beyond_ && !was_rewound(run)) beyond_ = run.tick;
    }
    at_hand = runs->size() < static_cast<std::size_t>(kTickPage);
  }
  if (!beyond_) return {};
  const auto now = recorded_now();
  if (!now) return fail(now.error());
  if (*beyond_ <= *now) return {};
  wrong(ticks_, place(*beyond_) + ": recorded beyond the watermark");
  return {};
}

}  // namespace rota::master::verify
