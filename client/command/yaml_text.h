// What `-o yaml` prints: the same values as `-o json`, in YAML's block form.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace rota::client {

/// The value as a YAML document that ends with a line break. Texts are always quoted, as JSON quotes them,
/// so that no text is read back as a number, a date or a boolean. Broken UTF-8 is replaced.
/// Pure.
std::string yaml_text(const nlohmann::json& value);

}  // namespace rota::client
