// Data as CSV (RFC 4180) for spreadsheets and databases. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace rota::client {

/// A row for each object of a list, or for a single object; a column for each of their keys, named in the
/// first line and in order of name. What is nested has a column "outer.inner"; lists stand as JSON, null as
/// nothing.
std::string csv_text(const nlohmann::json& value);

}  // namespace rota::client
