// Bounds that several rows of the field tables share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rota::model {

inline constexpr std::size_t kMaxNameBytes = 128;
inline constexpr std::size_t kMaxWorkBytes = 256u << 10;  ///< argv, script, environment, parameters
inline constexpr std::size_t kMaxValueBytes = 64u << 10;  ///< of one entry
inline constexpr std::int64_t kMaxLimitBytes = std::int64_t{1} << 50;
inline constexpr std::int64_t kHourMs = 3'600'000;
inline constexpr std::int64_t kDayMs = 24 * kHourMs;

}  // namespace rota::model
