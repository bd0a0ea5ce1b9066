// The lines of the outbox file: an outcome to be told, or the note that it has been. Each carries its
// length and a check sum, so that a torn or altered one is told from a whole one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/model/worker.h"

namespace rota::worker::report {

/// The leader has stored this outcome.
struct Acknowledged {
  model::AttemptKey key;
};

using OutboxRecord = std::variant<model::AttemptReport, Acknowledged>;

inline constexpr std::size_t kMaxRecordBytes = 256u << 10;

std::string encode(const OutboxRecord& record);

/// What a file holds. Zeros end it; what cannot be read in between is passed over and counted.
struct OutboxContent {
  std::vector<OutboxRecord> records;
  std::size_t end = 0;             ///< where the next record belongs
  std::size_t damaged_bytes = 0;   ///< passed over, without a torn tail
  std::size_t torn_bytes = 0;      ///< of a torn tail, the zeros behind it left out
};
OutboxContent read_records(std::string_view file);

}  // namespace rota::worker::report
