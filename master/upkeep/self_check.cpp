#include "master/upkeep/self_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/log.h"
#include "common/host/self_check_rules.h"

namespace rota::master {
namespace {
constexpr Millis kCheckEvery{10'000};
constexpr Millis kFiguresEvery{2'000};
constexpr Millis kCheckAgain{2'000};  // while it is not ok: what is repaired must not look broken for long

std::string clock_word(const ClockDoubt& doubt) {
  if (doubt.skew) return fmt::format("{} ms from the database's", doubt.skew->count());
  if (!doubt.step) return "ok";
  return fmt::format("{} ms from {}; nobody has confirmed it", doubt.step->by.count(),
                     doubt.step->is_new ? "other hosts' clocks" : "where it was before a step");
}

}  // namespace

std::string invariants_word(const core::Snapshot* snapshot) {
  if (snapshot == nullptr || snapshot->tallies.invariant_violations == 0) return "ok";
  return fmt::format("{} broken, first: {}; please report it with the leader's log",
                     snapshot->tallies.invariant_violations, snapshot->tallies.first_violation);
}

HealthWords health_words(HealthWords servers, const ClockDoubt& clock, const std::string& backlog,
                         const std::vector<std::string>& host) {
  HealthWords words = std::move(servers);
  words.emplace_back("clock", clock_word(clock));
  words.emplace_back("backlog", backlog.empty() ? "ok" : backlog);
  words.emplace_back("host", host::verdict_of(host));
  return words;
}

HealthWords with_words(HealthWords words, const HealthWords& now) {
  for (const auto& [part, word] : now) {
    const auto found = std::ranges::find(words, part, [](const auto& one) { return one.first; });
    found == words.end() ? (void)words.emplace_back(part, word) : (void)(found->second = word);
  }
  return words;
}

std::string verdict_of(const HealthWords& words, Millis up) {
  std::vector<std::string> troubles, awaited;
  for (const auto& [part, word] : words) {
    if (word == "ok") continue;
    const bool is_server = part == "database" || part == "zookeeper";
    (is_server ? awaited : troubles).push_back(part + ": " + word);
  }
  return host::verdict_of(troubles, awaited, up);
}

std::string standstill_of(MonoTime now, MonoTime last_beat, MonoTime last_look, Millis limit) {
  const auto older = [&](MonoTime then, Millis than) { return now - then > than; };
  if (older(last_beat, limit)) {
    return fmt::format("hangs: its main loop has not turned for {} ms",
                       floor_ms(now - last_beat).count());
  }
  if (last_look != MonoTime{} && older(last_look, limit + kCheckEvery)) {
    return fmt::format("hangs: the last self check was {} ms ago", floor_ms(now - last_look).count());
  }
  return "";
}

void SelfCheck::start() {
  thread_ = std::jthread([this](std::stop_token stop) { loop(stop); });
}

void SelfCheck::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

SelfCheckReport SelfCheck::last() const {
  std::scoped_lock lock(mutex_);
  return report_;
}

SelfCheckReport SelfCheck::last_with(const HealthWords& now) const {
  SelfCheckReport report = last();
  if (report.words.empty()) return report;  // not looked yet
  report.words = with_words(std::move(report.words), now);
  report.verdict = verdict_of(report.words, floor_ms(BootClock::now() - begun_));
  return report;
}

void SelfCheck::look_soon() {
  {
    std::scoped_lock lock(mutex_);
    asked_ = true;
  }
  wake_.notify_all();
}

SelfCheckReport SelfCheck::look() const {
  const host::HostReading host = host::read_host(parts_.folder);
  SelfCheckReport report;
  report.process = host::read_process();
  report.disk_free_bytes = host.disk_free_bytes;
  report.words = health_words(
      parts_.servers(), parts_.clock(),
      host::backlog_trouble("inbox", parts_.waiting_events(), parts_.most_events()),
      host::host_troubles(host, report.process, parts_.folder));
  report.verdict = verdict_of(report.words, floor_ms(BootClock::now() - begun_));
  report.masters = parts_.masters();
  report.looked = BootClock::now();
  return report;
}

void SelfCheck::loop(std::stop_token stop) {
  while (!stop.stop_requested()) {
    SelfCheckReport fresh = look();
    std::unique_lock lock(mutex_);
    const bool has_changed = fresh.verdict != report_.verdict;
    report_ = fresh;
    lock.unlock();
    if (has_changed) {
      log_info("master", "self check", {{"health", fresh.verdict}});
      parts_.tell(fresh.verdict);
    }
    wait(stop, fresh.verdict == "ok" ? kCheckEvery : kCheckAgain);
  }
}

/// Until the next check; meanwhile figures are looked at.
void SelfCheck::wait(std::stop_token stop, Millis pause) {
  const MonoTime end = BootClock::now() + pause;
  bool is_over = false;
  while (!is_over && !stop.stop_requested()) {
    if (parts_.look_at_figures) parts_.look_at_figures();
    std::unique_lock lock(mutex_);
    const auto left = std::min<Micros>(end - BootClock::now(), kFiguresEvery);
    const bool is_asked = wake_.wait_for(lock, stop, left, [this] { return asked_; });
    is_over = is_asked || BootClock::now() >= end;
    if (is_asked) asked_ = false;
  }
}

}  // namespace rota::master
