// Whether this account may do, in this database, all that a leader does: every table and column that the
// schema steps make is there, and may be read, inserted, updated and deleted. It changes nothing, so a
// master asks before it stands for election: one that can't lead must not be elected.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "master/store/mysql/mysql_options.h"
#include "master/store/mysql/schema.h"

namespace rota::master::store {

struct NeededColumn {
  std::string name;
  std::string definition;  ///< as in its schema step: "BIGINT NULL"
  bool operator==(const NeededColumn&) const = default;
};

struct NeededTable {
  std::string name;
  std::vector<NeededColumn> columns;
  int made_by = 0;         ///< number of its schema step
};

/// The tables that these steps make, with the columns that later ones add. Pure.
std::vector<NeededTable> needed_tables(const std::vector<SchemaStep>& steps);

/// Errors name what is missing and the statement that helps: Corrupt (a table or column), Denied (a
/// privilege), Unavailable (read-only, or no answer).
/// Thread: any.
Result<void> check_office(const MysqlOptions& options);

}  // namespace rota::master::store
