// P48: the attempts of one worker never take more slots, or more of what it offers, than it has. What an
// attempt takes is read from the version of its job that it was made of; what a worker has, from the rows
// of its lives. Runs of one-offs count as one slot each, and attempts of lives whose rows do not say what
// they have are left out, so that it claims too little and never too much. Where no job says `slots` or
// `needs`, nothing is looked at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/model/demand.h"
#include "master/verify/held_beside.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class DemandCheck {
 public:
  DemandCheck(const Sources& sources, Check& check) : sources_(sources), check_(check) {}

  /// A version of a job whose runs come.
  void learn(const model::JobVersionRow& version);
  /// In the order of run ids, with its earlier attempts.
  Result<void> look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier,
                       const std::vector<Span>& spans);

 private:
  /// What the lives of one worker id had, by incarnation.
  struct Worker {
    std::map<std::string, model::Demand> lives;
    std::map<std::string, HeldBeside> held;  ///< by name of an amount; slots: ""
  };

  Result<Worker*> worker(const std::string& id);
  void look_at_amount(Worker& of, const std::string& name, std::int64_t amount, const Span& span,
                      const model::Run& run);

  const Sources& sources_;
  Check& check_;
  std::map<JobId, std::map<JobVersion, model::Demand>> demands_;  ///< from that version on
  std::map<JobId, JobVersion> newest_;  ///< that is known; a later one counts as one slot
  std::map<std::string, Worker> workers_;
};

}  // namespace rota::master::verify
