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
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
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
  return nearest;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(given, known);
  return nearest.empty() ? "" : " (did you mean " + nearest + "?)";
}

}  // namespace rota
