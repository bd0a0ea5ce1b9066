#include "master/loop/batch_bound.h"

#include <algorithm>

namespace rota::master::loop {

void BatchBound::note(std::int64_t ticks, Micros took) {
  if (ticks < most_ / 2) return;  // it says nothing about a full one
  if (took > kTarget) {
    most_ = std::max(kLeast, most_ / 2);
  } else if (took < kTarget / 2) {
    most_ = std::min(kMost, most_ + most_ / 4);
  }
}

}  // namespace rota::master::loop
