#include "master/api/why_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "master/api/explain_rules.h"
#include "master/core/admission/late_rules.h"

namespace rota::master::api {
namespace {

using model::Reason;
using model::RunState;

constexpr std::array<std::string_view, kSteps> kStepNames = {
    "job",         "paused",     "due",             "calendar", "leader",  "held",
    "frozen",      "late",       "overlap",         "firings",  "start",   "retry",
    "last_worker", "pool_limit", "namespace_limit", "worker",   "handler", "open",
    "slot",        "semaphore",  "answer",          "end"};

std::string command_in(const std::string& space, const std::string& words) {
  return space == "default" ? "rota " + words : "rota --namespace " + space + " " + words;
}

/// Checks one after the other: what is before `stop` is passed, what is behind was not reached.
class List {
 public:
  explicit List(std::vector<Step> steps) {
    for (const Step step : steps) checks_.push_back({step, Verdict::Passed, {}, {}, {}});
  }
  void stop_at(Step step, std::string sentence, std::string command, std::vector<std::string> holders = {}) {
    for (Check& check : checks_) {
      if (check.step > step) check.verdict = Verdict::NotReached;
      if (check.step != step) continue;
      check.verdict = Verdict::Stopped;
      check.sentence = std::move(sentence);
      check.command = std::move(command);
      check.holders = std::move(holders);
    }
  }
  void say(Step step, std::string sentence) {
    for (Check& check : checks_) {
      if (check.step == step && check.verdict == Verdict::Passed) check.sentence = std::move(sentence);
    }
  }
  /// From `step` on nothing is known.
  void lose_sight_from(Step step, const std::string& sentence) {
    for (Check& check : checks_) {
      if (check.step < step) continue;
      check.verdict = Verdict::NotKnown;
      if (check.step == step) check.sentence = sentence;
    }
  }
  void not_reached_from(Step step) {
    for (Check& check : checks_) {
      if (check.step >= step) check.verdict = Verdict::NotReached;
    }
  }
  std::vector<Check> take() { return std::move(checks_); }

 private:
  std::vector<Check> checks_;
};

std::vector<Step> steps_between(Step first, Step last) {
  std::vector<Step> out;
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) out.push_back(static_cast<Step>(i));
  return out;
}

/// The command that helps where a run waits.
std::string run_command(const RunWhyFacts& facts, Step step) {
  const std::string run = std::to_string(facts.run.id.value);
  const std::string& space = facts.run.space;
  const std::string& worker = facts.run.progress.worker.id;
  switch (step) {
    case Step::Overlap:
      return facts.run.progress.detail.find_first_not_of("0123456789") == std::string::npos &&
                     !facts.run.progress.detail.empty()
                 ? "rota run why " + facts.run.progress.detail
                 : command_in(space, "run list --job " + facts.job_name);
    case Step::Firings:
    case Step::NamespaceLimit: return "rota namespace show " + space;
    case Step::Start:
      return facts.run.progress.reason == Reason::CaughtUp ? "rota setting get catch_up.rate"
                                                           : "rota run show " + run;
    case Step::Retry: return "rota run timeline " + run;
    case Step::LastWorker:
    case Step::Answer: return worker.empty() ? "rota worker list" : "rota worker show " + worker;
    case Step::PoolLimit: return "rota pool show " + facts.rules.pool;
    case Step::Open:
      return facts.drained_worker.empty() ? "rota worker list" : "rota worker resume " + facts.drained_worker;
    case Step::Slot: return "rota capacity";
    case Step::Semaphore:
      return command_in(space,
                        facts.semaphore.empty() ? "semaphore list" : "semaphore show " + facts.semaphore);
    case Step::Held: return "rota cluster status";
    case Step::End: return "rota run logs " + run;
    default: return "rota worker list";
  }
}

std::string worker_words(const RunWhyFacts& facts) {
  return fmt::format("Attempt {} went to worker {}.", facts.run.progress.attempt,
                     shown_text(facts.run.progress.worker.id));
}

/// It ended without having been sent: which check kept it from that.
void tell_unsent_end(const RunWhyFacts& facts, List& list) {
  const model::RunProgress& at = facts.run.progress;
  const auto step = at.state == RunState::Skipped ? step_of(at.reason) : std::nullopt;
  if (step && *step >= Step::Overlap && *step < Step::Answer) {
    return list.stop_at(*step, facts.sentence, run_command(facts, *step), facts.holders);
  }
  list.lose_sight_from(Step::Overlap, "It ended before it was sent; what it waited for is not stored.");
  list.stop_at(Step::End, facts.sentence, "rota run show " + std::to_string(facts.run.id.value));
}

void tell_end(const RunWhyFacts& facts, List& list) {
  const model::RunProgress& at = facts.run.progress;
  if (at.attempt == 0) return tell_unsent_end(facts, list);
  list.say(Step::Answer, worker_words(facts));
  if (at.state == RunState::Succeeded) return list.say(Step::End, facts.sentence);
  list.stop_at(Step::End, facts.sentence, run_command(facts, Step::End));
}

/// It waits; `step` is what for.
void tell_wait(const RunWhyFacts& facts, Step step, List& list) {
  std::string sentence = facts.sentence;
  if (step == Step::Slot && facts.place) sentence += " It is " + place_words(*facts.place, facts.run.space);
  if (step == Step::Overlap && facts.rules.overlap != model::Overlap::Allow) {
    sentence += fmt::format(" So many runs of the job may be under way at once: {}.",
                            std::max(facts.rules.concurrency, 1));
  }
  if (step == Step::Retry && facts.before_wait) {
    sentence += fmt::format(" That is at {}.", format_moment(*facts.before_wait));
  }
  list.stop_at(step, std::move(sentence), run_command(facts, step), facts.holders);
}

}  // namespace

