#include "master/core/tables/run_timers.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace rota::master::core {
namespace {

constexpr std::size_t kTimersLeast = 64;
constexpr std::size_t kClearedKept = 64;
constexpr int kKinds = static_cast<int>(RunTimer::Prefer) + 1;
static_assert(kKinds < 16, "a key has four bits for its kind, and 0 is none");

}  // namespace

std::size_t RunTimers::home_of(Key key) const {
  return (key * 0x9E37'79B9'7F4A'7C15ull >> 20) & (places_.size() - 1);
}

const RunTimers::Place* RunTimers::find(Key key) const {
  if (live_ == 0) return nullptr;
  for (std::size_t at = home_of(key); places_[at].key != 0; at = (at + 1) & (places_.size() - 1)) {
    if (places_[at].key == key) return &places_[at];
  }
  return nullptr;
}

void RunTimers::set(RunId run, RunTimer kind, MonoTime at) {
  const Key key = key_of(run, kind);
  if (const Place* found = find(key)) {
    const_cast<Place*>(found)->at = at;
  } else {
    if ((live_ + 1) * 2 > places_.size()) grow();
    std::size_t place = home_of(key);
    while (places_[place].key != 0) place = (place + 1) & (places_.size() - 1);
    places_[place] = {key, at};
    ++live_;
  }
  heap_.emplace_back(at, run, kind);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  drop_cleared();
}

void RunTimers::clear(RunId run, RunTimer kind) {
  const Key key = key_of(run, kind);
  if (find(key) == nullptr) return;
  erase(key);
  drop_cleared();
}

void RunTimers::clear_all(RunId run) {
  for (int kind = 0; kind < kKinds && live_ > 0; ++kind) clear(run, static_cast<RunTimer>(kind));
}

std::optional<MonoTime> RunTimers::first() const {
  if (heap_.empty()) return std::nullopt;
  return std::get<MonoTime>(heap_.front());
}

std::optional<std::pair<RunId, RunTimer>> RunTimers::pop_due(MonoTime now) {
  if (heap_.empty() || std::get<MonoTime>(heap_.front()) > now) return std::nullopt;
  const auto [at, run, kind] = heap_.front();
  clear(run, kind);
  return std::pair{run, kind};
}

/// Those that stand behind it move up, so that a search never ends at a gap before its key.
void RunTimers::erase(Key key) {
  const std::size_t mask = places_.size() - 1;
  std::size_t gap = static_cast<std::size_t>(find(key) - places_.data());
  for (std::size_t at = (gap + 1) & mask; places_[at].key != 0; at = (at + 1) & mask) {
    if (((at - home_of(places_[at].key)) & mask) < ((at - gap) & mask)) continue;  // stays
    places_[gap] = places_[at];
    gap = at;
  }
  places_[gap] = {};
  if (--live_ > 0) return;
  places_ = {};
  heap_ = {};
}

void RunTimers::grow() {
  const std::vector<Place> before = std::exchange(places_, {});
  places_.resize(std::max(kTimersLeast, before.size() * 2));
  for (const Place& each : before) {
    if (each.key == 0) continue;
    std::size_t place = home_of(each.key);
    while (places_[place].key != 0) place = (place + 1) & (places_.size() - 1);
    places_[place] = each;
  }
}

bool RunTimers::is_cleared(const Planned& planned) const {
  const auto& [at, run, kind] = planned;
  const Place* found = find(key_of(run, kind));
  return found == nullptr || found->at != at;
}

void RunTimers::drop_cleared() {
  while (!heap_.empty() && is_cleared(heap_.front())) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  if (heap_.size() <= live_ * 2 + kClearedKept) return;
  std::erase_if(heap_, [this](const Planned& planned) { return is_cleared(planned); });
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
}

}  // namespace rota::master::core
