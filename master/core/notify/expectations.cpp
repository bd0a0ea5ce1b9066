#include "master/core/notify/expectations.h"

#include <algorithm>

#include "master/core/time/local_times.h"

namespace rota::master::core {
namespace {

constexpr std::int64_t kDayMs = 24 * 3'600'000;
constexpr std::int64_t kMinuteMs = 60'000;

}  // namespace

bool expects_of_tick(const model::JobRules& rules) {
  return rules.expect_start_within > Millis{0} || !rules.expect_finish_by.empty();
}

bool expects_of_run(const model::JobRules& rules) {
  return expects_of_tick(rules) || !rules.expect_longer_than.empty();
}

std::optional<WallTime> finish_by_of(const std::string& clock, const model::ZoneRules& zone, WallTime tick) {
  const auto minutes = model::finish_by_from_text(clock);
  if (!minutes) return std::nullopt;
  const std::int64_t today = day_number(local_ms_of(zone, tick));
  for (std::int64_t day = today - 1; day <= today + 2; ++day) {
    const WallTime moment = moment_of_local(zone, day * kDayMs + *minutes * kMinuteMs);
    if (moment > tick) return moment;
  }
  return std::nullopt;
}

std::optional<Millis> usual_length(std::vector<Millis> last) {
  if (last.size() < model::kPaceLeast) return std::nullopt;
  std::ranges::sort(last);
  const std::size_t half = last.size() / 2;
  return last.size() % 2 == 1 ? last[half] : (last[half - 1] + last[half]) / 2;
}

std::optional<Millis> length_limit(const std::string& longer_than, const std::vector<Millis>& last) {
  if (longer_than.empty()) return std::nullopt;
  const auto longer = model::longer_than_from_text(longer_than);
  if (!longer) return std::nullopt;
  if (longer->thousandths == 0) return longer->most;
  const auto usual = usual_length(last);
  if (!usual) return std::nullopt;
  return Millis{usual->count() * longer->thousandths / 1000};
}

bool started_in_time(const RunFactsNow& run, WallTime due) { return run.begun && *run.begun <= due; }

bool finished_in_time(const RunFactsNow& run, WallTime due) {
  return run.ended && run.state == model::RunState::Succeeded && *run.ended <= due;
}

bool kept_to_length(const RunFactsNow& run, Millis limit, WallTime now) {
  return !run.begun || run.ended.value_or(now) - *run.begun <= limit;
}

}  // namespace rota::master::core
