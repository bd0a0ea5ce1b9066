// What a single field of a definition must keep to, by its row in the field table. Pure; the master goes by
// it for whatever comes in, the client for texts in job files, which it can tell with their place.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/job_fields.h"

namespace rota::wire {

inline constexpr std::size_t kMaxEntries = 256;  ///< of a map

/// What is wrong with the value, what is allowed, the remedy; empty when it is fine.
std::string whole_problem(const model::FieldFacts& row, std::int64_t value, std::string_view unit);
std::string number_problem(const model::FieldFacts& row, double value);
std::string text_problem(const model::FieldFacts& row, std::string_view text);
/// Of a list or a map, as "place: what": a place is the row's key, or one entry's below it.
std::vector<std::string> list_problems(const model::FieldFacts& row, const std::vector<std::string>& texts);
std::vector<std::string> count_problems(const model::FieldFacts& row,
                                        const std::map<std::string, std::int32_t>& counts);
std::vector<std::string> amount_problems(const model::FieldFacts& row,
                                         const std::map<std::string, std::int64_t>& amounts);
std::vector<std::string> map_problems(const model::FieldFacts& row,
                                      const std::map<std::string, std::string>& texts);

/// All that is wrong with the fields of a struct and of the structs in it, each by itself, as "place: what".
template <typename Struct>
void find_field_problems(const Struct& from, std::vector<std::string>& problems);

extern template void find_field_problems(const model::JobRules&, std::vector<std::string>&);
extern template void find_field_problems(const model::JobWork&, std::vector<std::string>&);

/// Of the definition's own fields, without those of its rules and its work.
void find_own_problems(const model::JobDefinition& definition, std::vector<std::string>& problems);

}  // namespace rota::wire
