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
  static constexpr std::array<std::string_view, 4> all = {"none", "once", "fixed_rate", "cron"};
};
template <>
struct Names<model::Overlap> {
  static constexpr std::array<std::string_view, 3> all = {"skip", "queue", "allow"};
};
template <>
struct Names<model::LatePolicy> {
  static constexpr std::array<std::string_view, 2> all = {"fire_once", "skip"};
};
template <>
struct Names<model::RouteKind> {
  static constexpr std::array<std::string_view, 3> all = {"round_robin", "least_loaded", "named"};
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
struct Names<model::GapRule> {
  static constexpr std::array<std::string_view, 2> all = {"run_at_end", "skip"};
};
template <>
struct Names<model::FoldRule> {
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

std::string_view name_of(model::ScheduleKind kind) { return pick(kind); }
std::string_view name_of(model::Overlap overlap) { return pick(overlap); }
std::string_view name_of(model::LatePolicy late) { return pick(late); }
std::string_view name_of(model::RouteKind route) { return pick(route); }
std::string_view name_of(model::LossPolicy loss) { return pick(loss); }
std::string_view name_of(model::CronDialect dialect) { return pick(dialect); }
std::string_view name_of(model::GapRule gap) { return pick(gap); }
std::string_view name_of(model::FoldRule fold) { return pick(fold); }
std::string_view name_of(model::JobState state) { return pick(state); }
std::string_view name_of(model::KeepFolder keep) { return pick(keep); }
std::string_view name_of(model::Isolation isolation) { return pick(isolation); }

template <typename Enum>
std::optional<Enum> named(std::string_view name) {
  const auto& all = Names<Enum>::all;
  const auto found = std::ranges::find(all, name);
  if (found == all.end()) return std::nullopt;
  return static_cast<Enum>(found - all.begin());
}

template <typename Enum>
std::string allowed_names() {
  return fmt::format("{}", fmt::join(Names<Enum>::all, ", "));
}

template std::optional<model::ScheduleKind> named(std::string_view);
template std::optional<model::Overlap> named(std::string_view);
template std::optional<model::LatePolicy> named(std::string_view);
template std::optional<model::RouteKind> named(std::string_view);
template std::optional<model::LossPolicy> named(std::string_view);
template std::optional<model::CronDialect> named(std::string_view);
template std::optional<model::GapRule> named(std::string_view);
template std::optional<model::FoldRule> named(std::string_view);
template std::optional<model::JobState> named(std::string_view);
template std::optional<model::KeepFolder> named(std::string_view);
template std::optional<model::Isolation> named(std::string_view);
template std::string allowed_names<model::ScheduleKind>();
template std::string allowed_names<model::Overlap>();
template std::string allowed_names<model::LatePolicy>();
template std::string allowed_names<model::RouteKind>();
template std::string allowed_names<model::LossPolicy>();
template std::string allowed_names<model::CronDialect>();
template std::string allowed_names<model::GapRule>();
template std::string allowed_names<model::FoldRule>();
template std::string allowed_names<model::JobState>();
template std::string allowed_names<model::KeepFolder>();
template std::string allowed_names<model::Isolation>();

}  // namespace rota::wire
