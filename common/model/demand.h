// What one attempt takes of its worker while it is there: slots, and named amounts (memory, cpu, licences).
// A worker says what it has; the sums of what it holds never exceed that. Pure.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rota::model {

/// By name. Memory counts in bytes; all else in whole numbers of whatever it is.
using Amounts = std::map<std::string, std::int64_t>;

inline constexpr std::size_t kMaxAmounts = 16;               ///< that one job needs, or one worker offers
inline constexpr std::size_t kMaxAmountName = 64;            ///< bytes
inline constexpr std::int64_t kMaxAmount = std::int64_t{1} << 50;
inline constexpr std::int32_t kMaxSlotsOfRun = 1000;

struct Demand {
  std::int32_t slots = 1;
  Amounts needs = {};
  auto operator<=>(const Demand&) const = default;
  /// As jobs are that do not say: one slot and nothing else.
  bool is_plain() const { return slots == 1 && needs.empty(); }
};

inline std::int64_t amount_of(const Amounts& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

/// Adds what one attempt needs to a sum, or (by: -1) takes it away again. Names with nothing are left out.
inline void add_amounts(Amounts& sum, const Amounts& needs, std::int64_t by = 1) {
  for (const auto& [name, amount] : needs) {
    std::int64_t& of_name = sum[name];
    of_name += by * amount;
    if (of_name == 0) sum.erase(name);
  }
}

/// A worker of so many slots that offers this could take it, when nothing else is there. `offers` unset: it
/// does not know how to count, and gets what is plain alone.
inline bool has_whole(std::int32_t slots, const std::optional<Amounts>& offers, const Demand& demand) {
  if (demand.is_plain()) return true;
  if (!offers || slots < demand.slots) return false;
  return std::ranges::all_of(demand.needs, [&](const auto& need) {
    return amount_of(*offers, need.first) >= need.second;
  });
}

}  // namespace rota::model
