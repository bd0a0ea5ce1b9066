#include "master/store/mysql/office_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "master/store/mysql/connection.h"
#include "master/store/mysql/mysql_errors.h"

namespace rota::master::store {
namespace {

using Standing = std::set<std::pair<std::string, std::string>>;  // table, column

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// "a INT, b VARCHAR(3), KEY (a, b)" at its outer commas.
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '(') ++depth;
    if (i < list.size() && list[i] == ')') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    parts.push_back(trimmed(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

std::string without_comments(std::string_view sql) {
  std::istringstream lines{std::string(sql)};
  std::string out, line;
  while (std::getline(lines, line)) out += line.substr(0, line.find("--")) + " ";
  return out;
}

bool drop_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text = trimmed(text.substr(prefix.size()));
  return true;
}

std::string word_of(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(" ("), text.size());
  std::string word(text.substr(0, end));
  text = trimmed(text.substr(end));
  return word;
}

NeededColumn column_in(std::string_view part) {
  NeededColumn column;
  column.name = word_of(part);
  column.definition = part;
  return column;
}

bool is_key(std::string_view part) {
  for (const std::string_view start : {"PRIMARY ", "UNIQUE ", "KEY ", "INDEX ", "CONSTRAINT ", "CHECK "}) {
    if (part.starts_with(start)) return true;
  }
  return false;
}

NeededTable table_made_by(std::string_view sql, int number) {
  NeededTable table;
  table.name = word_of(sql);
  table.made_by = number;
  const std::size_t last = sql.rfind(')');
  for (const std::string_view part : parts_of(sql.substr(1, last - 1))) {
    if (!is_key(part)) table.columns.push_back(column_in(part));
  }
  return table;
}

void add_columns(std::string_view sql, std::vector<NeededTable>& tables) {
  const std::string name = word_of(sql);
  const auto table = std::ranges::find(tables, name, &NeededTable::name);
  if (table == tables.end()) return;
  for (std::string_view part : parts_of(sql)) {
    if (drop_prefix(part, "ADD COLUMN ")) table->columns.push_back(column_in(part));
  }
}

Result<Standing> standing_columns(Connection& connection) {
  Standing standing;
  auto asked = connection.stream(
      "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE()",
      [&](Row& row) -> Result<void> {
        std::string table = row.text();
        standing.emplace(std::move(table), row.text());
        return {};
      });
  if (!asked) return fail(asked.error());
  return standing;
}

Result<void> check_columns(const NeededTable& table, const Standing& standing) {
  const auto is_there = [&](const auto& one) { return one.first == table.name; };
  if (std::ranges::none_of(standing, is_there)) {
    return fail(ErrorCode::Corrupt,
                fmt::format("database: table {} is missing, or this account may not see it; restore it from "
                            "a backup, or have an empty one created at the next start: "
                            "DELETE FROM schema_step WHERE number = {}",
                            table.name, table.made_by));
  }
  for (const NeededColumn& column : table.columns) {
    if (standing.contains({table.name, column.name})) continue;
    return fail(ErrorCode::Corrupt,
                fmt::format("database: column {0}.{1} is missing, which this version needs; restore it from "
                            "a backup, or go on without what it held: ALTER TABLE {0} ADD COLUMN {1} {2}",
                            table.name, column.name, column.definition));
  }
  return {};
}

/// Each touches no row, and is refused as the real ones would be.
Result<void> check_rights(Connection& connection, const NeededTable& table) {
  const std::string& name = table.name;
  std::string all;
  for (const NeededColumn& column : table.columns) all += (all.empty() ? "" : ", ") + column.name;
  for (const std::string& sql :
       {fmt::format("UPDATE {0} SET {1} = {1} WHERE 1 = 0", name, table.columns.front().name),
        fmt::format("INSERT INTO {0} ({1}) SELECT {1} FROM {0} WHERE 1 = 0", name, all),
        fmt::format("DELETE FROM {0} WHERE 1 = 0", name)}) {
    if (auto done = connection.run_text(sql); !done) return fail(done.error());
  }
  return {};
}

}  // namespace

std::vector<NeededTable> needed_tables(const std::vector<SchemaStep>& steps) {
  std::vector<NeededTable> tables;
  for (const SchemaStep& step : steps) {
    const std::string text = without_comments(step.sql);
    std::string_view sql = trimmed(text);
    if (drop_prefix(sql, "CREATE TABLE IF NOT EXISTS ")) {
      tables.push_back(table_made_by(sql, step.number));
    } else if (drop_prefix(sql, "ALTER TABLE ")) {
      add_columns(sql, tables);
    }
  }
  return tables;
}

Result<void> check_office(const MysqlOptions& options) {
  auto opened = Connection::open(options);
  if (!opened) return fail(opened.error());
  // Behind somebody who changes a table it does not wait for long.
  if (auto set = (*opened)->run_text("SET lock_wait_timeout = 1"); !set) return fail(set.error());
  auto standing = standing_columns(**opened);
  if (!standing) return fail(standing.error());
  for (const NeededTable& table : needed_tables(schema_steps())) {
    if (auto whole = check_columns(table, *standing); !whole) return whole;
    auto allowed = check_rights(**opened, table);
    if (allowed) continue;
    const bool is_busy = (*opened)->last_sql_error() == kLockWaitTimeout;
    return is_busy ? Result<void>{} : allowed;
  }
  return {};
}

}  // namespace rota::master::store
