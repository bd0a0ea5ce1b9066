#include "master/core/admission/route.h"

namespace rota::master::core {
namespace {

/// used_a / slots_a < used_b / slots_b without division; then the one used longer ago.
bool is_less_loaded(const Candidate& a, const Candidate& b) {
  const std::int64_t left = std::int64_t{a.used} * b.slots;
  const std::int64_t right = std::int64_t{b.used} * a.slots;
  if (left != right) return left < right;
  return a.last_used < b.last_used;
}

std::size_t least_loaded(const std::vector<Candidate>& candidates) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (is_less_loaded(candidates[i], candidates[best])) best = i;
  }
  return best;
}

std::size_t next_in_turn(const std::string& last, const std::vector<Candidate>& candidates) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].key->id > last) return i;
  }
  return 0;
}

}  // namespace

std::optional<std::size_t> choose_worker(model::RouteKind route, const std::string& named,
                                         const std::string& last_worker,
                                         const std::vector<Candidate>& candidates) {
  if (candidates.empty()) return std::nullopt;
  switch (route) {
    case model::RouteKind::RoundRobin:
      return next_in_turn(last_worker, candidates);
    case model::RouteKind::LeastLoaded:
      return least_loaded(candidates);
    case model::RouteKind::Named:
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].key->id == named) return i;
      }
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace rota::master::core
