// The tables, made and changed in numbered steps (schema/NNN_name.sql, one idempotent, additive
// statement each, embedded at build time). Any master runs them before it becomes a candidate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "master/store/mysql/mysql_options.h"

namespace rota::master::store {

/// One step: its number, its name and its one statement.
struct SchemaStep {
  int number = 0;
  std::string_view name;
  std::string_view sql;
};

/// All steps that this binary knows, in order of their numbers.
const std::vector<SchemaStep>& schema_steps();

/// Table and first column of a step that adds columns; empty for any other. Pure.
std::optional<std::pair<std::string, std::string>> added_column(std::string_view sql);

/// Runs the steps that the database has not recorded yet, holding GET_LOCK('rota.schema'), on Galera the row
/// of schema_lock, so that two masters never run one at the same time. Gives the number of the newest step.
/// Harmless when repeated.
/// Errors: Unsupported when the database knows a newer step than this binary (never start then);
/// Unavailable or TimedOut (try again).
/// Thread: any.
Result<int> upgrade_schema(const MysqlOptions& options);

}  // namespace rota::master::store
