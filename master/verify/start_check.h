// P38: each start of a worker makes one run of each job with an entry `@worker_start` that was in force then
// and may run there, and this run's attempts are on that worker. What is in force is read from the stored
// lines of the entries, here.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class StartCheck {
 public:
  StartCheck(const Sources& sources, const Request& request, Check& check)
      : sources_(sources), request_(request), check_(check) {}

  /// A saved job with its versions. Those without such an entry cost nothing.
  Result<void> look_at_job(const model::Job& job, const std::vector<model::JobVersionRow>& versions);

  /// A run of a worker start, with its earlier attempts; others cost nothing.
  Result<void> look_at_run(const model::Run& run, const std::vector<model::AttemptRow>& earlier);

 private:
  Result<void> read_starts();
  Result<void> look_for_runs(const model::Job& job, const std::vector<const model::WorkerStart*>& starts);
  Result<bool> is_gone(const model::WorkerStart& start);
  bool is_asked_for(const model::WorkerStart& start) const;
  bool was_rewound(const model::WorkerStart& start) const;

  const Sources& sources_;
  const Request& request_;
  Check& check_;
  bool has_read_ = false;
  std::vector<store::PastRewind> rewinds_;
  std::map<model::StartKey, model::WorkerStart> starts_;
};

/// Whether a start that was accepted then fires by this version, as far as its rows tell: those of the
/// version's own first and last moments, and of one that its rules may have ended, are left out. Pure.
bool fires_surely(const model::JobVersionRow& version, const model::WorkerStart& start);

}  // namespace rota::master::verify
