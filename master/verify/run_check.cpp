#include "master/verify/run_check.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "common/base/duration_text.h"
#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

using model::RunState;

constexpr std::int32_t kPage = 1000;
constexpr std::int32_t kRecentAttempts = 8;
constexpr std::int32_t kMostRemembered = 32;  // times as many, where so many runs of a job may live at once
constexpr Millis kLogsSettle{15'000};    // bytes may still be on their way


bool has_ended_by_worker(RunState state) {
  return state == RunState::Succeeded || state == RunState::Failed || state == RunState::TimedOut ||
         state == RunState::Killed || state == RunState::KillFailed;
}

bool is_known(WallTime moment) { return to_ms(moment) > 0; }

/// A child is given its parent's logical time, which may be long over.
bool is_before(const model::Run& run, std::optional<WallTime> since) {
  return since && (run.kind == model::RunKind::Child ? run.recorded : run.scheduled) < *since;
}

}  // namespace

Result<bool> RunCheck::look_at_all(Place& place, MonoTime deadline) {
  auto rewinds = sources_.reader.rewinds();
  if (!rewinds) return fail(rewinds.error());
  rewinds_ = std::move(*rewinds);
  resumed_after_ = attempts_read_run_ = place.run;
  attempts_read_no_ = INT32_MAX;
  epochs_ = place.epochs;
  for (;;) {
    const auto runs = page_after(place.run);
    if (!runs) return fail(runs.error());
    if (auto looked = look_at_page(*runs); !looked) return fail(looked.error());
    if (!runs->empty()) place.run = runs->back().id;
    place.epochs = epochs_;
    if (runs->size() < static_cast<std::size_t>(kPage)) break;
    if (BootClock::now() > deadline) return false;
  }
  judge_epochs();
  return true;
}

/// Of one job alone where no other is asked for.
Result<std::vector<model::Run>> RunCheck::page_after(RunId after) {
  if (only_ && only_->size() == 1) {
    return sources_.reader.runs_of_job_after(*only_->begin(), after, kPage);
  }
  return sources_.reader.runs_after(after, kPage);
}

Result<void> RunCheck::look_at_page(const std::vector<model::Run>& runs) {
  if (auto learned = learn_overlap_rules(runs); !learned) return learned;
  for (const model::Run& run : runs) {
    looked_through_ = run.recorded;
    if (only_ && !only_->contains(run.job)) continue;
    if (is_before(run, request_.since)) continue;
    ++looked_at_;
    const auto earlier = earlier_attempts(run.id);
    if (!earlier) return fail(earlier.error());
    if (auto looked = look_at(run, *earlier); !looked) return looked;
    if (!model::is_final(run.progress.state)) unfinished_.push_back(run.id);
  }
  if (auto checked = check_found(); !checked) return checked;
  if (auto checked = children_.judge_page(); !checked) return checked;
  auto looked = logs_.look_at(candidates_);
  candidates_.clear();
  return looked;
}

/// The next leader goes on with what it finds among the unfinished runs; no other row leads it to one.
Result<void> RunCheck::check_found() {
  checks_.found.planned += static_cast<std::int64_t>(unfinished_.size());
  const auto unlisted = sources_.reader.unlisted_among(unfinished_);
  unfinished_.clear();
  if (!unlisted) return fail(unlisted.error());
  for (const RunId run : *unlisted) {
    miss(checks_.found, name_of(run) + ": it has not ended, and the next leader would not know it");
  }
  return {};
}

/// One-offs have no overlap to speak of.
Result<void> RunCheck::learn_overlap_rules(const std::vector<model::Run>& runs) {
  std::set<JobId> fresh;
  for (const model::Run& run : runs) {
    if (!at_once_.contains(run.job) && !store::is_of_one_off(run)) fresh.insert(run.job);
  }
  if (fresh.empty()) return {};
  const auto versions = sources_.reader.versions_of_jobs({fresh.begin(), fresh.end()});
  if (!versions) return fail(versions.error());
  for (const JobId job : fresh) at_once_[job] = 1;
  for (const model::JobVersionRow& version : *versions) {
    limits_.learn(version);
    retries_.learn(version);
    tokens_.learn(version);
    quotas_.learn(version);
    demands_.learn(version);
    told_.learn(version);
    expected_.learn(version);
    children_.learn(version);
    std::int32_t& most = at_once_[version.job];
    if (!version.definition || most == 0) continue;
    const model::JobRules& rules = version.definition->rules;
    most = rules.overlap == model::Overlap::Allow ? 0 : std::max(most, rules.concurrency);
  }
  return {};
}

