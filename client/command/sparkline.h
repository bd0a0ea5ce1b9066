// A row of values as small blocks, for terminals. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rota::client {

using Values = std::vector<std::optional<double>>;

/// Eight heights from 0 to `most`, a space for what is not known. A value above `most` has the full height.
std::string sparkline(const Values& values, double most);

/// As many cells at most: each the average of what is known of its values.
Values folded(const Values& values, std::size_t cells);

}  // namespace rota::client