std::string_view name_of(Step step) { return kStepNames.at(static_cast<std::size_t>(step)); }

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Passed: return "passed";
    case Verdict::Stopped: return "stopped";
    case Verdict::NotReached: return "not_reached";
    case Verdict::NotKnown: return "not_known";
  }
  return "";
}

std::optional<Step> step_of(Reason reason) {
  switch (reason) {
    case Reason::NoWorkerInPool:
    case Reason::NoWorkerHas:
    case Reason::NamedWorkerAbsent:
    case Reason::WorkersSettling:
    case Reason::WorkerStartOver: return Step::Worker;
    case Reason::HandlerUnknown: return Step::Handler;
    case Reason::WorkersDraining: return Step::Open;
    case Reason::AllSlotsBusy: return Step::Slot;
    case Reason::WaitsForSemaphore: return Step::Semaphore;
    case Reason::PoolLimit: return Step::PoolLimit;
    case Reason::NamespaceSlots: return Step::NamespaceLimit;
    case Reason::NamespaceUnfinished:
    case Reason::NamespaceFirings: return Step::Firings;
    case Reason::WaitsForRun:
    case Reason::OverlapSkipped:
    case Reason::QueueFull:
    case Reason::ReplacedBy: return Step::Overlap;
    case Reason::Jitter:
    case Reason::CaughtUp: return Step::Start;
    case Reason::RetryDelay: return Step::Retry;
    case Reason::WorkerUnreconciled:
    case Reason::WaitsForFence:
    case Reason::WorkerUnseen:
    case Reason::WaitsForConfirmation: return Step::LastWorker;
    case Reason::ClusterHeld: return Step::Held;
    case Reason::Frozen: return Step::Frozen;
    case Reason::JobPaused: return Step::Paused;
    case Reason::NoSuchJob: return Step::Job;
    case Reason::CoalescedInto:
    case Reason::LateSkipped:
    case Reason::LateBounded: return Step::Late;
    case Reason::Missed: return Step::Leader;
    case Reason::CalendarEdited: return Step::Calendar;
    default: return std::nullopt;
  }
}

std::vector<Check> checks_of_run(const RunWhyFacts& facts) {
  List list(steps_between(Step::Overlap, Step::End));
  const model::RunProgress& at = facts.run.progress;
  if (model::is_final(at.state)) {
    tell_end(facts, list);
    return list.take();
  }
  const auto step = step_of(at.reason);
  if (at.state == RunState::Running || at.state == RunState::Dispatched) {
    if (facts.is_away || step == Step::LastWorker) {
      list.stop_at(Step::LastWorker, facts.sentence, run_command(facts, Step::LastWorker),
                   {"worker " + at.worker.id});
      return list.take();
    }
    if (at.state == RunState::Dispatched) {
      list.stop_at(Step::Answer, facts.sentence, run_command(facts, Step::Answer),
                   {"worker " + at.worker.id});
      return list.take();
    }
    list.say(Step::Answer, worker_words(facts));
    list.not_reached_from(Step::End);
    return list.take();
  }
  if (step) {
    tell_wait(facts, *step, list);
  } else {
    list.lose_sight_from(Step::Overlap,
                         "It has just been recorded; the leader has not said yet where it stands.");
  }
  return list.take();
}

bool was_leaderless(WallTime at, const DecidedBy& by) { return by.since && *by.since > at; }

std::vector<Check> joined(std::vector<Check> before, std::vector<Check> behind) {
  if (behind.empty()) return before;
  std::erase_if(before, [&](const Check& check) { return check.step >= behind.front().step; });
  before.insert(before.end(), std::make_move_iterator(behind.begin()), std::make_move_iterator(behind.end()));
  return before;
}

}  // namespace rota::master::api
