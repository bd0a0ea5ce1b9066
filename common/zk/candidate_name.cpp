#include "common/zk/candidate_name.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace rota::zk {

namespace {
constexpr std::size_t kPrefixLength = kCandidatePrefix.size() + kTagLength + 1;  // n_<16 hex>_

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
}  // namespace

std::string_view candidate_tag(std::string_view name) {
  if (name.size() <= kPrefixLength || !name.starts_with(kCandidatePrefix)) return {};
  if (name[kPrefixLength - 1] != '_') return {};
  const std::string_view tag = name.substr(kCandidatePrefix.size(), kTagLength);
  return std::all_of(tag.begin(), tag.end(), is_hex) ? tag : std::string_view{};
}

std::optional<std::int32_t> candidate_sequence(std::string_view name) {
  if (candidate_tag(name).empty()) return std::nullopt;
  const std::string_view digits = name.substr(kPrefixLength);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

bool is_candidate(const Candidate& node) {
  return node.owner != 0 && candidate_sequence(node.name).has_value();
}

bool stands_before(const Candidate& a, const Candidate& b) {
  return std::tie(a.created_zxid, a.name) < std::tie(b.created_zxid, b.name);
}

}  // namespace rota::zk
