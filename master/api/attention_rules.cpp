#include "master/api/attention_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/utf8.h"
#include "common/model/day_text.h"
#include "master/api/explain_rules.h"
#include "master/core/time/hold_rules.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::api {
namespace {

using model::Reason;
using model::RunState;

constexpr const char* kError = "error";
constexpr const char* kWarning = "warning";
constexpr const char* kInfo = "info";

class Items {
 public:
  explicit Items(const AttentionFacts& facts) : facts_(facts) {}

  thrift::AttentionItem& add(const char* kind, const char* level, std::string subject, std::string sentence,
                             std::string command) {
    thrift::AttentionItem& item = items_.emplace_back();
    item.__set_kind(kind);
    item.__set_level(level);
    item.__set_subject(std::move(subject));
    item.__set_sentence(std::move(sentence));
    item.__set_command(std::move(command));
    return item;
  }
  /// `rota ... NAME` in a namespace.
  static std::string command_in(const std::string& space, const std::string& words) {
    return space == "default" ? "rota " + words : "rota --namespace " + space + " " + words;
  }
  std::string command(const std::string& words) const { return command_in(facts_.space, words); }

  /// The leader's part.
  void add_cluster(const core::Snapshot& snapshot) {
    const std::string hold = core::hold_text(snapshot, facts_.now);
    if (!hold.empty()) add("held", kError, "", "No tick fires: " + hold, "rota cluster status");
    for (const model::Freeze& freeze : snapshot.freezes) add_freeze(freeze);
    for (const core::WorkerView& worker : snapshot.workers) add_worker(worker);
    for (const core::EndingCalendar& calendar : snapshot.calendars_ending) add_calendar(calendar);
  }
  void add_health() {
    for (const auto& [part, word] : facts_.health) {
      if (word != "ok") add("health", kError, part, word, "rota cluster status");
    }
  }
  void add_shortage(const core::PoolShortage& shortage) {
    auto& item = add("capacity", kWarning, shortage.pool, shortage.words + ".", "rota capacity");
    item.__set_since_ms(to_ms(shortage.since));
  }
  void add_given_up(const GivenUp& given_up) {
    const std::string error = given_up.last_error.empty() ? "" : ": " + shown_text(given_up.last_error);
    auto& item =
        add("notify", kWarning, given_up.receiver,
            fmt::format("{} notification{} could not be delivered and {} given up{}.", given_up.count,
                        given_up.count == 1 ? "" : "s", given_up.count == 1 ? "was" : "were", error),
            "rota notify list");
    item.__set_since_ms(to_ms(given_up.newest));
    item.__set_count(given_up.count);
  }
  /// A hook that was called too often, or in vain for a while, and what it should have been told.
  void add_hook(const core::ScaleView& view) {
    const model::ScaleChange& row = *view.newest;
    const bool is_given_up = row.state == model::HookState::GivenUp;
    const std::string error = row.last_error.empty() ? "" : ": " + shown_text(row.last_error);
    auto& item = add("autoscale", is_given_up ? kError : kWarning, view.pool,
                     fmt::format("{} workers are wanted, {} are there, and hook {} has failed {} times{}{}.",
                                 view.wanted, view.here, row.hook, row.attempts,
                                 is_given_up ? " and was given up" : "", error),
                     fmt::format("rota autoscale changes {}", shown_text(view.pool)));
    item.__set_since_ms(to_ms(row.made));
    item.__set_count(row.attempts);
  }
  void add_waiting(const WaitingRuns& waiting) {
    const bool is_helpless = needs_help(waiting.view.reason);
    const std::string oldest =
        fmt::format("{} of {}", waiting.oldest.run.id.value, waiting.oldest.job_name);
    const std::string sentence =
        waiting.runs == 1
            ? fmt::format("Run {} waits. ", oldest)
            : fmt::format("{} runs wait for one reason; the oldest is {}. ", waiting.runs, oldest);
    auto& item = add("waits", is_helpless ? kError : kWarning, waiting.oldest.job_name,
                     sentence + waiting.sentence,
                     fmt::format("rota run why {}", waiting.oldest.run.id.value));
    const model::Run& run = waiting.oldest.run;  // a child's logical time is its parent's
    item.__set_since_ms(to_ms(run.kind == model::RunKind::Child ? run.recorded : run.scheduled));
    item.__set_count(waiting.runs);
    item.__set_run(waiting.oldest.run.id.value);
  }
  void add_stuck(const StuckJob& stuck) {
    const std::int64_t run = stuck.run.run.id.value;
    auto& item = add("stuck", kError, stuck.skipped.job,
                     fmt::format("{} ticks were skipped behind run {}, which is {}.", stuck.skipped.ticks,
                                 run, model::name_of(stuck.run.run.progress.state)),
                     fmt::format("rota run why {}", run));
    item.__set_since_ms(to_ms(stuck.skipped.from));
    item.__set_count(stuck.skipped.ticks);
    item.__set_run(run);
  }
  void add_failed(const FailedJob& job) {
    const model::Run& run = job.newest.run;
    const bool is_one_off = store::is_of_one_off(run);
    std::string sentence =
        job.runs == 1 ? fmt::format("Run {} is {}", run.id.value, model::name_of(run.progress.state))
                      : fmt::format("{}{} runs did not end well; the newest, {}, is {}",
                                    job.has_more ? "at least " : "", job.runs, run.id.value,
                                    model::name_of(run.progress.state));
    const Reason reason = run.progress.reason;
    if (reason != Reason::None) sentence += fmt::format(" ({})", model::name_of(reason));
    sentence += ".";
    const char* level = kWarning;
    if (run.progress.state == RunState::KillFailed || run.progress.state == RunState::Lost) level = kError;
    std::string help = fmt::format("rota run why {}", run.id.value);
    if (!job.paused_why.empty()) {
      sentence += fmt::format(" The job is paused: {}.", job.paused_why);
      help = command("job resume " + job.newest.job_name);
      level = kError;
    } else if (job.has_succeeded) {
      sentence += " It has succeeded since.";
      level = kInfo;
    } else if (!is_one_off) {
      sentence += " It has not succeeded since.";
    }
    auto& item = add("failed", level, job.newest.job_name, std::move(sentence), std::move(help));
    item.__set_since_ms(to_ms(run.progress.ended.value_or(run.scheduled)));
    item.__set_count(job.runs);
    item.__set_run(run.id.value);
  }
  void add_late(const LateJob& late) {
    const std::string subject = late.newest.run == RunId{}
                                    ? "a tick that did not fire"
                                    : fmt::format("run {}", late.newest.run.value);
    auto& item = add("late", kWarning, late.newest.job_name,
                     fmt::format("{} expectation{} not met; the newest is {} of {}, which was {}.", late.told,
                                 late.told == 1 ? " was" : "s were", name_of(late.newest.what), subject,
                                 late.newest.was),
                     command("job late " + late.newest.job_name));
    item.__set_since_ms(to_ms(late.newest.told));
    item.__set_count(late.told);
    if (late.newest.run != RunId{}) item.__set_run(late.newest.run.value);
  }
  void add_missed(const store::GapSum& missed) {
    auto& item = add("missed", kWarning, missed.job,
                     fmt::format("{} tick{} did not fire. {}", missed.ticks, missed.ticks == 1 ? "" : "s",
                                 reason_sentence(missed.reason, "")),
                     command("job gaps " + missed.job));
    item.__set_since_ms(to_ms(missed.to));
    item.__set_count(missed.ticks);
  }

