// The orders in which routes look for a worker, and what they go by. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rota::master::core {

/// What is known of a worker that orders go by.
struct WorkerLoad {
  std::int32_t used = 0;               ///< slots that its attempts take
  std::int32_t slots = 1;              ///< at least 1
  std::int64_t last_used = 0;          ///< ordinal of its last dispatch; 0: never in this Term
  std::int32_t host_load = 0;          ///< CPU and memory of its host by their weights: 0 to 70 points of 100
  std::int32_t rank = 0;               ///< the lower the sooner
  std::int64_t uses = 0;               ///< attempts that it got, and as many as others when it came
  std::int64_t turn = 0;               ///< of weighted turns: the lower the sooner
  std::int32_t answer_ms = 0;          ///< how long it takes to accept an attempt, smoothed
  std::uint32_t phase = 0;             ///< tells apart those that were never used; another one in each Term
  bool has_half = false;               ///< it gets half of its share
  bool is_passed = false;              ///< has_half: the next choice that would be it passes over it
  std::int32_t slot_points = 30;       ///< what running / slots counts for beside its host's load
  bool operator==(const WorkerLoad&) const = default;
};

/// Whether it stands as it is: with this load, or, when it may take nothing, not at all.
inline bool stands_right(const std::optional<WorkerLoad>& stands, bool may_take, const WorkerLoad& load) {
  return stands.has_value() == may_take && (!may_take || *stands == load);
}

enum class WorkerOrder { Load, Rank, Uses, LastUse, Running, Answer, Turn };
inline constexpr std::size_t kWorkerOrders = 7;

/// The load formula: host + running / slots x its points, compared as whole numbers.
inline std::int64_t load_against(const WorkerLoad& a, const WorkerLoad& b) {
  return (std::int64_t{a.host_load} * a.slots + std::int64_t{a.slot_points} * a.used) * b.slots;
}

/// When it was used last; those that never were come before, in the order of their phase.
inline std::int64_t last_use(const WorkerLoad& load) {
  return load.last_used != 0 ? load.last_used : -1 - std::int64_t{load.phase};
}

/// Among equals the worker that was used longest ago comes first.
inline bool is_before(WorkerOrder order, const WorkerLoad& a, const WorkerLoad& b) {
  const auto by = [&](std::int64_t left, std::int64_t right) {
    return left != right ? left < right : last_use(a) < last_use(b);
  };
  switch (order) {
    case WorkerOrder::Load: {
      const std::int64_t left = load_against(a, b), right = load_against(b, a);
      return left != right ? left < right : a.last_used < b.last_used;
    }
    case WorkerOrder::Rank: return a.rank < b.rank;  // equals: by their ids
    case WorkerOrder::Uses: return by(a.uses, b.uses);
    case WorkerOrder::LastUse: return last_use(a) < last_use(b);
    case WorkerOrder::Running: return by(a.used, b.used);
    case WorkerOrder::Answer: return by(a.answer_ms, b.answer_ms);
    case WorkerOrder::Turn: return by(a.turn, b.turn);
  }
  return false;
}

/// What a turn of a worker costs: workers of weight 2 come twice as often as those of weight 1.
inline constexpr std::int64_t kTurnScale = 1'000'000'000;
inline std::int64_t turn_of(std::int32_t weight) { return kTurnScale / (weight > 0 ? weight : 1); }

/// The same on every machine and in every Term.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58'476D'1CE4'E5B9ull;
  value = (value ^ (value >> 27)) * 0x94D0'49BB'1331'11EBull;
  return value ^ (value >> 31);
}
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14'695'981'039'346'656'037ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ull;
  return mix(hash);
}

}  // namespace rota::master::core
