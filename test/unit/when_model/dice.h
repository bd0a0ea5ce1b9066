// Random numbers, entries and calendars for the model of schedules.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "plain.h"

namespace rota::when_model {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  /// When a world begins: mostly some days before the clocks of a zone change, which is named often then.
  Ms begin();
  std::string zone();
  /// The hour of that zone's clocks which is skipped then, or comes twice; empty: none.
  std::optional<int> changing_hour(const std::string& zone) const;
  template <typename Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(values.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
  std::string home_;
  std::optional<int> changing_hour_;  ///< of that zone
};

extern const std::vector<std::string> kZones;

/// The zone with the changes of about a year around that moment.
model::ZonePtr zone_near(const std::string& name, Ms moment);
/// Whether a zone of the model changes within some hours of it.
bool is_near_a_change(Ms moment);

/// `key`: the job's namespace and name, for H. `calendars`: those that it may name.
PlainEntry random_entry(Dice& dice, Ms now, const std::pair<std::string, std::string>& key,
                        const std::vector<std::string>& calendars);
PlainEntry random_after_end(Dice& dice, Ms now, const std::vector<std::string>& calendars);

/// A version that counts from `from` on, as it is applied and as it is looked at.
std::pair<model::Calendar, PlainCalendar> random_calendar(Dice& dice, const std::string& name, Ms now);

}  // namespace rota::when_model