  std::vector<thrift::AttentionItem> take() {
    const auto urgency = [](const thrift::AttentionItem& item) {
      return item.level == kError ? 0 : item.level == kWarning ? 1 : 2;
    };
    std::ranges::stable_sort(items_, [&](const auto& a, const auto& b) {
      const int left = urgency(a), right = urgency(b);
      return left != right ? left < right : a.since_ms > b.since_ms;
    });
    if (items_.size() > kMostAttention) items_.resize(kMostAttention);
    return std::move(items_);
  }

 private:
  void add_freeze(const model::Freeze& freeze) {
    const std::string who = freeze.space.empty() ? "all namespaces" : "namespace " + freeze.space;
    const std::string why = freeze.why.empty() ? "" : ": " + freeze.why;
    std::string sentence = fmt::format("Ticks of {} fire again after {}, frozen by {}{}.", who,
                                       core::second_text(freeze.end()), freeze.principal, why);
    if (facts_.now >= freeze.end()) {
      sentence = fmt::format("The freeze of {} by {} is over, and its ticks are being made up for{}.", who,
                             freeze.principal, why);
    }
    auto& item = add("frozen", kInfo, freeze.space, std::move(sentence), "rota freeze list");
    item.__set_since_ms(to_ms(freeze.from));
  }
  void add_worker(const core::WorkerView& worker) {
    const std::string remarks = core::remarks_on(worker, facts_.now);
    if (remarks.empty() || worker.why == core::kWasStopped) return;
    const bool is_away = worker.left || worker.silent_since;
    const char* level = is_away && worker.running > 0 ? kError : worker.drain && !is_away ? kInfo : kWarning;
    const std::string& id = worker.info->key.id;
    auto& item = add("worker", level, id, fmt::format("It is {}: {}.", worker.state, remarks),
                     "rota worker show " + id);
    if (worker.left) item.__set_since_ms(to_ms(*worker.left));
    if (!worker.left && worker.silent_since) item.__set_since_ms(to_ms(*worker.silent_since));
  }
  void add_calendar(const core::EndingCalendar& calendar) {
    add("calendar", facts_.now + std::chrono::hours{7 * 24} > calendar.end ? kWarning : kInfo,
        calendar.space + "/" + calendar.name,
        fmt::format("It covers no day after {}. Jobs that use it ({}) then {}.",
                    model::day_to_text(calendar.last_day), calendar.jobs,
                    calendar.holds ? "do not fire" : "fire by its weekly pattern alone"),
        command_in(calendar.space, "calendar show " + calendar.name));
  }

