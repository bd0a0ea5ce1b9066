// A stretch of time in which a worker gets no attempts because of what it did. A row for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace rota::model {

/// Of one Term: a Term that finds one in force goes on with a row of its own.
struct WorkerHold {
  enum class Kind {
    Excluded,  ///< it failed what succeeded elsewhere; after it a trial follows
    Flapping,  ///< it came and went too often
  };
  std::int64_t number = 0;             ///< names the Term that stored it, as the id of a run does
  std::string worker;
  std::string pool;
  Kind kind = Kind::Excluded;
  std::int32_t strikes = 1;            ///< how many in a row; each is longer than the one before
  WallTime since{};
  WallTime until{};                    ///< as planned
  std::optional<WallTime> trial;       ///< Excluded: since then it gets one attempt at a time
  std::optional<WallTime> ended;       ///< since then it gets its share again, or another row goes on
  std::string why;
  bool operator==(const WorkerHold&) const = default;

  /// It gets nothing at all.
  bool is_closed() const { return !trial && !ended; }
};

inline std::string_view name_of(WorkerHold::Kind kind) {
  return kind == WorkerHold::Kind::Excluded ? "excluded" : "flapping";
}

}  // namespace rota::model
