// P44: each run that failed or was lost is told to each receiver that wanted to hear of it in the Term that
// ended the run, or counted in one that stands for many; nothing is told of a run that did not end so, and
// nothing twice. Runs of one-offs are left out: what they say of receivers is not read here.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/model/notification.h"
#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class NotifyCheck {
 public:
  NotifyCheck(const Sources& sources, Check& check) : sources_(sources), check_(check) {}

  /// A version of a job whose runs come. Those that name no receiver cost nothing.
  void learn(const model::JobVersionRow& version);
  Result<void> look_at(const model::Run& run);
  /// After all runs.
  void judge();

 private:
  using Told = std::tuple<RunId, model::Happening, std::string>;

  Result<void> read_more();
  Result<bool> is_told(const Told& told);

  const Sources& sources_;
  Check& check_;
  bool has_begun_ = false;
  std::map<Epoch, std::vector<model::ReceiverRule>> receivers_;
  std::map<std::pair<JobId, JobVersion>, std::vector<std::string>> named_;
  std::set<Told> told_;                          ///< of runs
  std::int64_t read_through_ = 0;                ///< ids of notifications
  std::map<std::string, std::int64_t> missing_;  ///< by receiver
  std::map<std::string, std::int64_t> combined_;
  std::map<std::string, RunId> example_;
};

}  // namespace rota::master::verify
