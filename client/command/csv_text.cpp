#include "client/command/csv_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/utf8.h"

namespace rota::client {
namespace {

using nlohmann::json;

constexpr std::size_t kRowsInMemory = 1000;

std::string cell_of(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return repaired_text(value.get<std::string>());
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void flatten(const json& value, const std::string& name, ListCells lists, FlatRow& row) {
  if (value.is_array() && lists == ListCells::OneByOne) {
    for (const json& item : value) flatten(item, name + "[]", lists, row);
  } else if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      flatten(inner, name.empty() ? key : name + "." + key, lists, row);
    }
  } else {
    row.emplace(name, cell_of(value));
  }
}

void put_cell(std::string& out, const std::string& cell) {
  if (cell.find_first_of("\",\r\n") == std::string::npos) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace

FlatRow flat_row(const json& row, ListCells lists) {
  FlatRow out;
  flatten(row, row.is_object() ? "" : "value", lists, out);
  return out;
}

std::string csv_text(const json& value) {
  CsvRows rows;
  for (const json& each : value.is_array() ? value : json::array({value})) rows.add(each);
  std::string out;
  (void)rows.write([&out](std::string_view text) { out += text; });
  return out;
}

CsvRows::CsvRows() : file_(nullptr, std::fclose) {}
CsvRows::~CsvRows() = default;

void CsvRows::add(const json& row) {
  FlatRow flat = flat_row(row);
  for (const auto& [name, cell] : flat) columns_.insert(name);
  if (rows_.size() < kRowsInMemory) {
    rows_.push_back(std::move(flat));
  } else if (spilled_) {
    spilled_ = spill(flat);
  }
}

Result<void> CsvRows::spill(const FlatRow& row) {
  if (!file_) file_.reset(std::tmpfile());
  if (!file_) {
    return fail(ErrorCode::Unavailable,
                fmt::format("cannot make a temporary file for CSV: {}", std::strerror(errno)));
  }
  json pairs = json::array();
  for (const auto& [name, cell] : row) pairs.push_back(json::array({name, cell}));
  // JSON has no line break inside
  const std::string line = pairs.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size()) return {};
  return fail(ErrorCode::Unavailable,
              fmt::format("cannot write the temporary file for CSV: {}", std::strerror(errno)));
}

std::string CsvRows::line_of(const FlatRow& row) const {
  std::string out;
  bool is_first = true;
  for (const std::string& column : columns_) {
    if (!std::exchange(is_first, false)) out += ',';
    const auto found = row.find(column);
    if (found != row.end()) put_cell(out, found->second);
  }
  return out + "\n";
}

Result<void> CsvRows::write(const std::function<void(std::string_view)>& put) {
  if (!spilled_) return spilled_;
  if (columns_.empty()) return {};
  FlatRow names;
  for (const std::string& column : columns_) names.emplace(column, column);
  put(line_of(names));
  for (const FlatRow& row : rows_) put(line_of(row));
  if (!file_) return {};
  if (std::fflush(file_.get()) != 0) {
    return fail(ErrorCode::Unavailable,
                fmt::format("cannot write the temporary file for CSV: {}", std::strerror(errno)));
  }
  std::rewind(file_.get());
  char* line = nullptr;
  std::size_t room = 0;
  while (::getline(&line, &room, file_.get()) > 0) {
    FlatRow row;
    for (const json& pair : json::parse(line)) {
      row.emplace(pair[0].get<std::string>(), pair[1].get<std::string>());
    }
    put(line_of(row));
  }
  std::free(line);
  return {};
}

}  // namespace rota::client
