// The names of candidates in the election, n_<16 hex>_<sequence>, and their order. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/zk/client.h"

namespace rota::zk {

inline constexpr std::string_view kCandidatePrefix = "n_";
inline constexpr std::size_t kTagLength = 16;

/// The sequence is everything after the fixed-length prefix: ten digits, or a minus sign and ten digits
/// once ZooKeeper's signed counter has wrapped. Empty when the name is not one of ours.
std::optional<std::int32_t> candidate_sequence(std::string_view name);

/// The 16 hex digits; empty when the name is not one of ours.
std::string_view candidate_tag(std::string_view name);

/// A node of the election.
struct Candidate {
  std::string name;
  SessionId owner = 0;
  std::int64_t created_zxid = 0;
};

/// Whether it may lead: it has one of our names, and a session owns it. A node without a session (a tool
/// has copied it) belongs to no candidate and never goes away by itself.
bool is_candidate(const Candidate& node);

/// Whether `a` came before `b`, by the number of the change that created each; these numbers never repeat.
/// The sequence in the name gives the same order until its counter ends and repeats.
bool stands_before(const Candidate& a, const Candidate& b);

}  // namespace rota::zk
