#include "client/command/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace rota::client {
namespace {

constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄",
                                                     "▅", "▆", "▇", "█"};

}  // namespace

std::string sparkline(const Values& values, double most) {
  std::string out;
  for (const auto& value : values) {
    if (!value || !std::isfinite(*value)) {
      out += ' ';
      continue;
    }
    const double share = most > 0 ? std::clamp(*value / most, 0.0, 1.0) : 0;
    out += kBlocks.at(static_cast<std::size_t>(std::lround(share * (kBlocks.size() - 1))));
  }
  return out;
}

Values folded(const Values& values, std::size_t cells) {
  if (cells == 0 || values.size() <= cells) return values;
  Values out;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    double sum = 0;
    int known = 0;
    for (std::size_t i = values.size() * cell / cells; i < values.size() * (cell + 1) / cells; ++i) {
      if (!values[i]) continue;
      sum += *values[i];
      ++known;
    }
    out.push_back(known == 0 ? std::nullopt : std::optional(sum / known));
  }
  return out;
}

}  // namespace rota::client
