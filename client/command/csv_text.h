// Data as CSV (RFC 4180) for spreadsheets and databases.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace rota::client {

/// The cells of a row by the names of their columns.
using FlatRow = std::multimap<std::string, std::string>;

/// How a list within a row stands in it: as one cell with JSON, or its items one by one, each named "key[]".
enum class ListCells { AsJson, OneByOne };

/// Nested values have names "outer.inner"; null is an empty cell; broken UTF-8 is replaced. Pure.
FlatRow flat_row(const nlohmann::json& row, ListCells lists = ListCells::AsJson);

/// One row for each object of a list, or for a single object. One column for each key, sorted by name; the
/// first line has the names. A nested value has a column "outer.inner", a list is written as JSON, null as
/// an empty cell. Pure.
std::string csv_text(const nlohmann::json& value);

/// Rows of which nobody knows all columns before the last has come. The first thousand are kept in memory,
/// all others in a temporary file without a name. Thread: one.
class CsvRows {
 public:
  CsvRows();
  ~CsvRows();
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  void add(const nlohmann::json& row);
  /// The line of names and all rows, in pieces. Unavailable when the temporary file could not be written.
  Result<void> write(const std::function<void(std::string_view)>& put);

 private:
  Result<void> spill(const FlatRow& row);
  std::string line_of(const FlatRow& row) const;

  std::set<std::string> columns_;
  std::vector<FlatRow> rows_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  Result<void> spilled_;
};

}  // namespace rota::client
