// Finds the name that a wrong one resembles, for "did you mean". Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rota {

/// The edit distance: how many single characters must be changed, added or removed, or neighbours
/// swapped, to turn one text into the other.
std::size_t edits_between(std::string_view a, std::string_view b);

/// The name in `known` that is nearest to `given` (case, - and _ do not count), if it is near enough or
/// begins with it; otherwise empty.
std::string nearest_name(std::string_view given, const std::vector<std::string>& known);

/// " (did you mean X?)", or nothing.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

}  // namespace rota
