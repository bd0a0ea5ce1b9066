#include "client/command/csv_text.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "common/base/utf8.h"

namespace rota::client {
namespace {

using nlohmann::json;
using Row = std::map<std::string, std::string>;

std::string cell_of(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return repaired_text(value.get<std::string>());
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void flatten(const json& value, const std::string& name, Row& row) {
  if (!value.is_object()) {
    row[name] = cell_of(value);
    return;
  }
  for (const auto& [key, inner] : value.items()) flatten(inner, name.empty() ? key : name + "." + key, row);
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

std::string csv_text(const json& value) {
  std::vector<Row> rows;
  for (const json& each : value.is_array() ? value : json::array({value})) {
    flatten(each, each.is_object() ? "" : "value", rows.emplace_back());
  }
  std::set<std::string> columns;
  for (const Row& row : rows) {
    for (const auto& [name, cell] : row) columns.insert(name);
  }
  std::string out;
  const auto put_line = [&](const auto& cell_for) {
    bool is_first = true;
    for (const std::string& column : columns) {
      if (!std::exchange(is_first, false)) out += ',';
      put_cell(out, cell_for(column));
    }
    if (!columns.empty()) out += '\n';
  };
  put_line([](const std::string& column) { return column; });
  for (const Row& row : rows) {
    put_line([&row](const std::string& column) {
      const auto found = row.find(column);
      return found == row.end() ? std::string() : found->second;
    });
  }
  return out;
}

}  // namespace rota::client
