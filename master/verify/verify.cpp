#include "master/verify/verify.h"

#include <algorithm>
#include <tuple>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "master/verify/child_check.h"
#include "master/verify/demand_check.h"
#include "master/verify/expect_check.h"
#include "master/verify/findings.h"
#include "master/verify/log_check.h"
#include "master/verify/notify_check.h"
#include "master/verify/place.h"
#include "master/verify/quota_check.h"
#include "master/verify/run_check.h"
#include "master/verify/scale_check.h"
#include "master/verify/setting_check.h"
#include "master/verify/start_check.h"
#include "master/verify/tick_check.h"
#include "master/verify/token_check.h"
#include "master/verify/tick_rows.h"

namespace rota::master::verify {
namespace {

constexpr std::int32_t kJobPage = 500;

/// One call of verify(). Thread: one.
class Verification {
 public:
  Verification(const Sources& sources, const Request& request, MonoTime deadline)
      : sources_(sources), request_(request), deadline_(deadline) {}

  Result<Report> run() {
    auto place = place_from(request_.from);
    if (!place) return fail(place.error());
    place_ = *place;
    const auto watermark = sources_.reader.watermark();
    if (!watermark) return fail(watermark.error());
    watermark_ = watermark->value_or(wall_from_ms(0));
    report_.decided_through = watermark_.through;
    check_watermark();
    if (auto looked = look_at_settings(sources_, request_, settings_); !looked) return fail(looked.error());
    if (auto looked = scale_check_.look_at_rows(); !looked) return fail(looked.error());
    const auto ticks_done = look_at_ticks();
    if (!ticks_done) return fail(ticks_done.error());
    const auto runs_done = *ticks_done ? look_at_runs() : Result<bool>(false);
    if (!runs_done) return fail(runs_done.error());
    report_.is_complete = *runs_done;
    if (!*runs_done) report_.next = text_of(place_);
    for (const Check* check :
         {&ticks_, &overlap_, &losses_, &order_, &epochs_, &found_, &outcomes_, &logs_,
          &starts_, &limits_, &retries_, &tokens_,
          &quotas_, &expected_, &told_, &holds_,
          &settings_, &scaling_, &children_, &demands_}) {
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

  /// False: the deadline passed.
  Result<bool> look_at_ticks() {
    const bool names_one = !request_.job.empty();
    if (place_.is_at_runs && !names_one) return true;
    if (!names_one) report_.jobs_in_all = sources_.reader.count_saved_jobs().value_or(0);
    const auto rewinds = sources_.reader.rewinds();
    if (!rewinds) return fail(rewinds.error());
    const auto edits_told_from = sources_.reader.edits_told_from();
    if (!edits_told_from) return fail(edits_told_from.error());
    TickCheck check(sources_, request_, watermark_, *rewinds, *edits_told_from, ticks_, epochs_,
                    report_.max_lateness);
    // One job alone is looked for from the beginning, since its runs are known by its id.
    JobId after = names_one ? JobId{} : place_.job;
    for (bool has_more = true; has_more;) {
      auto jobs = sources_.reader.saved_jobs(after, kJobPage);
      if (!jobs) return fail(jobs.error());
      has_more = jobs->size() == static_cast<std::size_t>(kJobPage);
      if (has_more) after = jobs->back().id;
      std::erase_if(*jobs, [&](const model::Job& job) { return !is_asked_for(job); });
      for (const model::Job& job : *jobs) asked_.insert(job.id);
      if (place_.is_at_runs) continue;
      const auto looked = look_at_jobs(check, *jobs);
      if (!looked || !*looked) return looked;
    }
    if (names_one && asked_.empty()) {
      return fail(ErrorCode::NotFound,
                  fmt::format("no job {} in namespace {}", quoted_text(request_.job),
                              quoted_text(request_.space)));
    }
    place_.is_at_runs = true;
    return true;
  }

  Result<bool> look_at_jobs(TickCheck& check, const std::vector<model::Job>& jobs) {
    std::vector<JobId> ids;
    for (const model::Job& job : jobs) ids.push_back(job.id);
    auto rows = read_tick_rows(sources_.reader, ids, request_.since.value_or(WallTime{}) - Millis{1});
    if (!rows) return fail(rows.error());
    for (const model::Job& job : jobs) {
      if (BootClock::now() > deadline_) return stop_at_deadline(job);
      const auto before = std::tuple{ticks_, epochs_, report_.max_lateness};
      const auto starts_seen = start_check_.look_at_job(job, (*rows)[job.id].versions);
      if (!starts_seen) return fail(starts_seen.error());
      const TickRows& read = (*rows)[job.id];
      const auto gaps_seen = expect_check_.look_at_gaps(job, read.versions, read.gaps, request_.since);
      if (!gaps_seen) return fail(gaps_seen.error());
      auto looked = check.look_at(job, std::move((*rows)[job.id]), deadline_);
      if (!looked && looked.error().code == ErrorCode::TimedOut && BootClock::now() > deadline_) {
        std::tie(ticks_, epochs_, report_.max_lateness) = before;
        return stop_at_deadline(job);
      }
      if (!looked) return fail(looked.error());
      place_.job = job.id;
      ++report_.jobs_looked_at;
    }
    return true;
  }

  Result<bool> stop_at_deadline(const model::Job& job) const {
    if (report_.jobs_looked_at > 0) return false;
    return fail(ErrorCode::TimedOut,
                fmt::format("verify did not end within its deadline, since the ticks of job \"{}\" alone "
                            "take longer; give it more time, or ask for less (since)", job.name));
  }

  bool is_asked_for(const model::Job& job) const {
    return request_.job.empty() || (job.name == request_.job && job.space == request_.space);
  }

  Result<bool> look_at_runs() {
    std::optional<std::set<JobId>> only;
    if (!request_.job.empty()) only = asked_;
    LogCheck logs(sources_, logs_);
    RunCheck check(sources_, request_, std::move(only),
                   RunChecks{overlap_, losses_, limits_, retries_, order_, epochs_, found_, outcomes_,
                             holds_},
                   start_check_, token_check_, quota_check_, demand_check_, notify_check_, expect_check_,
                   scale_check_, child_check_, logs);
    const auto looked = check.look_at_all(place_, deadline_);
    if (!looked) return looked;
    notify_check_.judge();
    if (auto judged = expect_check_.judge(); !judged) return fail(judged.error());
    report_.runs_looked_at = check.looked_at();
    report_.runs_through = check.looked_through();
    if (auto content = logs.look_at_content(deadline_); *looked && !content) return fail(content.error());
    return looked;
  }

  const Sources& sources_;
  const Request& request_;
  const MonoTime deadline_;
  Report report_;
  core::Watermark watermark_;
  Check ticks_{"P1"};
  Check overlap_{"P4"};
  Check losses_{"P5"};
  Check order_{"P6"};
  Check epochs_{"P7"};
  Check found_{"P10"};
  Check outcomes_{"P12"};
  Check logs_{"P13"};
  Check starts_{"P38"};
  Check limits_{"P39"};
  Check retries_{"P40"};
  Check tokens_{"P41"};
  Check quotas_{"P42"};
  Check expected_{"P43"};
  Check holds_{"P45"};
  Check told_{"P44"};
  Check settings_{"P46"};
  Check scaling_{"P47"};
  Check children_{"P49"};
  Check demands_{"P48"};
  StartCheck start_check_{sources_, request_, starts_};
  TokenCheck token_check_{sources_, tokens_};
  QuotaCheck quota_check_{sources_, quotas_};
  DemandCheck demand_check_{sources_, demands_};
  NotifyCheck notify_check_{sources_, told_};
  ExpectCheck expect_check_{sources_, expected_};
  ScaleCheck scale_check_{sources_, scaling_};
  ChildCheck child_check_{sources_, children_};
  std::set<JobId> asked_;
  Place place_;
};

}  // namespace

Result<Report> verify(const Sources& sources, const Request& request, MonoTime deadline) {
  return Verification(sources, request, deadline).run();
}

}  // namespace rota::master::verify
