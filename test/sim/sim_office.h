// The interface of the simulated database for a takeover.
#pragma once

#include "master/store/store.h"
#include "sim_store.h"

namespace rota::sim {

/// Thread: one. All references outlive it.
class SimOffice final : public master::store::Office {
 public:
  SimOffice(SimStore& store, Random& random, sim::Marks& marks, const Clockwork& clockwork)
      : store_(store), random_(random), marks_(marks), clockwork_(clockwork) {}

  Result<Marks> read_marks() override;
  Result<std::string> settle_uuid(const std::string& proposed) override;
  Result<Millis> settle_grant(Millis own) override;
  Result<void> claim(const master::store::Claim& claim) override;
  Result<void> settle_zookeeper(Epoch epoch, const master::store::KnownZookeeper& zookeeper) override;
  Result<void> beat(Epoch epoch) override;
  Result<std::int64_t> count_held() override;
  Result<master::core::Recovered> recover() override;
  Result<std::vector<model::Gap>> gaps_beyond(WallTime moment) override;
  Result<void> rewind(const master::store::Rewind& rewind) override;
  Result<void> probe() override;

 private:
  SimStore& store_;
  Random& random_;
  sim::Marks& marks_;
  const Clockwork& clockwork_;
};

}  // namespace rota::sim
