// What the model's world says of the rows that the core has made.
#include <doctest/doctest.h>

#include <algorithm>

#include <fmt/format.h>

#include "world.h"

namespace rota::when_model {

using namespace master::core;

namespace {

constexpr Ms kPlannedAhead = 12 * kDay;

/// Which words of docs/reasons.md say so.
bool says(model::Reason reason, Why why) {
  using model::Reason;
  switch (why) {
    case Why::Coalesced: return reason == Reason::CoalescedInto;
    case Why::LateSkipped: return reason == Reason::LateSkipped;
    case Why::LateBounded: return reason == Reason::LateBounded;
    case Why::Frozen: return reason == Reason::Frozen;
    case Why::Edited: return reason == Reason::CalendarEdited;
    case Why::Overlap: break;
  }
  return reason == Reason::OverlapSkipped || reason == Reason::QueueFull || reason == Reason::Missed;
}

const char* word_of(Why why) {
  static constexpr const char* kWords[] = {"skipped for overlap", "coalesced", "late and skipped", "late and bounded",
                                           "frozen", "taken away by edits"};
  return kWords[static_cast<int>(why)];
}

}  // namespace

void World::count(const std::string& kind, std::int64_t number) {
  tally_.events += number;
  tally_.kinds[kind] += number;
}

void World::differ(const Job& job, const std::string& what) {
  ++tally_.differences;
  if (tally_.differences > 10) return;
  std::string lines;
  for (const PlainEntry& entry : job.entries) lines += "\n    " + entry.line;
  lines += fmt::format("\n    late {} grace {} overlap {} firings {} of {} until {} failures {} of {}, since {}, recorded {}",
                       static_cast<int>(job.rules.late), job.rules.grace, static_cast<int>(job.rules.overlap), job.fired,
                       job.rules.firings, job.rules.until_success, job.failures, job.rules.pause_after, job.valid_from,
                       job.recorded);
  CHECK_MESSAGE(false, job.name, " version ", job.version, " at ", at_, ": ", what, lines);
}

void World::ensure_plan(Job& job, Ms through) {
  if (job.planned_through >= through && job.planned_from <= job.recorded) return;
  job.plan = Plan{};
  job.planned_from = job.recorded;
  job.planned_through = std::max(through, job.recorded) + kPlannedAhead;
  for (const PlainEntry& entry : job.entries) {
    add_plan(entry, calendars_, job.anchor, job.recorded, job.planned_through, job.plan);
  }
}

std::map<Ms, Ms> World::ticks_of(const Job& job, Ms after, Ms through) const {
  return {job.plan.ticks.upper_bound(after), job.plan.ticks.upper_bound(through)};
}

/// The job's ticks up to now, in the event that has just been handled.
void World::judge(Job& job, const Standing& standing, bool is_recorded) {
  const auto over = judge_ticks(job, standing, is_recorded);
  if (!job.deleted) judge_end(job, over.has_value(), over);
}

/// A hold is over in which a run ended it: nothing that was planned for later is decided.
void World::judge_over(Job& job, const Standing& standing) {
  const auto over = judge_ticks(job, standing, true);
  judge_end(job, true, over);
  job.over_since.reset();
  judge_state(job);
  count("ended while held");
}

/// Gives the tick that was its last one.
std::optional<Ms> World::judge_ticks(Job& job, Standing standing, bool is_recorded) {
  if (job.deleted) return std::nullopt;
  Expected expected;
  if (is_recorded && job.enabled) {
    ensure_plan(job, at_);
    const Ms through = job.over_since.value_or(at_);
    const std::map<Ms, Ms> ticks = ticks_of(job, job.recorded, through);
    const std::vector<Frozen> freezes = job.space == "default" ? freezes_ : std::vector<Frozen>{};
    expected = Decision(job.rules, at_, standing, job.fired).decide(ticks, freezes);
    for (const auto& [id, frozen] : expected.frozen) {
      auto& all = job.frozen[id];
      all.insert(all.end(), frozen.begin(), frozen.end());
    }
    if (job.has_after_end()) judge_after_end(job, standing, expected);
    for (const Ms moment : job.plan.edited_away) {
      const bool is_after_end = expected.over && moment > *expected.over;
      const bool is_now = moment > job.recorded && moment <= through && !is_after_end;
      if (is_now && !job.plan.ticks.contains(moment)) expected.gaps[moment] = Why::Edited;
    }
    for (const Ms tick : expected.fired) {
      const auto known = ticks.find(tick);
      if (known == ticks.end() || known->second == 0) continue;
      for (const auto& [id, run] : h_->runs) {
        if (run.job == job.id && run.tick && to_ms(*run.tick) == tick) not_before_[id] = h_->now.mono + Millis{tick + known->second - at_};
      }
    }
  }
  judge_rows(job, expected);
  if (is_recorded) job.recorded = at_;
  job.caught_up = standing.late;
  return expected.over;
}

/// It has no plan by the clock: it is due so long after the end of the last run.
void World::judge_after_end(Job& job, const Standing& standing, Expected& expected) {
  if (!job.due || *job.due > job.over_since.value_or(at_)) return;
  const Ms due = *job.due;
  job.due.reset();
  if (at_ - due > job.rules.grace && job.rules.late == Late::Skip) {
    job.due = open_from(job.entries.front(), calendars_, at_ + job.entries.front().interval);
  } else if (standing.begun + standing.late == 0) {
    expected.fired.insert(due);
    ++tally_.kinds["fired after an end"];  // counted as fired too
    if (job.rules.firings > 0 && ++job.fired >= job.rules.firings) expected.over = due;
  }
}

void World::judge_rows(Job& job, const Expected& expected) {
  const std::set<Ms> fired = std::exchange(fired_[job.id], {});
  if (fired != expected.fired) {
    std::string what = fmt::format("{} ticks fired, {} should", fired.size(), expected.fired.size());
    for (const Ms tick : fired) {
      if (!expected.fired.contains(tick)) { what += fmt::format("; {} should not", tick); break; }
    }
    for (const Ms tick : expected.fired) {
      if (!fired.contains(tick)) { what += fmt::format("; {} should", tick); break; }
    }
    differ(job, what);
  }
  count("fired", static_cast<std::int64_t>(expected.fired.size()));
  std::map<Ms, int> covered;
  for (const model::Gap& gap : h_->gaps) {
    if (gap.job != job.id) continue;
    std::int64_t number = 0;
    if (gap.version != job.version) differ(job, fmt::format("a gap of version {}", gap.version));
    for (auto at = expected.gaps.lower_bound(to_ms(gap.from)); at != expected.gaps.end() && at->first <= to_ms(gap.to); ++at) {
      if (!says(gap.reason, at->second)) continue;
      ++covered[at->first];
      ++number;
    }
    if (number != gap.count) {
      differ(job, fmt::format("a gap {} from {} to {} of {} ticks, planned were {}", model::name_of(gap.reason),
                              to_ms(gap.from), to_ms(gap.to), gap.count, number));
    }
  }
  std::erase_if(h_->gaps, [&](const model::Gap& gap) { return gap.job == job.id; });
  for (const auto& [tick, why] : expected.gaps) {
    count(word_of(why));
    if (covered[tick] != 1) differ(job, fmt::format("tick {}, {}, lies in {} gaps", tick, word_of(why), covered[tick]));
  }
}

/// Whether its rules have paused it.
void World::judge_end(Job& job, bool is_over, std::optional<Ms> tick) {
  if (!job.enabled) return;
  const model::Job& row = h_->jobs.at(job.id);
  const bool was_ended = row.state == model::JobState::Paused && row.state_by == "rota" && row.version > job.version;
  if (was_ended != is_over) differ(job, was_ended ? "its rules ended it too early, " + row.state_why : "its rules did not end it");
  if (!is_over || !was_ended) return;
  const auto& closed = h_->versions.at({job.id, job.version}).valid_to;
  if (tick && (!closed || to_ms(*closed) != *tick)) differ(job, "its version did not end with its last tick");
  count("ended by rules");
  ++job.version;
  job.enabled = false;
  job.due.reset();
}

void World::judge_state(const Job& job) {
  const model::Job& row = h_->jobs.at(job.id);
  if (row.version != job.version) differ(job, fmt::format("the stored version is {}", row.version));
  if ((row.state == model::JobState::Enabled) != (job.enabled && !job.deleted)) differ(job, "it is in another state");
  if (!job.has_after_end()) return;
  const auto due = row.memory.due ? std::optional(to_ms(*row.memory.due)) : std::nullopt;
  if (job.enabled && due != job.due) {
    differ(job, fmt::format("due after an end at {}, it should be {}", due.value_or(0), job.due.value_or(0)));
  }
}

void World::judge_all(const Standings& before) {
  std::map<JobId, std::optional<Ms>> over;
  for (Job& job : jobs_) {
    const auto standing = before.find(job.id);
    over[job.id] = judge_ticks(job, standing == before.end() ? Standing{} : standing->second, true);
  }
  const std::set<JobId> over_by_thaw = judge_thaw(over);
  for (Job& job : jobs_) {
    if (job.deleted || !job.enabled) continue;
    judge_end(job, over[job.id] || over_by_thaw.contains(job.id), over[job.id]);
    judge_state(job);
  }
}

/// At the end of a freeze the late policy decides once more.
std::set<JobId> World::judge_thaw(const std::map<JobId, std::optional<Ms>>& over) {
  std::set<JobId> out;
  std::map<JobId, std::multiset<Ms>> wanted;
  for (auto freeze = freezes_.begin(); freeze != freezes_.end();) {
    if (freeze->end > at_) {
      ++freeze;
      continue;
    }
    for (Job& job : jobs_) {
      const auto frozen = job.frozen.find(freeze->id);
      const bool is_over = over.at(job.id) || out.contains(job.id);
      if (job.deleted || !job.enabled || is_over || frozen == job.frozen.end()) continue;
      std::vector<Ms>& ticks = frozen->second;
      const auto room = static_cast<std::size_t>(std::max<std::int64_t>(Decision::kMostCaughtUp - job.caught_up, 0));
      std::size_t most = job.rules.late == Late::Skip ? 0 : job.rules.late == Late::FireOnce ? 1 : room;
      if (job.rules.firings > 0) most = std::min(most, static_cast<std::size_t>(job.rules.firings - job.fired));
      most = std::min(most, ticks.size());
      wanted[job.id].insert(ticks.end() - static_cast<std::ptrdiff_t>(most), ticks.end());
      job.caught_up += static_cast<std::int64_t>(most);
      job.frozen.erase(frozen);
      if (job.rules.firings == 0) continue;
      job.fired += static_cast<std::int32_t>(most);
      if (job.fired >= job.rules.firings) out.insert(job.id);
    }
    freeze = freezes_.erase(freeze);
  }
  for (Job& job : jobs_) {
    const auto& made_up = made_up_[job.id];
    count("made up for", static_cast<std::int64_t>(wanted[job.id].size()));
    if (made_up != wanted[job.id]) {
      differ(job, fmt::format("{} frozen ticks are made up for, {} should be", made_up.size(), wanted[job.id].size()));
    }
  }
  made_up_.clear();
  return out;
}

}  // namespace rota::when_model
