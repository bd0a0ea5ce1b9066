#include "expected.h"

#include <algorithm>

namespace rota::when_model {

Expected Decision::decide(const std::map<Ms, Ms>& ticks, const std::vector<Frozen>& freezes) {
  std::map<Ms, Ms> open;
  std::ptrdiff_t stretch = 0;  // between freezes the newest late tick fires, in each stretch by itself
  for (const auto& [tick, jitter] : ticks) {
    if (out_.over) break;
    const auto frozen = std::ranges::find_if(freezes, [&, at = tick](const Frozen& f) { return f.covers(at); });
    if (frozen != freezes.end()) {
      decide_open(open);
      open.clear();
      if (out_.over) break;
      out_.gaps[tick] = Why::Frozen;
      out_.frozen[frozen->id].push_back(tick);
      continue;
    }
    const auto begun = std::ranges::count_if(freezes, [&, at = tick](const Frozen& f) { return f.from < at; });
    if (begun != stretch) {
      decide_open(open);
      open.clear();
      if (out_.over) break;
    }
    stretch = begun;
    open[tick] = jitter;
  }
  if (!out_.over) decide_open(open);
  return std::move(out_);
}

void Decision::decide_open(const std::map<Ms, Ms>& ticks) {
  std::vector<Ms> late, live;
  for (const auto& [tick, jitter] : ticks) (at_ - tick > rules_.grace ? late : live).push_back(tick);
  if (!late.empty()) {
    switch (rules_.late) {
      case Late::Skip:
        for (const Ms tick : late) out_.gaps[tick] = Why::LateSkipped;
        break;
      case Late::FireAll: fire_all(late, ticks); break;
      case Late::FireOnce: fire_newest(late, ticks); break;
    }
  }
  for (const Ms tick : live) {
    if (out_.over) return;
    record(tick);
  }
}

void Decision::fire_all(const std::vector<Ms>& late, const std::map<Ms, Ms>& ticks) {
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(kMostCaughtUp - standing_.late, 0));
  const std::size_t bounded = late.size() > room ? late.size() - room : 0;
  for (std::size_t i = 0; i < late.size() && !out_.over; ++i) {
    if (i < bounded) {
      out_.gaps[late[i]] = Why::LateBounded;
    } else if (at_ - late[i] - ticks.at(late[i]) > kDecidedInTime) {
      fire(late[i], true);
    } else {
      record(late[i]);
    }
  }
}

void Decision::fire_newest(const std::vector<Ms>& late, const std::map<Ms, Ms>& ticks) {
  const Ms newest = late.back();
  const bool waits = at_ - newest - ticks.at(newest) > kDecidedInTime;
  const bool is_stood_for = waits && standing_.late > 0;
  const Why why = is_stood_for || !is_in_the_way() ? Why::Coalesced : Why::Overlap;
  for (const Ms tick : late) out_.gaps[tick] = why;
  if (is_stood_for || why == Why::Overlap) return;
  out_.gaps.erase(newest);
  fire(newest, waits);
}

/// Another run of the job keeps a tick from firing.
bool Decision::is_in_the_way() const {
  if (standing_.begun == 0 || rules_.overlap == Overlap::Allow) return false;
  return rules_.overlap == Overlap::Skip || standing_.behind >= rules_.queue_limit;
}

void Decision::record(Ms tick) {
  if (is_in_the_way()) {
    out_.gaps[tick] = Why::Overlap;
  } else {
    fire(tick, false);
  }
}

void Decision::fire(Ms tick, bool is_late) {
  out_.fired.insert(tick);
  if (is_late) {
    ++standing_.late;
  } else {
    if (standing_.begun > 0 && rules_.overlap == Overlap::Queue) ++standing_.behind;
    ++standing_.begun;
  }
  if (rules_.firings > 0 && ++fired_ >= rules_.firings) out_.over = tick;
}

}  // namespace rota::when_model
