#include "common/config/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace rota::config {

std::string Problem::text() const {
  std::string out = source;
  if (mark.line > 0) out += fmt::format(":{}:{}", mark.line, mark.column);
  if (!key.empty()) out += fmt::format("{}{}", out.empty() ? "" : " ", key);
  return fmt::format("{}{}{}", out, out.empty() ? "" : ": ", what);
}

void Problems::add(std::string source, Mark mark, std::string key, std::string what) {
  list_.push_back({std::move(source), mark, std::move(key), std::move(what)});
}

void Problems::add(const Problems& others) {
  list_.insert(list_.end(), others.list_.begin(), others.list_.end());
}

std::string Problems::text() const {
  auto sorted = list_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tuple(a.mark.line, a.mark.column) < std::tuple(b.mark.line, b.mark.column);
  });
  std::string out;
  for (const auto& problem : sorted) out += problem.text() + '\n';
  return out;
}

}  // namespace rota::config