// Both lists are in the order of run ids, so one page of attempts is at hand at a time.
Result<std::vector<model::AttemptRow>> RunCheck::earlier_attempts(RunId run) {
  if (only_ && only_->size() == 1) return sources_.reader.attempts_of(run);
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

Result<void> RunCheck::look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  if (auto checked = check_spans(run, earlier); !checked) return checked;
  if (auto checked = losses_.look_at(run, earlier); !checked) return checked;
  if (auto checked = starts_.look_at_run(run, earlier); !checked) return checked;
  if (auto checked = holds_.look_at(run, earlier); !checked) return checked;
  if (auto checked = limits_.look_at(run, earlier); !checked) return checked;
  retries_.look_at(run, earlier);
  scaling_.look_at(run, earlier);
  children_.look_at(run);
  if (auto checked = told_.look_at(run); !checked) return checked;
  if (auto checked = expected_.look_at(run, earlier); !checked) return checked;
  check_order(run);
  check_epochs(run, earlier);
  check_outcome(run);
  keep_logs(run, earlier);
  return {};
}

std::vector<Span> RunCheck::spans_of(const model::Run& run,
                                               const std::vector<model::AttemptRow>& earlier) const {
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
  return spans;
}

Result<void> RunCheck::check_spans(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  const std::vector<Span> spans = spans_of(run, earlier);
  checks_.overlap.planned += static_cast<std::int64_t>(spans.size());
  for (std::size_t i = 1; i < spans.size(); ++i) {
    for (std::size_t j = i - std::min<std::size_t>(i, kRecentAttempts); j < i; ++j) {
      const auto early = overlap(spans[j], spans[i]);
      if (!early) continue;
      wrong(checks_.overlap,
            fmt::format("{}: attempts {} and {} both lived, one began {} ms before the other's end",
                        name_of(run.id), spans[j].attempt, spans[i].attempt, early->count()));
    }
  }
  if (auto looked = tokens_.look_at(run, spans); !looked) return looked;
  if (auto looked = quotas_.look_at(run, spans); !looked) return looked;
  if (auto looked = demands_.look_at(run, earlier, spans); !looked) return looked;
  const auto most = at_once_.find(run.job);
  const bool has_bound = most != at_once_.end() && most->second > 0;
  return has_bound ? check_job_spans(run.job, spans) : Result<void>();
}

/// Of a job's last attempts; the more may live at once, the more of them a new one may be beside.
std::size_t RunCheck::remembered_of(JobId job) const {
  return kRecentAttempts * static_cast<std::size_t>(std::min(at_once_.at(job), kMostRemembered));
}

/// What an earlier verification had seen of the job's last runs.
Result<void> RunCheck::remember_spans(JobId job) {
  const std::size_t wanted = remembered_of(job);
  const auto runs = sources_.reader.runs_of_job_up_to(job, resumed_after_, static_cast<std::int32_t>(wanted));
  if (!runs) return fail(runs.error());
  std::deque<Span>& recent = recent_[job];
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    if (is_before(*run, request_.since)) continue;
    const auto earlier = sources_.reader.attempts_of(run->id);
    if (!earlier) return fail(earlier.error());
    const auto spans = spans_of(*run, *earlier);
    recent.insert(recent.end(), spans.begin(), spans.end());
  }
  while (recent.size() > wanted) recent.pop_front();
  return {};
}

Result<void> RunCheck::check_job_spans(JobId job, const std::vector<Span>& spans) {
  if (resumed_after_ != RunId{} && !recent_.contains(job)) {
    if (auto remembered = remember_spans(job); !remembered) return remembered;
  }
  std::deque<Span>& recent = recent_[job];
  const auto most = static_cast<std::size_t>(at_once_.at(job));
  for (const Span& span : spans) check_beside(span, recent, most);
  recent.insert(recent.end(), spans.begin(), spans.end());
  while (recent.size() > remembered_of(job)) recent.pop_front();
  return {};
}

