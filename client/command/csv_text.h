// Data as CSV (RFC 4180) for spreadsheets and databases. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace rota::client {

/// One row for each object of a list, or for a single object. One column for each key, sorted by name; the
/// first line has the names. A nested value has a column "outer.inner", a list is written as JSON, null as
/// an empty cell.
std::string csv_text(const nlohmann::json& value);

}  // namespace rota::client
