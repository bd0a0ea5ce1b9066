#include "client/command/row_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "client/command/csv_text.h"
#include "common/base/spelling.h"
#include "common/base/utf8.h"

namespace rota::client {
namespace {

/// The last part of "definition.rules.pool".
std::string last_part(const std::string& key) {
  const auto dot = key.rfind('.');
  return dot == std::string::npos ? key : key.substr(dot + 1);
}

/// The cells that a condition is about: of that very key, or else of all that end so. The items of a list
/// count one by one.
std::vector<std::string> cells_of(const FlatRow& row, const std::string& key) {
  std::vector<std::string> out;
  for (const auto& [name, cell] : row) {
    if (name == key || name == key + "[]") out.push_back(cell);
  }
  if (!out.empty()) return out;
  const std::string end = "." + key;
  for (const auto& [name, cell] : row) {
    if (name.ends_with(end) || name.ends_with(end + "[]")) out.push_back(cell);
  }
  return out;
}

}  // namespace

Result<RowCondition> row_condition_from(const std::string& text) {
  const auto at = text.find('=');
  RowCondition out;
  if (at != std::string::npos) {
    out.is_equal = at == 0 || text[at - 1] != '!';
    out.key = text.substr(0, out.is_equal ? at : at - 1);
    out.pattern = text.substr(at + 1);
  }
  if (!out.key.empty()) return out;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("--where takes KEY=VALUE or KEY!=VALUE, such as state=failed, not {}",
                          quoted_text(text)));
}

bool matches_pattern(const std::string& pattern, const std::string& text) {
  std::size_t at = 0, in = 0, star = std::string::npos, again = 0;
  while (in < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      again = in;
    } else if (at < pattern.size() && pattern[at] == text[in]) {
      ++at;
      ++in;
    } else if (star != std::string::npos) {
      at = star + 1;
      in = ++again;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool RowFilter::accepts(const nlohmann::json& row) {
  if (conditions_.empty()) return true;
  const FlatRow flat = flat_row(row, ListCells::OneByOne);
  has_rows_ = true;
  for (const auto& [name, cell] : flat) {
    seen_.insert(name.ends_with("[]") ? name.substr(0, name.size() - 2) : name);
  }
  std::map<std::string, bool> equal;  // by key: whether one of its alternatives holds
  bool is_accepted = true;
  for (const RowCondition& condition : conditions_) {
    const std::vector<std::string> cells = cells_of(flat, condition.key);
    if (!cells.empty()) found_.insert(condition.key);
    const bool holds = std::ranges::any_of(
        cells, [&](const std::string& cell) { return matches_pattern(condition.pattern, cell); });
    if (condition.is_equal) {
      bool& is_one = equal[condition.key];
      is_one = is_one || holds;
    } else {
      is_accepted = is_accepted && !holds;
    }
  }
  return is_accepted && std::ranges::all_of(equal, [](const auto& one) { return one.second; });
}

Result<void> RowFilter::complaint() const {
  if (!has_rows_) return {};
  for (const RowCondition& condition : conditions_) {
    if (found_.contains(condition.key)) continue;
    std::vector<std::string> known;
    for (const std::string& key : seen_) known.push_back(last_part(key));
    const std::string near = did_you_mean(condition.key, known);
    return fail(ErrorCode::InvalidArgument,
                fmt::format("--where: no row has {}{}; the keys are: {}", quoted_text(condition.key), near,
                            fmt::join(seen_, ", ")));
  }
  return {};
}

}  // namespace rota::client
