#include "client/command/text_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "client/command/table.h"

namespace rota::client {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t kMostLines = 2000;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void put(std::string& out, char sign, std::string_view line) { out += sign + printable(line) + "\n"; }

/// length[i][j]: the length of the longest common subsequence of the rests that begin at i and j.
using Lengths = std::vector<std::vector<std::uint16_t>>;

Lengths lengths_of(const Lines& before, const Lines& after) {
  Lengths lengths(before.size() + 1, std::vector<std::uint16_t>(after.size() + 1, 0));
  for (std::size_t i = before.size(); i-- > 0;) {
    for (std::size_t j = after.size(); j-- > 0;) {
      lengths[i][j] = before[i] == after[j] ? static_cast<std::uint16_t>(lengths[i + 1][j + 1] + 1)
                                            : std::max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

/// Removes the common beginning and the common end.
void trim_common(Lines& before, Lines& after) {
  const auto [b, a] = std::ranges::mismatch(before, after);
  const auto begin = b - before.begin();
  before.erase(before.begin(), b);
  after.erase(after.begin(), after.begin() + begin);
  (void)a;
  while (!before.empty() && !after.empty() && before.back() == after.back()) {
    before.pop_back();
    after.pop_back();
  }
}

}  // namespace

std::string text_diff(std::string_view before_text, std::string_view after_text) {
  Lines before = lines_of(before_text), after = lines_of(after_text);
  trim_common(before, after);
  std::string out;
  if (before.size() > kMostLines || after.size() > kMostLines) {
    for (const auto line : before) put(out, '-', line);
    for (const auto line : after) put(out, '+', line);
    return out;
  }
  const Lengths lengths = lengths_of(before, after);
  std::size_t i = 0, j = 0;
  while (i < before.size() || j < after.size()) {
    if (i < before.size() && j < after.size() && before[i] == after[j]) {
      ++i, ++j;
    } else if (j == after.size() || (i < before.size() && lengths[i + 1][j] >= lengths[i][j + 1])) {
      put(out, '-', before[i++]);
    } else {
      put(out, '+', after[j++]);
    }
  }
  return out;
}

}  // namespace rota::client
