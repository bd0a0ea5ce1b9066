#include "client/clock_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

namespace rota::client {
namespace {

constexpr std::int64_t kDay = 86'400;

std::string clock_text(std::int64_t local_s) {
  const std::int64_t second = ((local_s % kDay) + kDay) % kDay;
  const std::string text = fmt::format("{:02}:{:02}", second / 3600, second / 60 % 60);
  return second % 60 == 0 ? text : fmt::format("{}:{:02}", text, second % 60);
}

std::optional<int> number(const std::string& field) {
  const bool is_plain = !field.empty() && field.size() <= 2 &&
                        std::ranges::all_of(field, [](char c) { return c >= '0' && c <= '9'; });
  return is_plain ? std::optional(std::stoi(field)) : std::nullopt;
}

/// Seconds since midnight of a cron that names one minute of one hour.
std::optional<std::int64_t> time_of(std::string_view cron) {
  std::istringstream in{std::string(cron)};
  std::vector<std::string> fields;
  for (std::string field; in >> field;) fields.push_back(field);
  if (fields.size() < 5) return std::nullopt;
  const std::size_t first = fields.size() == 5 ? 0 : 1;  // with seconds before them
  const auto minute = number(fields[first]), hour = number(fields[first + 1]);
  if (!minute || !hour) return std::nullopt;
  return *hour * 3600 + *minute * 60;
}

std::string forward_words(std::int64_t from_s, std::int64_t to_s, std::string_view cron) {
  const auto time = time_of(cron);
  const std::int64_t midnight = from_s - ((from_s % kDay) + kDay) % kDay;
  if (time && midnight + *time >= from_s && midnight + *time < to_s) {
    return fmt::format("clocks forward: {} does not exist, runs at {}", clock_text(*time), clock_text(to_s));
  }
  return fmt::format("clocks forward: {} to {} does not exist", clock_text(from_s), clock_text(to_s));
}

std::string back_words(std::int64_t local_s, const char* which) {
  return fmt::format("clocks back: {} comes twice, this is the {}", clock_text(local_s), which);
}

}  // namespace

std::string clock_words(const model::ZoneRules& zone, std::int64_t at_ms, std::string_view cron) {
  const std::int64_t at = at_ms / 1000;
  const auto next = std::ranges::upper_bound(zone.changes, at, {}, &model::ZoneChange::from_utc_s);
  if (next == zone.changes.begin()) return {};
  const auto now = next - 1;
  if (next != zone.changes.end()) {
    const std::int64_t back = now->offset_s - next->offset_s;
    if (back > 0 && next->from_utc_s - at <= back) return back_words(at + now->offset_s, "first");
  }
  if (now == zone.changes.begin()) return {};
  const std::int64_t before = (now - 1)->offset_s, since = now->offset_s;
  if (since > before && at == now->from_utc_s) return forward_words(at + before, at + since, cron);
  if (before > since && at - now->from_utc_s < before - since) return back_words(at + since, "second");
  return {};
}

}  // namespace rota::client
