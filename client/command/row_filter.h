// Which rows of a list are shown: `--where KEY=VALUE`. It goes by the values that -o json prints, so every
// list has it, and no list needs filters of its own. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace rota::client {

/// "state=failed", "state!=failed", "name=nightly-*".
struct RowCondition {
  std::string key;               ///< as a column of -o csv: "definition.rules.pool", or its end: "pool"
  std::string pattern;           ///< `*` stands for any text, also none
  bool is_equal = true;          ///< false: no value of the key may be so
  bool operator==(const RowCondition&) const = default;
};

/// InvalidArgument for a text that is no condition.
Result<RowCondition> row_condition_from(const std::string& text);

/// Whether the whole text is so. `*` stands for any characters.
bool matches_pattern(const std::string& pattern, const std::string& text);

/// Decides row by row. Conditions of one key with `=` are alternatives; all else must hold at once.
class RowFilter {
 public:
  explicit RowFilter(std::vector<RowCondition> conditions) : conditions_(std::move(conditions)) {}

  bool is_empty() const { return conditions_.empty(); }
  bool accepts(const nlohmann::json& row);
  /// After the last row: a key that no row has is a typing error. InvalidArgument names the known ones.
  Result<void> complaint() const;

 private:
  std::vector<RowCondition> conditions_;
  std::set<std::string> seen_;   ///< all keys of the rows
  std::set<std::string> found_;  ///< keys of conditions that a row had
  bool has_rows_ = false;
};

}  // namespace rota::client
