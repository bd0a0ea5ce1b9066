#include "common/wire/job_names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace rota::wire {
namespace {

// Each table follows its enum's order.
template <typename Enum>
struct Names;

template <>
struct Names<model::ScheduleKind> {
  static constexpr std::array<std::string_view, 5> all = {"none", "once", "fixed_rate", "cron", "entries"};
};
template <>
struct Names<model::Overlap> {
  static constexpr std::array<std::string_view, 6> all = {"skip",      "queue",   "allow",
                                                          "queue_one", "replace", "terminate"};
};
template <>
struct Names<model::LatePolicy> {
  static constexpr std::array<std::string_view, 3> all = {"fire_once", "skip", "fire_all"};
};
template <>
struct Names<model::Until> {
  static constexpr std::array<std::string_view, 2> all = {"never", "success"};
};
template <>
struct Names<model::RouteKind> {
  static constexpr std::array<std::string_view, 14> all = {
      "round_robin",          "least_loaded",        "named",             "first",
      "last",                 "random",              "consistent_hash",   "least_frequently_used",
      "least_recently_used",  "failover",            "busyover",          "weighted_round_robin",
      "least_connections",    "fastest_response"};
};
template <>
struct Names<model::AnotherWorker> {
  static constexpr std::array<std::string_view, 3> all = {"any", "prefer", "require"};
};
template <>
struct Names<model::LossPolicy> {
  static constexpr std::array<std::string_view, 3> all = {"after_fence", "never", "confirm"};
};
template <>
struct Names<model::CronDialect> {
  static constexpr std::array<std::string_view, 3> all = {"guess", "unix", "quartz"};
};
template <>
struct Names<model::SkippedTime> {
  static constexpr std::array<std::string_view, 2> all = {"run_at_end", "skip"};
};
template <>
struct Names<model::RepeatedTime> {
  static constexpr std::array<std::string_view, 3> all = {"first", "second", "both"};
};
template <>
struct Names<model::JobState> {
  static constexpr std::array<std::string_view, 3> all = {"enabled", "paused", "deleted"};
};
template <>
struct Names<model::KeepFolder> {
  static constexpr std::array<std::string_view, 3> all = {"never", "on_failure", "always"};
};
template <>
struct Names<model::Isolation> {
  static constexpr std::array<std::string_view, 2> all = {"worker", "process"};
};

template <typename Enum>
std::string_view pick(Enum value) {
  return Names<Enum>::all.at(static_cast<std::size_t>(value));
}

}  // namespace

template <typename Enum>
std::optional<Enum> named(std::string_view name) {
  const auto& all = Names<Enum>::all;
  const auto found = std::ranges::find(all, name);
  if (found == all.end()) return std::nullopt;
  return static_cast<Enum>(found - all.begin());
}

template <typename Enum>
std::span<const std::string_view> all_names() {
  return Names<Enum>::all;
}

template <typename Enum>
std::string allowed_names() {
  return fmt::format("{}", fmt::join(Names<Enum>::all, ", "));
}

#define ROTA_NAMES_OF(Enum)                                         \
  std::string_view name_of(model::Enum value) { return pick(value); } \
  template std::optional<model::Enum> named(std::string_view);      \
  template std::span<const std::string_view> all_names<model::Enum>(); \
  template std::string allowed_names<model::Enum>();

ROTA_NAMES_OF(ScheduleKind)
ROTA_NAMES_OF(Overlap)
ROTA_NAMES_OF(LatePolicy)
ROTA_NAMES_OF(Until)
ROTA_NAMES_OF(RouteKind)
ROTA_NAMES_OF(AnotherWorker)
ROTA_NAMES_OF(LossPolicy)
ROTA_NAMES_OF(CronDialect)
ROTA_NAMES_OF(SkippedTime)
ROTA_NAMES_OF(RepeatedTime)
ROTA_NAMES_OF(JobState)
ROTA_NAMES_OF(KeepFolder)
ROTA_NAMES_OF(Isolation)

#undef ROTA_NAMES_OF

std::string_view word_in_file(const model::FieldFacts& row, std::string_view on_wire) {
  const bool differs = !row.spelling.in_file.empty() && on_wire == row.spelling.on_wire;
  return differs ? row.spelling.in_file : on_wire;
}

std::string_view word_on_wire(const model::FieldFacts& row, std::string_view in_file) {
  const bool differs = !row.spelling.in_file.empty() && in_file == row.spelling.in_file;
  return differs ? row.spelling.on_wire : in_file;
}

}  // namespace rota::wire
