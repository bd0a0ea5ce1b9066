// P42: the runs of a pool, or of a namespace, that are under way at once take no more slots than its limit
// allows. A run's pool and slots are read from the version of its job that it was made of, its namespace
// from its own row; the limits, from their stored versions. The pools of one-offs are left out, and they
// count as one slot, so that it claims too little, never too much.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/model/quota.h"
#include "master/verify/held_beside.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class QuotaCheck {
 public:
  QuotaCheck(const Sources& sources, Check& check) : sources_(sources), check_(check) {}

  /// A version of a job whose runs come.
  void learn(const model::JobVersionRow& version);
  /// In the order of run ids.
  Result<void> look_at(const model::Run& run, const std::vector<Span>& spans);

 private:
  using Side = std::pair<model::QuotaOf, std::string>;

  struct OfVersion {
    std::string pool;
    std::int32_t slots = 1;
  };

  Result<void> look_at_side(const Side& side, const model::Run& run, const std::vector<Span>& spans,
                            std::int32_t slots);
  Result<HeldBeside*> held_of(const Side& side);

  const Sources& sources_;
  Check& check_;
  std::map<JobId, std::map<JobVersion, OfVersion>> pools_;  ///< from that version on
  std::map<JobId, JobVersion> newest_;  ///< that is known; a later one counts as one slot, in no pool
  std::map<Side, HeldBeside> sides_;
};

}  // namespace rota::master::verify
