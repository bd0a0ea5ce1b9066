// Names that were nearly right: for "did you mean". Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rota {

/// How many single characters must be changed, added or left out, or neighbours swapped, to make
/// one text the other.
std::size_t edits_between(std::string_view a, std::string_view b);

/// The name of `known` that is nearest to `given` (capitals, - and _ do not count), when it is near
/// enough to be meant, or begins with it; else empty.
std::string nearest_name(std::string_view given, const std::vector<std::string>& known);

/// " (did you mean X?)", or nothing.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

}  // namespace rota
