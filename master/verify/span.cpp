#include "master/verify/span.h"

#include <algorithm>
#include <tuple>

#include "master/verify/findings.h"
#include "master/verify/overlap_rules.h"

namespace rota::master::verify {

std::optional<Millis> overlap(const Span& one, const Span& other) {
  const bool has_order = one.run == other.run && !one.is_late && !other.is_late;
  const bool is_in_order = has_order ? one.attempt < other.attempt : one.from <= other.from;
  const auto& [first, second] = is_in_order ? std::tie(one, other) : std::tie(other, one);
  if (first.worker.empty() && second.is_late) return std::nullopt;
  const bool is_one_clock = !first.worker.empty() && first.worker == second.worker;
  const Millis doubt = is_one_clock ? Millis{0} : kClockSkew;
  const bool stood_still = first.still || second.still;
  const Millis early = lived_beside(second.from, std::max(first.to, second.from), first.still, second.still);
  if (early <= (stood_still ? std::max(doubt, kMostAfterThaw) : doubt)) return std::nullopt;
  if (!has_order && second.to - first.from <= doubt) return std::nullopt;
  return early;
}

}  // namespace rota::master::verify
