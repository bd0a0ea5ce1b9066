// Why a schedule has a tick at a moment, or none: which entry decided it, by
// which key, and for a calendar by which of its versions. For people. Pure but
// for time zones.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/calendar.h"
#include "common/model/job.h"

namespace rota::master::api {

/// The versions of a calendar that count, oldest first; none: there is no such
/// calendar.
using CalendarVersions = std::function<std::vector<model::CalendarRow>(const std::string& name)>;

struct MomentWords {
  /// What decided: "closed", "moved", "edited", "outside_between",
  /// "before_start", "after_end", "skipped_time", "repeated_time",
  /// "other_working_day"; empty: no entry names the moment, or it is a tick.
  std::string reason;
  std::string sentence;  ///< empty: there is nothing to say
  /// The entry that decided, by its name or place; of a tick of several, separated by commas. Empty: none.
  std::string entry{};
  std::string calendar{};             ///< the one that decided; empty: none did
  std::int32_t calendar_version = 0;  ///< of it
};

/// What keeps a moment that its entries name from being a tick.
MomentWords why_no_tick(const model::Schedule& schedule, WallTime anchor, std::uint64_t job_hash,
                        const CalendarVersions& calendars, WallTime at);

/// Which entries have their tick there, and from where it was moved, by which calendar; without a sentence
/// where that is clear.
MomentWords whose_tick(const model::Schedule& schedule, WallTime anchor, std::uint64_t job_hash,
                       const CalendarVersions& calendars, WallTime at);

}  // namespace rota::master::api
