// The calendars of a simulated world, and entries of schedules that name them. Their days are those around the
// world's start, their hours and times lie in the seconds to come, and in one of its time zones midnight does too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/calendar.h"
#include "clockwork.h"
#include "random.h"

namespace rota::sim {

/// Thread: one.
class CalendarDraw {
 public:
  CalendarDraw(Random& dice, const Clockwork& clockwork);

  const std::vector<std::string>& names() const { return names_; }
  /// Another one each time.
  model::Calendar calendar(const std::string& name);
  /// Of one job: one or two that name calendars, and perhaps one that names none.
  std::vector<std::string> entries();

 private:
  struct Clock {
    std::int64_t day = 0;                ///< since 1970
    std::int64_t second = 0;             ///< of the day
  };

  template <typename T>
  const T& one_of(const std::vector<T>& some) { return some[dice_.index(some.size())]; }
  Clock clock(const std::string& zone, WallTime at) const;
  WallTime soon();
  std::vector<std::string> days(int percent);
  std::string stretch(const std::string& zone, std::int64_t* day);
  std::string cron(const std::string& zone);
  std::string kind(const std::string& zone);
  std::string entry();

  Random& dice_;
  const Clockwork& clockwork_;
  const WallTime start_;
  std::vector<std::string> zones_ = {"UTC"};
  std::vector<std::string> names_ = {"open"};
  std::vector<std::string> covers_;      ///< of each calendar, always the same
  int edits_ = 0;
};

}  // namespace rota::sim
