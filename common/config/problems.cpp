#include "common/config/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "common/base/utf8.h"

namespace rota::config {

namespace {

/// 12,345
std::string with_commas(std::size_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, 1, ',');
  return out;
}

}  // namespace

std::string Problem::text() const {
  std::string out = shown_text(source, 4096);
  if (mark.line > 0) out += fmt::format(":{}:{}", mark.line, mark.column);
  if (!key.empty()) out += fmt::format("{}{}", out.empty() ? "" : " ", key);
  return fmt::format("{}{}{}", out, out.empty() ? "" : ": ", what);
}

void Problems::add(std::string_view source, Mark mark, std::string_view key, std::string_view what) {
  if (is_full()) return count_one();
  list_.push_back({std::string(source), mark, shown_text(key, kMostKeyBytes),
                   shown_text(what, kMostWhatBytes)});
}

void Problems::add(const Problems& others) {
  for (const Problem& problem : others.list_) {
    if (is_full()) {
      count_one();
    } else {
      list_.push_back(problem);
    }
  }
  more_ += others.more_;
}

std::string Problems::text() const {
  auto sorted = list_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tuple(a.mark.line, a.mark.column) < std::tuple(b.mark.line, b.mark.column);
  });
  std::string out;
  for (const auto& problem : sorted) out += problem.text() + '\n';
  if (more_ > 0) out += fmt::format("... and {} more problem{}\n", with_commas(more_), more_ == 1 ? "" : "s");
  return out;
}

}  // namespace rota::config
