// P4, P6, P7, P10, P12 and, by checks of their own, P5, P13, P38 to P44 and P49: all runs in the order
// of their ids, with their earlier attempts, a page at a time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "master/verify/child_check.h"
#include "master/verify/demand_check.h"
#include "master/verify/expect_check.h"
#include "master/verify/hold_check.h"
#include "master/verify/scale_check.h"
#include "master/verify/limit_check.h"
#include "master/verify/log_check.h"
#include "master/verify/loss_check.h"
#include "master/verify/notify_check.h"
#include "master/verify/place.h"
#include "master/verify/retry_check.h"
#include "master/verify/span.h"
#include "master/verify/start_check.h"
#include "master/verify/quota_check.h"
#include "master/verify/token_check.h"
#include "master/verify/verify.h"

namespace rota::master::verify {

struct RunChecks {
  Check& overlap;   ///< P4
  Check& losses;    ///< P5
  Check& limits;    ///< P39
  Check& retries;   ///< P40
  Check& order;     ///< P6
  Check& epochs;    ///< P7
  Check& found;     ///< P10
  Check& outcomes;  ///< P12
  Check& holds;     ///< P45
};

/// Thread: one. All references outlive it.
class RunCheck {
 public:
  RunCheck(const Sources& sources, const Request& request, std::optional<std::set<JobId>> only,
           RunChecks checks, StartCheck& starts, TokenCheck& tokens, QuotaCheck& quotas, DemandCheck& demands,
           NotifyCheck& told, ExpectCheck& expected, ScaleCheck& scaling, ChildCheck& children,
           LogCheck& logs)
      : sources_(sources),
        request_(request),
        only_(std::move(only)),
        checks_(checks),
        losses_(sources.reader, checks.losses),
        limits_(sources.reader, checks.limits),
        retries_(checks.retries),
        holds_(sources, checks.holds),
        starts_(starts),
        tokens_(tokens),
        quotas_(quotas),
        demands_(demands),
        told_(told),
        expected_(expected),
        scaling_(scaling),
        children_(children),
        logs_(logs) {}

  /// Goes on from the place, at least one page, to the end or the deadline; true: it is the end.
  Result<bool> look_at_all(Place& place, MonoTime deadline);
  std::int64_t looked_at() const { return looked_at_; }
  std::optional<WallTime> looked_through() const { return looked_through_; }

 private:
  Result<std::vector<model::AttemptRow>> earlier_attempts(RunId run);
  Result<void> look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier);
  Result<std::vector<model::Run>> page_after(RunId after);
  Result<void> look_at_page(const std::vector<model::Run>& runs);
  Result<void> check_found();
  Result<void> learn_overlap_rules(const std::vector<model::Run>& runs);
  std::vector<Span> spans_of(const model::Run& run, const std::vector<model::AttemptRow>& earlier) const;
  Result<void> check_spans(const model::Run& run, const std::vector<model::AttemptRow>& earlier);
  Result<void> check_job_spans(JobId job, const std::vector<Span>& spans);
  void check_beside(const Span& span, const std::deque<Span>& recent, std::size_t most);
  static bool is_crowd(const Span& anchor, const std::vector<Span>& all, std::size_t most);
  Result<void> remember_spans(JobId job);
  std::size_t remembered_of(JobId job) const;
  void check_order(const model::Run& run);
  void check_epochs(const model::Run& run, const std::vector<model::AttemptRow>& earlier);
  void check_outcome(const model::Run& run);
  void check_replaced(const model::Run& run);
  void judge_epochs();
  WallTime last_by_the_clock(Epoch epoch, WallTime last) const;
  bool was_rewound_after(Epoch epoch) const;
  void keep_logs(const model::Run& run, const std::vector<model::AttemptRow>& earlier);
  void keep_log(model::AttemptKey attempt, const model::Outcome& outcome, bool told);

  const Sources& sources_;
  const Request& request_;
  /// Of saved jobs: the most runs that any of their versions lets live at once; 0: one knows no bound.
  std::map<JobId, std::int32_t> at_once_;
  const std::optional<std::set<JobId>> only_;  ///< set: runs of these jobs alone
  RunChecks checks_;

  std::deque<model::AttemptRow> attempt_page_;
  bool all_attempts_read_ = false;
  RunId attempts_read_run_;
  AttemptNo attempts_read_no_ = 0;
  std::map<JobId, std::deque<Span>> recent_;  ///< the last few attempts of each job that knows a bound
  RunId resumed_after_;               ///< the runs up to it were looked at by an earlier verification
  EpochMarks epochs_;
  std::int64_t looked_at_ = 0;
  std::optional<WallTime> looked_through_;  ///< when the last of them was recorded
  std::vector<store::PastRewind> rewinds_;
  LossCheck losses_;
  LimitCheck limits_;
  RetryCheck retries_;
  HoldCheck holds_;
  StartCheck& starts_;
  TokenCheck& tokens_;
  QuotaCheck& quotas_;
  DemandCheck& demands_;
  NotifyCheck& told_;
  ExpectCheck& expected_;
  ScaleCheck& scaling_;
  ChildCheck& children_;
  LogCheck& logs_;
  std::vector<LogCandidate> candidates_;  ///< of the page of runs
  std::vector<RunId> unfinished_;         ///< likewise
};

}  // namespace rota::master::verify
