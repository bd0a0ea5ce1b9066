// How loaded a worker is, and when that is worth telling the cluster. Pure.
#pragma once

#include <cstdint>

#include "common/base/time.h"
#include "common/model/worker.h"

namespace rota::worker {

struct LoadWeights {
  double cpu = 0.4;
  double memory = 0.3;
  double slots = 0.3;
};

/// 0 to 100, of shares between 0 and 1.
double load_of(double cpu, double memory, double slots, const LoadWeights& weights = {});

/// A value that follows its samples without jumping: each new one counts for 3 tenths.
class Smoothed {
 public:
  double add(double sample) {
    value_ = has_value_ ? value_ + 0.3 * (sample - value_) : sample;
    has_value_ = true;
    return value_;
  }

 private:
  double value_ = 0;
  bool has_value_ = false;
};

/// Whether the node should be written again: when the worker becomes healthy, or stops being so. All masters
/// watch the node, so figures and the words of a trouble, which change all the time, travel with renewals.
bool is_worth_telling(const model::WorkerVitals& told, const model::WorkerVitals& now);

}  // namespace rota::worker
