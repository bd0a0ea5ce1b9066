// Semaphores: a count of tokens that runs of many jobs share. A saved object of its own; jobs name it in
// `uses`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/time.h"

namespace rota::model {

/// Bytes of a semaphore's name.
inline constexpr std::size_t kMaxSemaphoreName = 64;
/// Tokens of one semaphore, at most.
inline constexpr std::int32_t kMaxTokens = 1'000'000;
/// Semaphores that one job may use.
inline constexpr std::size_t kMaxUses = 16;

/// One version of a semaphore, as it is stored. It is never changed afterwards.
struct SemaphoreRow {
  std::string space = "default";
  std::string name;
  std::int32_t version = 0;  ///< from 1; it goes on when a deleted name is used again
  std::int32_t count = 0;    ///< tokens; 0: closed, no run gets one
  WallTime changed{};        ///< core time of the change
  std::int64_t number = 0;   ///< higher in later changes, whatever clocks say; names the Term like a run's id
  std::string principal;
  bool deleted = false;      ///< with this version the semaphore ended
  bool operator==(const SemaphoreRow&) const = default;
};

}  // namespace rota::model
