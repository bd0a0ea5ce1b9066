// The fixed names of a definition's choices, as they stand on the wire, in job files and in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/job.h"

namespace rota::wire {

/// "none", "once", "fixed_rate", "cron" ... The name of one choice, in lower case.
std::string_view name_of(model::ScheduleKind kind);
std::string_view name_of(model::Overlap overlap);
std::string_view name_of(model::LatePolicy late);
std::string_view name_of(model::RouteKind route);
std::string_view name_of(model::LossPolicy loss);
std::string_view name_of(model::CronDialect dialect);
std::string_view name_of(model::GapRule gap);
std::string_view name_of(model::FoldRule fold);
std::string_view name_of(model::JobState state);
std::string_view name_of(model::KeepFolder keep);
std::string_view name_of(model::Isolation isolation);

/// The choice with that name; empty when there is none. One of the types above.
template <typename Enum>
std::optional<Enum> named(std::string_view name);

/// All names of a choice, for messages: "skip, queue, allow".
template <typename Enum>
std::string allowed_names();

}  // namespace rota::wire
