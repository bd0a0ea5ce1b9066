// What every list prints, in every form that -o knows, row by row: a list of any length takes the memory of
// one page. `--where` decides which rows are shown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/command/csv_text.h"
#include "client/command/row_filter.h"
#include "client/command/screen.h"
#include "client/command/table.h"

namespace rota::client {

struct Desk;

/// A column of a list's table.
struct Column {
  // NOLINTNEXTLINE(google-explicit-constructor): lists of headers read as lists of words
  Column(const char* name) : header(name) {}
  Column(const char* name, bool wide) : header(name), is_wide(wide) {}

  std::string header;
  bool is_wide = false;  ///< shown with -o wide alone
};

/// A column that -o wide adds.
inline Column wide(const char* header) { return {header, true}; }

/// Use: add each row while add says so, then return finish(). When the rows cannot all be read, return the
/// complaint without finish: then what was printed stays unfinished, and no program takes a part for the
/// whole. Thread: one.
class Listing {
 public:
  /// `columns`: of the table, the wide ones among them. `most`: rows to show.
  Listing(const Desk& desk, std::vector<Column> columns, std::size_t most = SIZE_MAX);

  /// A row, as -o json shows it and as cells of all columns. False: no more rows are wanted, since there are
  /// enough or nobody reads them.
  template <typename JsonOf>
  bool add(const JsonOf& json_of, std::vector<std::string> cells) {
    if (!needs_json()) return add_cells(std::move(cells));
    return add_row(json_of(), std::move(cells));
  }

  /// The rows that were shown.
  std::size_t rows() const { return rows_; }
  bool is_filtered() const { return !filter_.is_empty(); }
  /// Prints the rest. An exit status: InvalidArgument's when a --where names a key that no row has.
  int finish();

 private:
  bool needs_json() const { return is_data() || is_filtered(); }
  bool is_data() const { return format_ != Format::Table && format_ != Format::Wide; }
  bool add_row(const nlohmann::json& row, std::vector<std::string> cells);
  bool add_cells(std::vector<std::string> cells);
  void put_data(const nlohmann::json& row);
  void put_table();
  void put(std::string text);
  bool is_wanted();

  const Format format_;
  const std::vector<Column> columns_;
  const std::size_t most_;
  RowFilter filter_;
  Table table_;
  CsvRows csv_;
  std::string waiting_;          ///< printed soon
  bool has_reader_ = true;
  std::size_t rows_ = 0;
  std::size_t rows_in_table_ = 0;
};

}  // namespace rota::client
