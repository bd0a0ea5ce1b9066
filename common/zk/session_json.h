// The session file's content. Private to common/zk.
#pragma once

#include <string>
#include <vector>

#include "common/zk/session_file.h"

namespace rota::zk {

std::string session_records_to_json(const std::vector<SessionRecord>& records);
/// Corrupt when anything is missing or of the wrong kind.
Result<std::vector<SessionRecord>> session_records_from_json(const std::string& text);

}  // namespace rota::zk
