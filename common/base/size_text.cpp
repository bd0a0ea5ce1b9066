#include "common/base/size_text.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "common/base/utf8.h"

namespace rota {
namespace {

struct SizeUnit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr SizeUnit kSizeUnits[] = {
    {"TiB", 1ll << 40}, {"GiB", 1ll << 30}, {"MiB", 1ll << 20}, {"KiB", 1ll << 10}, {"", 1}};

}  // namespace

Result<std::int64_t> parse_size(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  for (const SizeUnit& each : kSizeUnits) {
    if (error != std::errc{} || number < 0 || unit != each.name) continue;
    if (number > std::numeric_limits<std::int64_t>::max() / each.bytes) break;
    return number * each.bytes;
  }
  return fail(ErrorCode::InvalidArgument,
              fmt::format("'{}' is no size; write bytes, or a whole number with KiB, MiB, GiB or "
                          "TiB, like 512MiB", shown_text(text)));
}

std::string format_size(std::int64_t bytes) {
  for (const SizeUnit& unit : kSizeUnits) {
    if (bytes != 0 && bytes % unit.bytes == 0) return fmt::format("{}{}", bytes / unit.bytes, unit.name);
  }
  return fmt::format("{}", bytes);
}

}  // namespace rota
