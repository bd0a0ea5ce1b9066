// A time zone as a value: the list of its changes. With it, pure code can convert between UTC and
// local time. common/time makes these values from the machine's zone files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rota::model {

/// From `from_utc_s` on (until the next entry) local time = UTC + offset_s.
struct ZoneChange {
  std::int64_t from_utc_s = 0;
  std::int32_t offset_s = 0;
};

/// Changes in rising order; the first one starts at INT64_MIN. Complete from 1970 to the year 2200.
struct ZoneRules {
  std::string name = "UTC";
  std::vector<ZoneChange> changes = {{INT64_MIN, 0}};
};

/// Shared, because thousands of jobs name the same zone.
using ZonePtr = std::shared_ptr<const ZoneRules>;

/// The zones that a schedule names: its own, and those of its entries.
struct Zones {
  ZonePtr own;                   ///< null where it needs none
  std::vector<ZonePtr> others;

  Zones() = default;
  Zones(std::nullptr_t) {}
  Zones(ZonePtr one) : own(std::move(one)) {}  // NOLINT: one zone is what most schedules have
  Zones(std::shared_ptr<ZoneRules> one) : own(std::move(one)) {}  // NOLINT
  /// Null: it is not among them.
  ZonePtr named(std::string_view name) const {
    if (own != nullptr && own->name == name) return own;
    const auto found = std::ranges::find(others, name, [](const ZonePtr& zone) { return zone->name; });
    return found == others.end() ? nullptr : *found;
  }
  bool operator==(const Zones&) const = default;
};

}  // namespace rota::model