  const AttentionFacts& facts_;
  std::vector<thrift::AttentionItem> items_;
};

}  // namespace

bool needs_help(Reason reason) {
  switch (reason) {
    case Reason::NoWorkerInPool:
    case Reason::NoWorkerHas:
    case Reason::NamedWorkerAbsent:
    case Reason::HandlerUnknown:
    case Reason::WorkersDraining:
    case Reason::WorkerUnseen:
    case Reason::WaitsForConfirmation: return true;
    default: return false;
  }
}

bool may_take_long(Reason reason) {
  switch (reason) {
    case Reason::AllSlotsBusy:
    case Reason::WaitsForSemaphore:
    case Reason::PoolLimit:
    case Reason::NamespaceSlots:
    case Reason::WaitsForRun:
    case Reason::WaitsForFence:
    case Reason::WorkerUnreconciled: return true;
    default: return false;
  }
}

std::vector<GivenUp> given_up_since(const std::vector<model::Notification>& rows, WallTime since) {
  std::map<std::string, GivenUp> by_receiver;
  for (const model::Notification& row : rows) {
    const WallTime settled = row.settled.value_or(row.made);
    if (row.state != model::Delivery::GivenUp || settled < since) continue;
    GivenUp& sum = by_receiver[row.receiver];
    sum.receiver = row.receiver;
    ++sum.count;
    if (settled <= sum.newest) continue;
    sum.newest = settled;
    sum.last_error = row.last_error;
  }
  std::vector<GivenUp> out;
  for (auto& [receiver, sum] : by_receiver) out.push_back(std::move(sum));
  return out;
}

const std::vector<Reason>& missed_reasons() {
  static const std::vector<Reason> reasons{Reason::Missed, Reason::LateSkipped, Reason::LateBounded,
                                           Reason::QueueFull, Reason::CalendarEdited};
  return reasons;
}

bool is_bad_end(const model::RunProgress& progress) {
  switch (progress.state) {
    case RunState::Failed:
    case RunState::TimedOut:
    case RunState::KillFailed:
    case RunState::Lost: return true;
    case RunState::Killed:
      return progress.reason != Reason::CancelledByUser && progress.reason != Reason::ReplacedBy;
    default: return false;
  }
}

namespace {

constexpr std::int32_t kCallsInVain = 5;

void add_hooks(const core::Snapshot& snapshot, Items& items) {
  for (const core::ScaleView& view : snapshot.scaling) {
    if (!view.newest) continue;
    const bool is_in_vain =
        view.newest->state == model::HookState::Open && view.newest->attempts >= kCallsInVain;
    if (is_in_vain || view.newest->state == model::HookState::GivenUp) items.add_hook(view);
  }
}

}  // namespace

std::vector<thrift::AttentionItem> attention_of(const AttentionFacts& facts) {
  Items items(facts);
  items.add_health();
  if (facts.snapshot) items.add_cluster(*facts.snapshot);
  for (const core::PoolShortage& shortage : facts.shortages) items.add_shortage(shortage);
  for (const WaitingRuns& waiting : facts.waiting) items.add_waiting(waiting);
  for (const StuckJob& stuck : facts.stuck) items.add_stuck(stuck);
  if (facts.snapshot) add_hooks(*facts.snapshot, items);
  for (const GivenUp& given_up : facts.given_up) items.add_given_up(given_up);
  for (const FailedJob& job : facts.failed) items.add_failed(job);
  for (const store::GapSum& missed : facts.missed) items.add_missed(missed);
  for (const LateJob& late : facts.late) items.add_late(late);
  return items.take();
}

}  // namespace rota::master::api
