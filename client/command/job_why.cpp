// Why a job did, or did not, fire at a moment.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/tick_hold.h"
#include "client/command/why_text.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

nlohmann::json tick_json(const std::string& name, WallTime at, const thrift::TickAnswer& answer) {
  nlohmann::json out = {{"job", name}, {"at_ms", to_ms(at)}, {"what", answer.what},
                        {"sentence", answer.sentence}};
  if (answer.__isset.run) out["run"] = std::to_string(answer.run);
  if (answer.__isset.reason) out["reason"] = answer.reason;
  if (answer.__isset.next_ms) out["next_ms"] = answer.next_ms;
  if (answer.__isset.entry) out["entry"] = answer.entry;
  if (answer.__isset.calendar) {
    out["calendar"] = {{"name", answer.calendar}, {"version", answer.calendar_version}};
  }
  put_why(out, answer);
  return out;
}

/// The newest moment of which something is known: a run, or ticks that did not fire; else the next tick.
Result<WallTime> newest_moment(Desk& desk, const std::string& name) {
  const auto job = desk.cluster.get_job(desk.space, name);
  if (!job) return fail(job.error());
  const auto gaps = desk.cluster.list_gaps(desk.space, name, 1);
  if (!gaps) return fail(gaps.error());
  std::int64_t newest = job->__isset.last_run ? job->last_run.scheduled_ms : 0;
  if (!gaps->empty()) newest = std::max(newest, gaps->front().to_ms);
  if (newest == 0 && job->__isset.next_ms) newest = job->next_ms;
  if (newest != 0) return wall_from_ms(newest);
  return fail(ErrorCode::NotFound, "the job has not fired yet, and no tick is planned");
}

}  // namespace

int job_why(Desk& desk, const std::string& name, const std::string& at) {
  const auto moment = at.empty() ? newest_moment(desk, name) : parse_moment(at);
  if (!moment) return complain(moment.error());
  const auto answer = desk.cluster.explain_tick(desk.space, name, *moment);
  if (!answer) return complain(answer.error());
  if (desk.prints_data()) {
    print_data(desk.format, tick_json(name, *moment, *answer));
    return kOk;
  }
  tell_hold(tick_hold_of(desk));
  print_text(fmt::format("{}  {}\n{}\n{}", show_time(to_ms(*moment)), answer->what,
                         printable(answer->sentence), why_text(*answer)));
  return kOk;
}

}  // namespace rota::client
