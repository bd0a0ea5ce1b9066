#include "master/office/takeover_pacing.h"

#include <algorithm>

namespace rota::master {
namespace {

constexpr Millis kPause{200};
constexpr Millis kLongestAway{5000};
constexpr Millis kPatience{5000};

}  // namespace

bool TakeoverPacing::may_pass(ErrorCode code) {
  return code == ErrorCode::Unavailable || code == ErrorCode::TimedOut || code == ErrorCode::UnknownOutcome;
}

TakeoverPacing::Next TakeoverPacing::after_failure(ErrorCode code, MonoTime now) {
  if (code == ErrorCode::Conflict) return {true, Millis{0}};
  if (may_pass(code)) {
    if (!failing_since_) failing_since_ = now;
    if (now - *failing_since_ < kPatience) return {false, kPause};
    failing_since_.reset();
    return {true, kPause};
  }
  away_ = away_ == Millis{0} ? kPause : std::min(2 * away_, kLongestAway);
  return {true, away_};
}

void TakeoverPacing::after_success() {
  failing_since_.reset();
  away_ = Millis{0};
}

}  // namespace rota::master
