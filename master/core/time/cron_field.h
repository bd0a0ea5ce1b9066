// One field of a cron: from its text to the values that it stands for. Pure; private to the cron
// files.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "master/core/time/cron.h"

namespace rota::master::core {

/// The fields in the order of a seven field cron.
enum class CronPart { Second, Minute, Hour, MonthDay, Month, Weekday, Year };

/// A field of the text and where it begins (columns count from 1).
struct CronToken {
  std::string text;  ///< in capitals
  int column = 1;
};

/// What one field says. Bit i of `values` stands for the value base + i, the base is 1970
/// for years and 0 else; weekdays count from Sunday = 0 in both dialects.
struct CronFieldValues {
  std::bitset<256> values;
  bool begins_with_star = false;
  bool plain_star = false;  ///< "*" or "?", so it restricts nothing
  bool question = false;
  bool wildcard = false;  ///< some item covers the field from end to end, with or without step
  std::uint32_t nearest = 0;
  std::vector<CronExpression::FromMonthEnd> month_end;
  std::vector<CronExpression::NthWeekday> nth;
};

/// Reads one field. InvalidArgument names column, field and reason.
/// `hash` is that of the job, for H.
Result<CronFieldValues> read_cron_field(const CronToken& token, CronPart part, bool quartz,
                                        std::optional<std::uint64_t> hash);

}  // namespace rota::master::core
