// A definition's fingerprint: the leader keeps it instead of the definition, to tell whether an edit
// changes anything. Pure; the same on every machine.
#pragma once

#include <cstdint>

#include "common/model/job.h"

namespace rota::master::core {

/// Over every field, never 0.
std::uint64_t definition_hash(const model::JobDefinition& definition);

}  // namespace rota::master::core
