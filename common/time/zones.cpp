#include "common/time/zones.h"

#include <cctz/time_zone.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <utility>

#include "common/base/spelling.h"
#include "common/base/utf8.h"

namespace rota::timezone {
namespace {

namespace fs = std::filesystem;
using ZonePtr = std::shared_ptr<const model::ZoneRules>;
using Seconds = cctz::time_point<cctz::seconds>;

Seconds start_of_year(int year) {
  const std::chrono::sys_days day{std::chrono::year{year} / 1 / 1};
  return Seconds{cctz::seconds{std::chrono::sys_seconds{day}.time_since_epoch().count()}};
}

std::int32_t offset_at(const cctz::time_zone& zone, Seconds moment) {
  return zone.lookup(moment).offset;
}

model::ZoneRules rules_of(const std::string& name, const cctz::time_zone& zone) {
  const Seconds end = start_of_year(2200);
  Seconds at = start_of_year(1970);
  model::ZoneRules rules{name, {{INT64_MIN, offset_at(zone, at)}}};
  cctz::time_zone::civil_transition change;
  while (at < end && zone.next_transition(at, &change)) {
    at = zone.lookup(change.to).trans;
    const auto offset = offset_at(zone, at);
    if (offset == rules.changes.back().offset_s) continue;  // a new name for the same offset
    rules.changes.push_back({at.time_since_epoch().count(), offset});
  }
  return rules;
}

bool is_zone_file(const fs::path& path) {
  char magic[4] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(magic, 4) && std::string_view(magic, 4) == "TZif";
}

/// Folders and files of the database that are not zones.
bool is_set_aside(std::string_view name) {
  return name == "posix" || name == "right" || name == "localtime" || name == "posixrules" ||
         name == "Factory";
}

std::vector<std::string> read_zone_names() {
  const char* elsewhere = std::getenv("TZDIR");  // cctz looks there, too
  const fs::path root = elsewhere != nullptr ? elsewhere : "/usr/share/zoneinfo";
  std::vector<std::string> names{"UTC"};
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().lexically_relative(root).string();
    if (is_set_aside(name)) {
      if (it->is_directory(error)) it.disable_recursion_pending();
    } else if (it->is_regular_file(error) && is_zone_file(it->path())) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

/// The three names nearest to `name`; the part after the last slash also counts alone ("berlin").
std::vector<std::string> nearest_zones(std::string_view name) {
  const std::string wanted = lower(name);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const auto& known : zone_names()) {
    const std::string whole = lower(known);
    const auto city = whole.substr(whole.rfind('/') + 1);  // npos + 1 is 0
    ranked.emplace_back(std::min(edits_between(wanted, whole), edits_between(wanted, city)), known);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < ranked.size() && i < 3; ++i) {
    if (ranked[i].first <= std::max<std::size_t>(2, name.size() / 3)) {
      out.push_back(ranked[i].second);
    }
  }
  return out;
}

tl::unexpected<Error> unknown_zone(std::string_view name) {
  const auto near = name.empty() ? std::vector<std::string>() : nearest_zones(name.substr(0, 64));
  const std::string hint = near.empty() ? "write a name of the IANA database, like Europe/Berlin"
                                        : fmt::format("did you mean {}?", fmt::join(near, " or "));
  return fail(ErrorCode::InvalidArgument,
              fmt::format("unknown time zone '{}'; {}", shown_text(name, 64), hint));
}

struct Cache {
  std::mutex mutex;
  std::map<std::string, ZonePtr, std::less<>> zones;
};

Cache& cache() {
  static Cache one;
  return one;
}

}  // namespace

const std::vector<std::string>& zone_names() {
  static const std::vector<std::string> names = read_zone_names();
  return names;
}

Result<ZonePtr> load_zone(std::string_view name) {
  auto& kept = cache();
  std::scoped_lock lock(kept.mutex);
  if (const auto found = kept.zones.find(name); found != kept.zones.end()) return found->second;
  // Only names of the list: cctz would also open any path that is given as a name.
  if (!std::binary_search(zone_names().begin(), zone_names().end(), name)) {
    return unknown_zone(name);
  }
  cctz::time_zone zone;
  const std::string text(name);
  if (!cctz::load_time_zone(text, &zone)) {
    return fail(ErrorCode::Unavailable, fmt::format("cannot read the rules of time zone {}", name));
  }
  auto rules = std::make_shared<const model::ZoneRules>(rules_of(text, zone));
  kept.zones.emplace(text, rules);
  return rules;
}

}  // namespace rota::timezone
