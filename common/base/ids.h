// Strong integer types: the compiler refuses an epoch where a run is expected.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace rota {

template <typename Tag>
struct StrongId {
  std::int64_t value = 0;
  constexpr auto operator<=>(const StrongId&) const = default;
  constexpr explicit operator bool() const { return value != 0; }
};

/// The number of a Term. Only grows; 0 means none. Below 2^22, so that run ids stay positive.
using Epoch = StrongId<struct EpochTag>;
/// epoch * 2^40 + counter of the Term: ordered, and unique across Terms.
using RunId = StrongId<struct RunTag>;
/// A saved job: from the same counter as runs. A one-off (submitted without a saved job) has bit 62
/// set and is a hash of its definition, so that a repeat finds the same row.
using JobId = StrongId<struct JobTag>;
/// The reply that an API thread waits for. 0: no thread waits.
using Token = StrongId<struct TokenTag>;

using JobVersion = std::int32_t;  ///< 1 for a new job, + 1 for each edit
using AttemptNo = std::int32_t;   ///< 1 for the first try of a run

inline constexpr int kIdCounterBits = 40;
inline constexpr std::int64_t kOneOffBit = std::int64_t{1} << 62;

}  // namespace rota

template <typename Tag>
struct std::hash<rota::StrongId<Tag>> {
  std::size_t operator()(const rota::StrongId<Tag>& id) const noexcept {
    return std::hash<std::int64_t>{}(id.value);
  }
};
