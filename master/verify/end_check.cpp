#include "master/verify/end_check.h"

#include <algorithm>

#include "common/model/entry_text.h"
#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

using model::RunKind;
using model::RunState;
using model::Until;

constexpr std::int32_t kEndsPage = 1000;
constexpr Millis kSurelyLive{2000};  // a tick that is recorded so soon waits for nothing
constexpr const char* kByRules = "rota";

bool ends_jobs(const model::JobRules& rules) {
  return rules.firings > 0 || rules.until != Until::Never || rules.pause_after_failures > 0;
}

bool counts_the_same(const model::JobRules& a, const model::JobRules& b) {
  return a.firings == b.firings && a.until == b.until && a.pause_after_failures == b.pause_after_failures;
}

bool is_failure(RunState state) {
  return state == RunState::Failed || state == RunState::TimedOut || state == RunState::Lost ||
         state == RunState::KillFailed;
}

bool is_firing(const model::Run& run) {
  if (run.kind == RunKind::WorkerStart) return run.progress.state != RunState::Skipped;
  return run.kind == RunKind::Tick || run.kind == RunKind::AfterFreeze;
}

/// Whether a run begins only when all before it have ended.
bool are_one_by_one(const model::JobRules& rules) {
  return rules.overlap == model::Overlap::Skip && rules.concurrency <= 1;
}

/// Its firings leave no tick by which retention would tell of them.
bool has_worker_start(const model::JobRules& rules) {
  return std::ranges::any_of(rules.schedule.entries, [](const std::string& line) {
    const auto entry = model::entry_from_text(line);
    return entry && entry->kind == model::EntryKind::WorkerStart;
  });
}

/// Its run may wait to be caught up, and end after runs that were recorded later.
bool may_come_late(const model::Run& run) {
  return run.kind == RunKind::AfterFreeze || (run.tick && run.recorded - *run.tick > kSurelyLive);
}

}  // namespace

/// A job counts anew when it is resumed, and when one of these rules is edited.
void EndCheck::learn(const EndFacts& facts) {
  stretches_.clear();
  parts_.clear();
  const model::JobVersionRow* before = nullptr;
  for (const model::JobVersionRow& version : facts.versions) {
    const bool follows = before != nullptr && before->enabled;
    if (follows && !version.enabled) stretches_.back().ended_by_rules = version.principal == kByRules;
    if (version.enabled && version.definition) {
      const model::JobRules& rules = version.definition->rules;
      if (!follows || !counts_the_same(stretches_.back().definition->rules, rules)) {
        stretches_.emplace_back();
        stretches_.back().from = version.valid_from;
      }
      Stretch& stretch = stretches_.back();
      if (follows && before->valid_to != version.valid_from) ++stretch.part;
      stretch.definition = version.definition;
      stretch.last = version.version;
      stretch.to = version.valid_to;
      parts_[version.version] = {stretches_.size() - 1, stretch.part, are_one_by_one(rules)};
    }
    before = version.definition ? &version : nullptr;
  }
  for (Stretch& stretch : stretches_) stretch.part = 0;
}

Result<void> EndCheck::look_at(const EndFacts& facts, MonoTime deadline) {
  const bool has_rules = std::ranges::any_of(facts.versions, [](const model::JobVersionRow& version) {
    return version.enabled && version.definition && ends_jobs(version.definition->rules);
  });
  if (!has_rules) return {};
  learn(facts);
  for (RunId after;;) {
    const auto runs = reader_.runs_of_job_after(facts.job.id, after, kEndsPage);
    if (!runs) return fail(runs.error());
    for (const model::Run& run : *runs) look_at_run(facts, run);
    if (runs->size() < static_cast<std::size_t>(kEndsPage)) break;
    after = runs->back().id;
    if (BootClock::now() > deadline) {
      return fail(ErrorCode::TimedOut, "verify did not end within its deadline; ask for less");
    }
  }
  return judge(facts);
}

