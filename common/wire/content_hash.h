// Names made of content: the id of a one-off job, so that a repeated submit finds the same rows, and
// the hash of a request, so that a used key with other content is noticed. Pure.
//
// Both are SHA-256 over a canonical text: the fields that differ from the IDL's defaults, in order of
// their field ids, maps in order of their keys. So a field that is added later, a server that fills
// in defaults, and a follower that passes a request on change no hash.
#pragma once

#include <map>
#include <string>

#include "common/base/ids.h"
#include "common/model/job.h"

namespace rota::wire {

/// 62 bits of the definition's hash, and bit 62.
JobId one_off_id(const model::JobDefinition& definition);

/// "1:" (the version of the rule) and 32 hex digits, over all that was asked but the key and the
/// deadline.
std::string submit_hash(const model::JobDefinition& definition,
                        const std::map<std::string, std::string>& parameters);
std::string run_now_hash(const std::string& space, const std::string& name,
                         const std::map<std::string, std::string>& parameters);

}  // namespace rota::wire
