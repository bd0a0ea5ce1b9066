// The names of candidates in the election: n_<16 hex>_<sequence>, and who of them comes first. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/zk/client.h"

namespace rota::zk {

inline constexpr std::string_view kCandidatePrefix = "n_";
inline constexpr std::size_t kTagLength = 16;

/// The sequence is all that follows the fixed-length prefix: ten digits, or a minus sign and ten
/// once ZooKeeper's signed counter has wrapped. Empty when the name is none of ours.
std::optional<std::int32_t> candidate_sequence(std::string_view name);

/// The 16 hex digits; empty when the name is none of ours.
std::string_view candidate_tag(std::string_view name);

/// A node of the election as it stands.
struct Candidate {
  std::string name;
  SessionId owner = 0;
  std::int64_t created_zxid = 0;
};

/// Whether it may lead: it has a name of ours, and a session owns it. A node without one (a tool has
/// copied it) is nobody's candidacy and goes with nobody.
bool is_candidate(const Candidate& node);

/// Whether `a` came before `b`: by the change that made them, which ZooKeeper numbers once and for all.
/// The sequence in the name says the same until its counter is at its end, and then repeats.
bool stands_before(const Candidate& a, const Candidate& b);

}  // namespace rota::zk