/// What the leader has added since the job's rows were read is left to the next look.
void EndCheck::look_at_run(const EndFacts& facts, const model::Run& run) {
  const auto part = parts_.find(run.version);
  const bool is_known = run.tick ? *run.tick <= facts.recorded : run.recorded < facts.recorded;
  if (part == parts_.end() || !is_known) return;
  Stretch& stretch = stretches_[part->second.stretch];
  if (!ends_jobs(stretch.definition->rules)) return;
  if (is_firing(run)) ++stretch.fired;
  if (stretch.part != part->second.number) {
    stretch.part = part->second.number;
    stretch.failures = 0;
    stretch.has_succeeded = false;
  }
  const bool is_serial = part->second.is_serial;
  if (is_serial && run.kind == RunKind::Tick && !may_come_late(run)) look_at_tick(facts, run, stretch);
  note_end(run, is_serial, stretch);
}

void EndCheck::note_end(const model::Run& run, bool is_serial, Stretch& stretch) {
  const model::RunProgress& at = run.progress;
  if (at.state == RunState::Succeeded) {
    stretch.failures = 0;
    if (!may_come_late(run)) stretch.has_succeeded = true;
    if (may_come_late(run)) {
      stretch.late_success = std::max(stretch.late_success, std::optional(at.ended.value_or(kEndOfTime)));
    }
  } else if (!is_serial) {
    stretch.failures = 0;  // in which order they ended is not known
  } else if (is_failure(at.state) && !may_come_late(run) && stretch.failures++ == 0) {
    stretch.first_failure = run.recorded;
  }
}

/// A live tick of a job that skips overlaps has fired, so all runs before had ended. What an edit that ends
/// the version records at its own moment may lie before the end that led to it.
void EndCheck::look_at_tick(const EndFacts& facts, const model::Run& run, Stretch& stretch) {
  if (facts.was_rewound || stretch.is_told || (stretch.to && run.recorded >= *stretch.to)) return;
  const model::JobRules& rules = stretch.definition->rules;
  const std::string which = fmt::format("job \"{}\" run {}: it fired after ", facts.job.name, run.id.value);
  if (rules.until == Until::Success && stretch.has_succeeded) {
    stretch.is_told = true;
    wrong(check_, which + "a run had succeeded, which ends the job (until)");
  }
  const bool is_a_row = rules.pause_after_failures > 0 && stretch.failures >= rules.pause_after_failures;
  const bool is_sure = !stretch.late_success || *stretch.late_success + kClockSkew < *stretch.first_failure;
  if (is_a_row && is_sure && !stretch.is_told) {
    stretch.is_told = true;
    wrong(check_, which + fmt::format("{} runs in a row had failed, which pause the job "
                                      "(pause_after_failures: {})",
                                      stretch.failures, rules.pause_after_failures));
  }
}

Result<void> EndCheck::judge(const EndFacts& facts) {
  for (const Stretch& stretch : stretches_) {
    const std::int32_t most = stretch.definition->rules.firings;
    if (most == 0) continue;
    const std::string which = fmt::format("job \"{}\" version {}: it has fired {} times, ", facts.job.name,
                                          stretch.last, stretch.fired);
    if (stretch.fired > most) {
      wrong(check_, which + fmt::format("`firings` allows {}", most));
    } else if (stretch.fired == most && !stretch.to) {
      wrong(check_, which + "which ends the job (firings), and it goes on");
    } else if (stretch.fired < most) {
      if (auto judged = judge_early_end(facts, stretch); !judged) return judged;
    }
  }
  return {};
}

/// Ended by no other rule than `firings`, where no row of it can be missing.
Result<void> EndCheck::judge_early_end(const EndFacts& facts, const Stretch& stretch) {
  const model::JobRules& rules = stretch.definition->rules;
  const bool has_others = rules.until != Until::Never || rules.pause_after_failures > 0;
  const bool is_whole = !facts.was_rewound && facts.first_moment <= stretch.from;
  if (!stretch.ended_by_rules || has_others || !is_whole || has_worker_start(rules)) return {};
  const auto gone = reader_.gone_through(facts.job.id);
  if (!gone) return fail(gone.error());
  const auto freezes = reader_.freezes();  // what they led to has no tick by which retention would tell of it
  if (!freezes) return fail(freezes.error());
  const bool had_freeze = std::ranges::any_of(*freezes, [&](const model::Freeze& freeze) {
    return freeze.is_of(facts.job.space) && freeze.end() > stretch.from;
  });
  if (had_freeze || gone->value_or(WallTime{}) >= stretch.from) return {};
  wrong(check_, fmt::format("job \"{}\" version {}: it was ended after {} of {} firings", facts.job.name,
                            stretch.last, stretch.fired, rules.firings));
  return {};
}

}  // namespace rota::master::verify
