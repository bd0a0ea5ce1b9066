// The tree of runs that began with one of them, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "client/command/commands.h"

namespace rota::client {

/// A line for each run, children below their parents; the run that was asked for is marked. Empty: no tree.
std::string tree_text(const thrift::RunDetail& detail);
void put_tree(nlohmann::json& out, const thrift::RunDetail& detail);

}  // namespace rota::client
