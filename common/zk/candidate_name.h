// The names of candidates in the election: n_<16 hex>_<sequence>. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rota::zk {

inline constexpr std::string_view kCandidatePrefix = "n_";
inline constexpr std::size_t kTagLength = 16;

/// The sequence is all that follows the fixed-length prefix: ten digits, or a minus sign and ten
/// once ZooKeeper's signed counter has wrapped. Empty when the name is none of ours.
std::optional<std::int32_t> candidate_sequence(std::string_view name);

/// The 16 hex digits; empty when the name is none of ours.
std::string_view candidate_tag(std::string_view name);

/// Whether `a` came before `b`, by their signed 32-bit wrap-around difference.
constexpr bool sequence_before(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) -
                                   static_cast<std::uint32_t>(b)) < 0;
}

}  // namespace rota::zk
