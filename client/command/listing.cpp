#include "client/command/listing.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/yaml_text.h"

namespace rota::client {
namespace {

using nlohmann::json;

constexpr std::size_t kRowsOfAPage = 1000;
constexpr std::size_t kPiece = std::size_t{64} << 10;

std::vector<std::string> headers_of(const std::vector<Column>& columns, bool is_wide) {
  std::vector<std::string> out;
  for (const Column& column : columns) {
    if (is_wide || !column.is_wide) out.push_back(column.header);
  }
  return out;
}

std::string dumped(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

/// As an item of a list that is printed with an indent of two.
std::string indented(const std::string& text) {
  std::string out = "  ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

}  // namespace

Listing::Listing(const Desk& desk, std::vector<Column> columns, std::size_t most)
    : format_(desk.format), columns_(std::move(columns)), most_(most), filter_(desk.where),
      table_(headers_of(columns_, desk.format == Format::Wide)) {}

bool Listing::is_wanted() {
  // Nothing of CSV is printed before the last row, so its reader's end shows only when it is asked for.
  if (rows_ % kRowsOfAPage == 0 && rows_ > 0) has_reader_ = !output_has_no_reader();
  return rows_ < most_ && has_reader_ && !output_is_closed();
}

void Listing::put(std::string text) {
  waiting_ += text;
  if (waiting_.size() < kPiece) return;
  print_text(waiting_);
  waiting_.clear();
}

bool Listing::add_row(const json& row, std::vector<std::string> cells) {
  if (!filter_.accepts(row)) return is_wanted();
  if (!is_data()) return add_cells(std::move(cells));
  if (!is_wanted()) return false;
  put_data(row);
  ++rows_;
  return is_wanted();
}

void Listing::put_data(const json& row) {
  const bool is_first = rows_ == 0;
  switch (format_) {
    case Format::Csv: return csv_.add(row);
    case Format::Yaml: return put(yaml_text(json::array({row})));
    case Format::JsonLine: return put((is_first ? "[" : ",") + dumped(row, -1));
    default: return put((is_first ? "[\n" : ",\n") + indented(dumped(row, 2)));
  }
}

bool Listing::add_cells(std::vector<std::string> cells) {
  if (!is_wanted()) return false;
  std::vector<std::string> shown;
  cells.resize(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (format_ == Format::Wide || !columns_[i].is_wide) shown.push_back(std::move(cells[i]));
  }
  table_.add(std::move(shown));
  ++rows_;
  if (++rows_in_table_ == kRowsOfAPage) put_table();
  return is_wanted();
}

void Listing::put_table() {
  put(table_.next_page());
  rows_in_table_ = 0;
}

int Listing::finish() {
  if (const auto fine = filter_.complaint(); !fine) return complain(fine.error());
  if (format_ == Format::Csv) {
    const auto written = csv_.write([this](std::string_view text) { put(std::string(text)); });
    if (!written) return complain(written.error());
  } else if (format_ == Format::Yaml) {
    if (rows_ == 0) put("[]\n");
  } else if (is_data()) {
    const bool is_line = format_ == Format::JsonLine;
    put(rows_ == 0 ? "[]\n" : is_line ? "]\n" : "\n]\n");
  } else if (rows_in_table_ > 0 || rows_ == 0) {
    put_table();
  }
  if (!waiting_.empty()) print_text(waiting_);
  waiting_.clear();
  return kOk;
}

}  // namespace rota::client
