// Quotas: the weight and the limits of one namespace, or the limit of one pool. kNoLimit: not limited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace rota::model {

/// Bytes of a pool's or a namespace's name.
inline constexpr std::size_t kMaxQuotaName = 64;
inline constexpr std::int64_t kNoLimit = -1;
/// Of all limits but kNoLimit.
inline constexpr std::int64_t kMaxLimit = 1'000'000'000;
inline constexpr std::int64_t kMaxWeight = 1000;
inline constexpr std::int64_t kMaxDefaultTimeMs = std::int64_t{365} * 24 * 3'600'000;

enum class QuotaOf { Pool, Space };

/// The fixed names in the store and in messages: "pool", "namespace".
constexpr std::string_view name_of(QuotaOf of) { return of == QuotaOf::Pool ? "pool" : "namespace"; }

/// Of a pool `slots`, `min_workers`, `max_workers` and `hook` count, of a namespace the others and `slots`.
struct Quota {
  std::int64_t slots = kNoLimit;       ///< runs that workers may hold at once; 0: none starts
  std::int64_t weight = 1;             ///< its share of free slots (master/core/admission/turn_rules.h)
  std::int64_t jobs = kNoLimit;        ///< saved jobs, deleted ones aside
  std::int64_t unfinished = kNoLimit;  ///< unfinished runs
  std::int64_t firings = kNoLimit;     ///< runs that begin in one minute
  // Times of its jobs that do not say them (JobRules::timeout and the two behind it); 0: none.
  Millis timeout{0};
  Millis run_timeout{0};
  Millis queue_timeout{0};
  // Of a pool: how many workers it should have, and what is called when that number changes (scaling.h).
  std::int64_t min_workers = kNoLimit;  ///< kNoLimit: 1, or 0 with max_workers 0
  std::int64_t max_workers = kNoLimit;
  std::string hook = {};                ///< empty: none
  bool operator==(const Quota&) const = default;
};

/// One version of a quota, as it is stored. It is never changed afterwards.
struct QuotaRow {
  QuotaOf of = QuotaOf::Pool;
  std::string name;
  std::int32_t version = 0;  ///< from 1
  Quota quota;
  WallTime changed{};        ///< core time of the change
  std::int64_t number = 0;   ///< higher in later changes, whatever clocks say; names the Term like a run's id
  std::string principal;
  bool operator==(const QuotaRow&) const = default;
};

}  // namespace rota::model
