// What each method of each service needs: one row a method. A method without a row is denied to
// everyone; a test walks the IDL and fails for it.
#pragma once

#include <optional>
#include <string_view>

#include "common/base/caller.h"
#include "common/base/result.h"

namespace rota::rpc {

/// Empty: the method has no row.
std::optional<Right> right_for(std::string_view method);

/// The one question that decides who may call what. Denied, with what is missing.
Result<void> check_right(const Caller& caller, std::string_view method);

}  // namespace rota::rpc
