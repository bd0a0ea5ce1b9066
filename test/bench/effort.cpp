#include "test/bench/effort.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace rota::bench {
namespace {

/// False: it is no number of at least `least`.
bool read_number(std::string_view text, double least, double& out) {
  const std::string copy(text);
  char* end = nullptr;
  out = std::strtod(copy.c_str(), &end);
  return !copy.empty() && *end == '\0' && std::isfinite(out) && out >= least;
}

/// False: as read_number, or too large.
template <typename Whole>
bool read_whole(std::string_view text, double least, Whole& out) {
  double value = 0;
  if (!read_number(text, least, value) || value > std::numeric_limits<std::int32_t>::max())
    return false;
  out = static_cast<Whole>(value);
  return true;
}

bool read_one(Effort& effort, std::string_view key, std::string_view value) {
  if (key == "--seconds") return read_number(value, 0.1, effort.seconds);
  if (key == "--pairs") return read_whole(value, 1, effort.pairs);
  if (key == "--samples") return read_whole(value, 1, effort.samples);
  if (key == "--count") return read_whole(value, 1, effort.count);
  if (key == "--history") return read_whole(value, 0, effort.history);
  return false;
}

}  // namespace

Result<Effort> read_effort(Effort defaults, const std::vector<std::string_view>& options) {
  for (std::size_t i = 0; i < options.size(); i += 2) {
    const std::string_view value = i + 1 < options.size() ? options[i + 1] : "";
    if (!read_one(defaults, options[i], value)) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("{} {}: unknown, or out of range", options[i], value));
    }
  }
  return defaults;
}

}  // namespace rota::bench
