#include "master/verify/verify.h"

#include <algorithm>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "master/verify/findings.h"
#include "master/verify/log_check.h"
#include "master/verify/run_check.h"
#include "master/verify/tick_check.h"

namespace rota::master::verify {
namespace {

constexpr std::int32_t kJobPage = 500;

Error too_late() {
  return Error(ErrorCode::TimedOut, "verify did not end within its deadline; ask for less");
}

/// One call of verify(). Thread: one.
class Verification {
 public:
  Verification(const Sources& sources, const Request& request, MonoTime deadline)
      : sources_(sources), request_(request), deadline_(deadline) {}

  Result<Report> run() {
    const auto watermark = sources_.reader.watermark();
    if (!watermark) return fail(watermark.error());
    watermark_ = watermark->value_or(wall_from_ms(0));
    report_.decided_through = watermark_.through;
    check_watermark();
    if (auto looked = look_at_ticks(); !looked) return fail(looked.error());
    if (auto looked = look_at_runs(); !looked) return fail(looked.error());
    for (const Check* check : {&ticks_, &overlap_, &order_, &epochs_, &outcomes_, &logs_}) {
      report_.ok = report_.ok && check->ok;
      report_.checks.push_back(*check);
    }
    return report_;
  }

 private:
  void check_watermark() {
    if (request_.now && watermark_.reaching > *request_.now + kClockSkew) {
      wrong(ticks_, fmt::format("the watermark {} is ahead of the clock",
                                format_moment(watermark_.reaching)));
    }
  }

  Result<void> look_at_ticks() {
    TickCheck check(sources_, request_, watermark_, ticks_, epochs_, report_.max_lateness);
    JobId after;
    for (;;) {
      const auto jobs = sources_.reader.saved_jobs(after, kJobPage);
      if (!jobs) return fail(jobs.error());
      for (const model::Job& job : *jobs) {
        after = job.id;
        if (!is_asked_for(job)) continue;
        asked_.insert(job.id);
        if (BootClock::now() > deadline_) return fail(too_late());
        auto versions = sources_.reader.versions_of(job.id);
        if (!versions) return fail(versions.error());
        std::ranges::sort(*versions, {}, &model::JobVersionRow::valid_from);
        note_overlap_rule(job.id, *versions);
        if (auto looked = check.look_at(job, *versions, deadline_); !looked) return looked;
      }
      if (jobs->size() < static_cast<std::size_t>(kJobPage)) break;
    }
    if (!request_.job.empty() && asked_.empty()) {
      return fail(ErrorCode::NotFound,
                  fmt::format("no job {} in namespace {}", quoted_text(request_.job),
                              quoted_text(request_.space)));
    }
    return {};
  }

  bool is_asked_for(const model::Job& job) const {
    return request_.job.empty() || (job.name == request_.job && job.space == request_.space);
  }

  void note_overlap_rule(JobId job, const std::vector<model::JobVersionRow>& versions) {
    const bool may_overlap = std::ranges::any_of(versions, [](const auto& version) {
      return version.definition && version.definition->rules.overlap == model::Overlap::Allow;
    });
    if (!may_overlap) serial_.insert(job);
  }

  Result<void> look_at_runs() {
    std::optional<std::set<JobId>> only;
    if (!request_.job.empty()) only = asked_;
    LogCheck logs(sources_, logs_);
    RunCheck check(sources_, request_, serial_, std::move(only),
                   RunChecks{overlap_, order_, epochs_, outcomes_}, logs);
    if (auto looked = check.look_at_all(deadline_); !looked) return looked;
    return logs.look_at_content(deadline_);
  }

  const Sources& sources_;
  const Request& request_;
  const MonoTime deadline_;
  Report report_;
  core::Watermark watermark_;
  Check ticks_{"P1"};
  Check overlap_{"P4"};
  Check order_{"P6"};
  Check epochs_{"P7"};
  Check outcomes_{"P12"};
  Check logs_{"P13"};
  std::set<JobId> asked_;
  std::set<JobId> serial_;
};

}  // namespace

Result<Report> verify(const Sources& sources, const Request& request, MonoTime deadline) {
  return Verification(sources, request, deadline).run();
}

}  // namespace rota::master::verify
