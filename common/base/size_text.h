// Sizes as people write them: "512MiB", "2GiB", "4096". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace rota {

/// Reads a whole number with a unit of KiB, MiB, GiB or TiB, or none for bytes. InvalidArgument names
/// what is wrong; less than 2^63.
Result<std::int64_t> parse_size(std::string_view text);

/// The shortest text that parse_size reads as the same: "512MiB", "1000".
std::string format_size(std::int64_t bytes);

}  // namespace rota
