#include "sim_zones.h"

#include <charconv>
#include <map>

namespace rota::sim {

namespace {
constexpr std::string_view kForm = "Sim/";
}

std::string sim_zone_name(std::int64_t offset_s) { return std::string(kForm) + std::to_string(offset_s); }

Result<model::ZonePtr> sim_zone(std::string_view name) {
  static const auto utc = std::make_shared<const model::ZoneRules>();
  static std::map<std::string, model::ZonePtr, std::less<>> known;
  if (name == "UTC") return utc;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  std::int32_t offset_s = 0;
  const std::string_view digits = name.substr(std::min(name.size(), kForm.size()));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), offset_s);
  if (!name.starts_with(kForm) || error != std::errc{} || end != digits.data() + digits.size()) {
    return fail(ErrorCode::InvalidArgument, "no simulated world has the time zone " + std::string(name));
  }
  auto zone = std::make_shared<model::ZoneRules>();
  zone->name = name;
  zone->changes = {{INT64_MIN, offset_s}};
  return known.emplace(zone->name, zone).first->second;
}

}  // namespace rota::sim
