#include "master/core/workers/worker_words.h"

#include <fmt/format.h>

#include "common/base/duration_text.h"
#include "master/core/workers/worker_state_rules.h"

namespace rota::master::core {
namespace {

constexpr std::size_t kNamedMost = 5;

void add(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
}

std::string attempts(std::int32_t count) {
  return count == 1 ? "the attempt" : fmt::format("the {} attempts", count);
}

/// What a deadline means now: before it, after it, or with nothing left to end.
std::string deadline_words(WallTime deadline, std::int32_t running, WallTime now) {
  const std::string at = second_text(deadline);
  if (now < deadline) return "hands over at " + at;
  if (running == 0) return "its deadline was " + at + "; nothing runs there any more";
  return fmt::format("its deadline passed at {}: {} there {} being ended and handed over", at,
                     attempts(running), running == 1 ? "is" : "are");
}

std::string by_whom(const model::WorkerDrain& drain) {
  return "drained by " + drain.principal + (drain.why.empty() ? "" : ": " + drain.why);
}

std::string drain_words(const WorkerView& worker, WallTime now) {
  if (!worker.drain) return "";
  std::string text = by_whom(*worker.drain);
  const bool is_here = !is_away(worker);
  if (worker.drain->deadline && is_here) {
    add(text, deadline_words(*worker.drain->deadline, worker.running, now));
  }
  return text;
}

bool stops_by_itself(const WorkerView& worker) {
  return worker.info->stops_at || (worker.info->draining && worker.info->drain_told == false);
}

/// Told to stop where it runs (SIGTERM, a service manager).
std::string stop_words(const WorkerView& worker, WallTime now) {
  if (is_away(worker) || !stops_by_itself(worker)) return "";
  std::string text = "it was told to stop on its own host and takes nothing new";
  if (worker.info->stops_at) add(text, deadline_words(*worker.info->stops_at, worker.running, now));
  return text;
}

/// What follows for the attempts of a worker that is away.
std::string fence_words(const WorkerView& worker, WallTime now) {
  if (worker.running == 0 || !worker.fence) return "";
  const std::string when =
      *worker.fence > now ? "from about " + second_text(*worker.fence) + " on" : "any moment now";
  return fmt::format("{} there may be followed by others {}", attempts(worker.running), when);
}

/// For how long, in the steps that people go by.
std::string band_words(Millis away, const AwayBands& bands) {
  const std::string band = away_band(away, bands);
  return band.empty() ? "" : ", for more than " + band;
}

std::string hold_words(const WorkerView& worker) {
  if (!worker.hold) return "";
  const model::WorkerHold& hold = *worker.hold;
  const std::string kind(name_of(hold.kind));
  if (hold.trial) return kind + ": " + hold.why + "; on trial, with one attempt at a time until one succeeds";
  return fmt::format("{} until {}: {}", kind, second_text(hold.until), hold.why);
}

std::string away_words(const WorkerView& worker, WallTime now) {
  std::string text;
  if (worker.silent_since) {
    text = "it has not answered since " + second_text(*worker.silent_since);
  } else if (is_away(worker) || worker.left) {
    if (worker.left) text = "gone since " + second_text(*worker.left);
    if (worker.left) text += band_words(now - *worker.left, worker.bands);
    if (!worker.why.empty()) text += (text.empty() ? "" : ": ") + worker.why;
    if (!is_away(worker)) add(text, "it still asks for vouchers, so it has lost ZooKeeper and lives on");
  } else {
    return worker.why;
  }
  add(text, fence_words(worker, now));
  return text;
}

/// What it waited for at its start: once the leader has its answer that is over, and before that `why` says
/// it.
std::string health_words(const WorkerView& worker) {
  if (is_away(worker) || !worker.vitals) return "";
  const std::string& health = worker.vitals->health;
  const bool is_said = worker.warning.find(health) != std::string::npos;
  return health == "ok" || health.starts_with("starting: ") || is_said ? "" : health;
}

}  // namespace

std::string second_text(WallTime at) {
  constexpr std::size_t kSecondEnds = 19;
  return format_moment(at).substr(0, kSecondEnds) + "Z";
}

std::string remarks_on(const WorkerView& worker, WallTime now) {
  std::string text = drain_words(worker, now);
  add(text, stop_words(worker, now));
  add(text, hold_words(worker));
  add(text, away_words(worker, now));
  if (worker.state == "warning" && !worker.warning.empty()) add(text, "half of its share: " + worker.warning);
  add(text, health_words(worker));
  return text;
}

std::string labels_text(const std::map<std::string, std::string>& labels) {
  std::string text;
  for (const auto& [label, words] : labels) text += (text.empty() ? "" : ", ") + label + "=" + words;
  return text;
}

std::string unknown_handler_words(const KeptRules& rules) {
  if (rules.route == model::RouteKind::Named) {
    return fmt::format("worker {} does not know handler {}", rules.worker, rules.handler);
  }
  return fmt::format("no worker of pool {} knows handler {}", rules.pool, rules.handler);
}

std::string who_takes_nothing(const std::vector<WorkerView>& workers, const std::string& pool,
                              const std::string& named) {
  std::string text;
  std::size_t count = 0;
  for (const WorkerView& worker : workers) {
    const bool is_meant = named.empty() ? worker.info->pool == pool : worker.info->key.id == named;
    if (!is_meant || gets_work(worker) || worker.state == "dead") continue;
    if (count++ == kNamedMost) return text + "; and more";
    std::string how = "is " + worker.state;
    if (worker.state == "offline" && worker.left) how += " since " + second_text(*worker.left);
    const bool is_left_out = worker.hold && !worker.hold->trial && !is_away(worker);
    if (is_left_out) how += " until " + second_text(worker.hold->until);
    if (worker.drain) how += (worker.state == "draining" ? ", " : " and ") + by_whom(*worker.drain);
    if (worker.state == "draining" && stops_by_itself(worker)) how = "is stopping";
    add(text, worker.info->key.id + " " + how);
  }
  return text;
}

}  // namespace rota::master::core