void RunCheck::check_beside(const Span& span, const std::deque<Span>& recent, std::size_t most) {
  std::vector<Span> beside;
  for (const Span& other : recent) {
    if (other.run == span.run) continue;
    const auto early = overlap(other, span);
    if (!early) continue;
    beside.push_back(other);
    if (most > 1) continue;
    wrong(checks_.overlap,
          fmt::format("{} attempt {} and {} attempt {}, of one job that allows no overlap, both "
                      "lived, one began {} ms before the other's end", name_of(other.run), other.attempt,
                      name_of(span.run), span.attempt, early->count()));
  }
  if (most == 1 || beside.size() < most) return;
  beside.push_back(span);
  const auto crowd = std::ranges::find_if(
      beside, [&](const Span& one) { return is_crowd(one, beside, most); });
  if (crowd == beside.end()) return;
  wrong(checks_.overlap,
        fmt::format("{} attempt {}: when {} began, more attempts of one job lived than the {} that it allows "
                    "at once (concurrency)", name_of(span.run), span.attempt, name_of(crowd->run), most));
}

/// Whether more than so many of them, of different runs, surely lived when that one began.
bool RunCheck::is_crowd(const Span& anchor, const std::vector<Span>& all, std::size_t most) {
  std::set<RunId> alive{anchor.run};
  for (const Span& one : all) {
    if (one.from <= anchor.from && overlap(one, anchor)) alive.insert(one.run);
  }
  return alive.size() > most;
}

/// Before a rewind a leader's clock was ahead, and by how much no row tells: a worker's says nothing
/// against it.
void RunCheck::check_order(const model::Run& run) {
  const model::RunProgress& at = run.progress;
  if (!at.started) return;
  ++checks_.order.planned;
  if (!at.dispatched) {
    wrong(checks_.order, name_of(run.id) + ": it started and was never dispatched");
    return;
  }
  if (was_rewound_after(epoch_of(run.id))) return;
  if (*at.started + kClockSkew < *at.dispatched) {
    wrong(checks_.order, fmt::format("{}: it started {} ms before it was dispatched",
                                     name_of(run.id), (*at.dispatched - *at.started).count()));
  }
  if (*at.started + kClockSkew < run.recorded) {
    wrong(checks_.order, fmt::format("{}: it started {} ms before it was recorded", name_of(run.id),
                                     (run.recorded - *at.started).count()));
  }
}

bool RunCheck::was_rewound_after(Epoch epoch) const {
  return std::ranges::any_of(rewinds_, [&](const store::PastRewind& rewind) { return epoch < rewind.epoch; });
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
  if (epoch != epochs_.epoch) {
    judge_epochs();
    const WallTime last = last_by_the_clock(epochs_.epoch, epochs_.last);
    epochs_ = {epoch, std::max(epochs_.older_last, last), run.recorded, run.recorded};
  }
  epochs_.first = std::min(epochs_.first, run.recorded);
  epochs_.last = std::max(epochs_.last, run.recorded);
}

/// What was recorded ahead of the clock stands before the rewind that ended it, whatever time it carries.
WallTime RunCheck::last_by_the_clock(Epoch epoch, WallTime last) const {
  for (const store::PastRewind& rewind : rewinds_) {
    if (epoch < rewind.epoch) last = std::min(last, rewind.to);
  }
  return last;
}

// The two were recorded by two clocks; the exact order is the one of the commits, which no row tells.
void RunCheck::judge_epochs() {
  if (epochs_.older_last <= epochs_.first + kClockSkew) return;
  wrong(checks_.epochs, fmt::format("a run of an epoch before {} was recorded at {}, after the first of that "
                                    "epoch at {}",
                                    epochs_.epoch.value, format_moment(epochs_.older_last),
                                    format_moment(epochs_.first)));
}

void RunCheck::check_outcome(const model::Run& run) {
  const model::RunProgress& at = run.progress;
  if (!model::is_final(at.state)) return;
  ++checks_.outcomes.planned;
  if (!at.ended) miss(checks_.outcomes, name_of(run.id) + ": final, and no end is recorded");
  if (at.reason == model::Reason::ReplacedBy) check_replaced(run);
  if (at.attempt > 0 && has_ended_by_worker(at.state) && at.outcome.state != at.state) {
    wrong(checks_.outcomes, fmt::format("{}: it is {}, its outcome says {}", name_of(run.id),
                                        model::name_of(at.state),
                                        model::name_of(at.outcome.state)));
  }
}

/// It was ended for a run that came after it.
void RunCheck::check_replaced(const model::Run& run) {
  std::int64_t newer = 0;
  const std::string& said = run.progress.detail;
  const auto read = std::from_chars(said.data(), said.data() + said.size(), newer);
  if (read.ec == std::errc() && newer > run.id.value) return;
  wrong(checks_.outcomes,
        fmt::format("{}: it was replaced by '{}', which is no later run", name_of(run.id), said));
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
