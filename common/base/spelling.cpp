#include "common/base/spelling.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rota {
namespace {

std::string folded(std::string_view name) {
  std::string out(name.substr(0, 100));
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return out;
}

}  // namespace

std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;  // the row above the one above
  std::vector<std::size_t> above(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = above[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, row[j] + 1, above[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = std::exchange(above, std::move(row));
  }
  return above.back();
}

std::string nearest_name(std::string_view given, const std::vector<std::string>& known) {
  const std::string wanted = folded(given);
  std::size_t least = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  std::string nearest;
  for (const auto& name : known) {
    const std::size_t edits = edits_between(wanted, folded(name));
    if (edits >= least) continue;
    least = edits;
    nearest = name;
  }
  if (!nearest.empty() || wanted.size() < 3) return nearest;
  const auto longer = std::find_if(known.begin(), known.end(), [&](const std::string& name) {
    return folded(name).starts_with(wanted);
  });
  return longer == known.end() ? "" : *longer;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(given, known);
  return nearest.empty() ? "" : " (did you mean " + nearest + "?)";
}

}  // namespace rota
