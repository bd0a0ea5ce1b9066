#include "master/core/workers/worker_state_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/duration_text.h"

namespace rota::master::core {
namespace {

constexpr std::int32_t kLoadBelow = 5;
constexpr std::size_t kJobsNamed = 5;

void add_sign(std::string& text, const std::string& more) { text += (text.empty() ? "" : "; ") + more; }

}  // namespace

Millis hold_time(Millis first, std::int32_t strikes) {
  const std::int32_t doublings = std::clamp(strikes - 1, 0, 10);
  return std::min(first * (1 << doublings), first * kHoldGrows);
}

Millis crowd_wait(std::size_t came, std::size_t crowd, std::uint64_t lot) {
  if (came <= crowd) return Millis{0};
  return Millis{static_cast<std::int64_t>(lot % static_cast<std::uint64_t>(kCrowdSpread.count()))};
}

std::string warning_words(const WorkerSigns& signs, bool was) {
  std::string text;
  if (signs.is_silent) add_sign(text, "it missed three beats");
  const auto slow = static_cast<double>(signs.slow_answer.count());
  if (signs.answer_ms > (was ? slow / 2 : slow)) {
    add_sign(text, fmt::format("it takes {:.1f} s to accept an attempt", signs.answer_ms / 1000));
  }
  if (signs.load_percent > (was ? signs.load_most - kLoadBelow : signs.load_most)) {
    add_sign(text, fmt::format("its load is {} %", signs.load_percent));
  }
  if (signs.health.starts_with("degraded")) add_sign(text, signs.health);
  const Millis off = signs.clock_offset < Millis{0} ? -signs.clock_offset : signs.clock_offset;
  if (off > (was ? signs.clock_off_most * 3 / 4 : signs.clock_off_most)) {
    const std::string_view where = signs.clock_offset < Millis{0} ? "behind" : "ahead";
    add_sign(text, fmt::format("its clock is {:.1f} s {}", static_cast<double>(off.count()) / 1000, where));
  }
  if (!signs.accused.empty()) add_sign(text, signs.accused);
  return text;
}

std::string excluded_words(const std::vector<std::string>& jobs) {
  std::string text = fmt::format("{} job{} failed here and succeeded elsewhere: ", jobs.size(),
                                 jobs.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < jobs.size() && i < kJobsNamed; ++i) text += (i > 0 ? ", " : "") + jobs[i];
  return text + (jobs.size() > kJobsNamed ? " and more" : "");
}

std::string flapping_words(int lives) {
  return fmt::format("{} lives within {}", lives, format_duration(Millis{600'000}));
}

std::string away_band(Millis away, const AwayBands& bands) {
  if (away < bands.first) return "";
  const Millis band = away >= bands.third ? bands.third : away >= bands.second ? bands.second : bands.first;
  const bool is_in_seconds = band < Millis{600'000} && band.count() % 1000 == 0;
  return is_in_seconds ? fmt::format("{}s", band.count() / 1000) : format_duration(band);
}

}  // namespace rota::master::core
