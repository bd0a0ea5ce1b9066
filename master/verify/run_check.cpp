#include "master/verify/run_check.h"

#include <algorithm>
#include <tuple>

#include "common/base/duration_text.h"
#include "master/verify/findings.h"
#include "master/verify/overlap_rules.h"

namespace rota::master::verify {
namespace {

using model::RunState;

constexpr std::int32_t kPage = 1000;
constexpr std::size_t kRecentAttempts = 8;
constexpr Millis kLogsSettle{15'000};    // bytes may still be on their way

std::string name_of(RunId run) { return fmt::format("run {}", run.value); }

bool has_ended_by_worker(RunState state) {
  return state == RunState::Succeeded || state == RunState::Failed || state == RunState::TimedOut ||
         state == RunState::Killed || state == RunState::KillFailed;
}

bool is_known(WallTime moment) { return to_ms(moment) > 0; }

}  // namespace

Result<void> RunCheck::look_at_all(MonoTime deadline) {
  RunId after;
  for (;;) {
    if (BootClock::now() > deadline) {
      return fail(ErrorCode::TimedOut, "verify did not end within its deadline; ask for less");
    }
    const auto runs = sources_.reader.runs_after(after, kPage);
    if (!runs) return fail(runs.error());
    for (const model::Run& run : *runs) {
      after = run.id;
      if (only_ && !only_->contains(run.job)) continue;
      if (request_.since && run.scheduled < *request_.since) continue;
      const auto earlier = earlier_attempts(run.id);
      if (!earlier) return fail(earlier.error());
      look_at(run, *earlier);
    }
    if (auto looked = logs_.look_at(candidates_); !looked) return looked;
    candidates_.clear();
    if (runs->size() < static_cast<std::size_t>(kPage)) break;
  }
  judge_epochs();
  return {};
}

// Both lists are in the order of run ids, so one page of attempts is at hand at a time.
Result<std::vector<model::AttemptRow>> RunCheck::earlier_attempts(RunId run) {
  std::vector<model::AttemptRow> out;
  for (;;) {
    while (!attempt_page_.empty() && attempt_page_.front().run < run) attempt_page_.pop_front();
    while (!attempt_page_.empty() && attempt_page_.front().run == run) {
      out.push_back(std::move(attempt_page_.front()));
      attempt_page_.pop_front();
    }
    if (!attempt_page_.empty() || all_attempts_read_) return out;
    auto page = sources_.reader.attempts_after(attempts_read_run_, attempts_read_no_, kPage);
    if (!page) return fail(page.error());
    all_attempts_read_ = page->size() < static_cast<std::size_t>(kPage);
    if (!page->empty()) {
      attempts_read_run_ = page->back().run;
      attempts_read_no_ = page->back().attempt;
    }
    for (model::AttemptRow& row : *page) attempt_page_.push_back(std::move(row));
  }
}

void RunCheck::look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  check_spans(run, earlier);
  check_order(run);
  check_epochs(run, earlier);
  check_outcome(run);
  keep_logs(run, earlier);
}

/// One worker's clock is believed to the millisecond; two clocks may differ, so what they say counts when
/// even that leaves no other reading. Attempts of one run live in the order of their numbers, so there only
/// the lower one's end and the higher one's start are compared; of any others either may have been first.
/// When an attempt died that its worker never told of is not known, only by when: that the next one waited
/// for that moment is the leader's doing, and of an attempt that a restored database has forgotten the leader
/// of then knew more.
std::optional<Millis> RunCheck::overlap(const Span& one, const Span& other) {
  const bool has_order = one.run == other.run && !one.is_late && !other.is_late;
  const bool is_in_order = has_order ? one.attempt < other.attempt : one.from <= other.from;
  const auto& [first, second] = is_in_order ? std::tie(one, other) : std::tie(other, one);
  if (first.worker.empty() && second.is_late) return std::nullopt;
  const bool is_one_clock = !first.worker.empty() && first.worker == second.worker;
  const Millis doubt = is_one_clock ? Millis{0} : kClockSkew;
  const bool stood_still = first.still || second.still;
  const Millis early = lived_beside(second.from, std::max(first.to, second.from), first.still, second.still);
  if (early <= (stood_still ? std::max(doubt, kMostAfterThaw) : doubt)) return std::nullopt;
  if (!has_order && second.to - first.from <= doubt) return std::nullopt;
  return early;
}

void RunCheck::check_spans(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  std::vector<Span> spans;
  bool is_late = false;
  // A run that waits for its next attempt still shows the last one, which has its own row already.
  const bool shows_last = run.progress.state == RunState::Waiting ||
                          run.progress.state == RunState::Queued;
  for (const model::AttemptRow& row : earlier) {
    const model::Outcome& outcome = row.outcome;
    if (row.attempt == run.progress.attempt && !shows_last) {
      is_late = row.late;
      continue;
    }
    if (is_known(outcome.started) && outcome.ended >= outcome.started) {
      spans.push_back({row.attempt, run.id, outcome.started, outcome.ended,
                       outcome.state == RunState::Lost ? "" : row.worker.id, row.late, outcome.stood_still});
    }
  }
  const model::RunProgress& at = run.progress;
  if (at.attempt > 0 && at.started && !shows_last) {
    const bool is_final = model::is_final(at.state);
    const bool by_worker = is_final && is_known(at.outcome.started);
    const WallTime from = by_worker ? at.outcome.started : *at.started;
    const WallTime to = by_worker && is_known(at.outcome.ended) ? at.outcome.ended
                        : is_final ? at.ended.value_or(from)
                                   : std::max(from, request_.now.value_or(from));
    const bool told = by_worker && at.state != RunState::Lost;
    const std::string worker = told || !is_final ? at.worker.id : "";
    const auto still = by_worker ? at.outcome.stood_still : std::nullopt;
    if (to >= from) spans.push_back({at.attempt, run.id, from, to, worker, is_late, still});
  }
  std::ranges::sort(spans, {}, &Span::from);
  checks_.overlap.planned += static_cast<std::int64_t>(spans.size());
  for (std::size_t i = 1; i < spans.size(); ++i) {
    for (std::size_t j = i - std::min(i, kRecentAttempts); j < i; ++j) {
      const auto early = overlap(spans[j], spans[i]);
      if (!early) continue;
      wrong(checks_.overlap,
            fmt::format("{}: attempts {} and {} both lived, one began {} ms before the other's end",
                        name_of(run.id), spans[j].attempt, spans[i].attempt, early->count()));
    }
  }
  if (serial_jobs_.contains(run.job)) check_job_spans(run.job, spans);
}

void RunCheck::check_job_spans(JobId job, const std::vector<Span>& spans) {
  std::deque<Span>& recent = recent_[job];
  for (const Span& span : spans) {
    for (const Span& other : recent) {
      if (other.run == span.run) continue;
      const auto early = overlap(other, span);
      if (!early) continue;
      wrong(checks_.overlap,
            fmt::format("{} attempt {} and {} attempt {}, of one job that allows no overlap, both "
                        "lived, one began {} ms before the other's end", name_of(other.run), other.attempt,
                        name_of(span.run), span.attempt, early->count()));
    }
  }
  recent.insert(recent.end(), spans.begin(), spans.end());
  while (recent.size() > kRecentAttempts) recent.pop_front();
}

void RunCheck::check_order(const model::Run& run) {
  const model::RunProgress& at = run.progress;
  if (!at.started) return;
  ++checks_.order.planned;
  if (!at.dispatched) {
    wrong(checks_.order, name_of(run.id) + ": it started and was never dispatched");
  } else if (*at.started + kClockSkew < *at.dispatched) {
    wrong(checks_.order, fmt::format("{}: it started {} ms before it was dispatched",
                                     name_of(run.id), (*at.dispatched - *at.started).count()));
  }
  if (*at.started + kClockSkew < run.recorded) {
    wrong(checks_.order, fmt::format("{}: it started {} ms before it was recorded", name_of(run.id),
                                     (run.recorded - *at.started).count()));
  }
}

void RunCheck::check_epochs(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  ++checks_.epochs.planned;
  const Epoch epoch = epoch_of(run.id);
  if (run.progress.epoch < epoch) {
    wrong(checks_.epochs, fmt::format("{} is of epoch {}, but was last written in epoch {}",
                                      name_of(run.id), epoch.value, run.progress.epoch.value));
  }
  for (const model::AttemptRow& row : earlier) {
    if (row.epoch >= epoch) continue;
    wrong(checks_.epochs, fmt::format("{} attempt {} is of epoch {}, before its run's",
                                      name_of(run.id), row.attempt, row.epoch.value));
  }
  auto [at, is_new] = recorded_.try_emplace(
      epoch, EpochSpan{run.recorded, run.id, run.recorded, run.id});
  if (is_new) return;
  if (run.recorded < at->second.first) {
    at->second.first = run.recorded;
    at->second.first_run = run.id;
  }
  if (run.recorded > at->second.last) {
    at->second.last = run.recorded;
    at->second.last_run = run.id;
  }
}

void RunCheck::judge_epochs() {
  const EpochSpan* earliest_newer = nullptr;
  for (auto at = recorded_.rbegin(); at != recorded_.rend(); ++at) {
    const EpochSpan& span = at->second;
    // The two were recorded by two clocks; the exact order is the one of the commits, which no row tells.
    if (earliest_newer != nullptr && span.last > earliest_newer->first + kClockSkew) {
      wrong(checks_.epochs,
            fmt::format("{} of epoch {} was recorded at {}, after {} of a newer epoch ({})",
                        name_of(span.last_run), at->first.value, format_moment(span.last),
                        name_of(earliest_newer->first_run), format_moment(earliest_newer->first)));
    }
    if (earliest_newer == nullptr || span.first < earliest_newer->first) earliest_newer = &span;
  }
}

void RunCheck::check_outcome(const model::Run& run) {
  const model::RunProgress& at = run.progress;
  if (!model::is_final(at.state)) return;
  ++checks_.outcomes.planned;
  if (!at.ended) miss(checks_.outcomes, name_of(run.id) + ": final, and no end is recorded");
  if (at.attempt > 0 && has_ended_by_worker(at.state) && at.outcome.state != at.state) {
    wrong(checks_.outcomes, fmt::format("{}: it is {}, its outcome says {}", name_of(run.id),
                                        model::name_of(at.state),
                                        model::name_of(at.outcome.state)));
  }
}

void RunCheck::keep_logs(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  const model::RunProgress& at = run.progress;
  if (!model::is_final(at.state) || at.attempt == 0 || !at.ended) return;
  if (request_.now && *request_.now - *at.ended < kLogsSettle) return;
  for (const model::AttemptRow& row : earlier) {
    const bool is_told = has_ended_by_worker(row.outcome.state);
    if (row.attempt != at.attempt && is_told) keep_log({run.id, row.attempt}, row.outcome, is_told);
  }
  keep_log({run.id, at.attempt}, at.outcome, has_ended_by_worker(at.state));
}

void RunCheck::keep_log(model::AttemptKey attempt, const model::Outcome& outcome, bool told) {
  LogCandidate candidate;
  candidate.attempt = attempt;
  candidate.stdout_bytes = outcome.stdout_bytes;
  candidate.stderr_bytes = outcome.stderr_bytes;
  candidate.lengths_known = told && outcome.reason != model::Reason::AttemptDied &&
                            outcome.reason != model::Reason::WorkerLost;
  candidates_.push_back(candidate);
}

}  // namespace rota::master::verify
