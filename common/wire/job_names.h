// The fixed names of a definition's choices, as they stand on the wire, in job files and in JSON.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/field.h"
#include "common/model/job.h"

namespace rota::wire {

/// "none", "once", "fixed_rate", "cron" ... The name of one choice, in lower case.
std::string_view name_of(model::ScheduleKind kind);
std::string_view name_of(model::Overlap overlap);
std::string_view name_of(model::LatePolicy late);
std::string_view name_of(model::Until until);
std::string_view name_of(model::RouteKind route);
std::string_view name_of(model::AnotherWorker word);
std::string_view name_of(model::LossPolicy loss);
std::string_view name_of(model::CronDialect dialect);
std::string_view name_of(model::SkippedTime gap);
std::string_view name_of(model::RepeatedTime fold);
std::string_view name_of(model::JobState state);
std::string_view name_of(model::KeepFolder keep);
std::string_view name_of(model::Isolation isolation);

/// The choice with that name; empty when there is none. One of the types above.
template <typename Enum>
std::optional<Enum> named(std::string_view name);

/// All names of a choice, in the order of its enumerators. One of the types above.
template <typename Enum>
std::span<const std::string_view> all_names();

/// The same for messages: "skip, queue, allow".
template <typename Enum>
std::string allowed_names();

/// The words of a choice where files and the wire spell one differently; a word that is not known here (of a
/// newer program) stays as it is.
std::string_view word_in_file(const model::FieldFacts& row, std::string_view on_wire);
std::string_view word_on_wire(const model::FieldFacts& row, std::string_view in_file);
template <typename Row>
std::vector<std::string_view> words_in_file(const Row& row) {
  const auto names = all_names<typename Row::value_type>();
  std::vector<std::string_view> out;
  for (const std::string_view name : names) out.push_back(word_in_file(row, name));
  return out;
}

}  // namespace rota::wire
