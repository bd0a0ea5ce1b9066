// rota verify: asks in parts, so that a long history never blocks a call for minutes or is lost with it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/show_json.h"
#include "client/verify_sum.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

constexpr Millis kPart{20'000};
constexpr Millis kForTheAnswer{15'000};  // the server finishes a page that it has begun
constexpr int kTries = 3;                // each call gets a third of its deadline for one try

const char* meaning_of(const std::string& promise) {
  if (promise == "P1") return "each planned tick is one run, or in one gap with a reason";
  if (promise == "P4") return "no run, and no job without overlap, had two attempts at once";
  if (promise == "P5") return "after a loss, only what the job's loss policy allows";
  if (promise == "P6") return "nothing started before it was recorded";
  if (promise == "P7") return "no deposed leader wrote anything";
  if (promise == "P10") return "every unfinished run is known to the next leader";
  if (promise == "P12") return "every run that ended has its outcome";
  if (promise == "P42") return "no pool or namespace had more slots in use than its limit";
  if (promise == "P47") return "wanted workers are within limits, and nobody at work was to be stopped";
  if (promise == "P48") return "no worker held more slots or amounts than it has";
  if (promise == "P46") return "settings have no lost version, and the newest is in force";
  if (promise == "P49") return "each end of a run began its child jobs once, or says why not";
  if (promise == "P44") return "who wants to hear of a run that failed is told, once";
  if (promise == "P43") return "what jobs expect is told once when it is not met";
  if (promise == "P41") return "no semaphore gave more tokens than it has";
  if (promise == "P45") return "no run was sent to an excluded or flapping worker";
  if (promise == "P38") return "each start of a worker fired once, on that worker";
  if (promise == "P39") return "no attempt began when the time of its run was over";
  if (promise == "P40") return "nothing was tried again that its job forbids";
  if (promise == "P13") return "stored output is what the outcomes say";
  return "";
}

std::string ticks_line(const std::vector<thrift::Check>& checks) {
  for (const thrift::Check& check : checks) {
    if (check.promise != "P1") continue;
    return fmt::format("ticks: {} planned, {} fired, {} skipped, {} missing, {} doubled\n", check.planned,
                       check.fired, check.skipped, check.missing, check.doubled);
  }
  return "";
}

/// Asks until the report is complete or the time is over. If a part finished nothing, asks for it again with
/// all the remaining time.
Result<thrift::VerifyReport> in_parts(Desk& desk, thrift::VerifyRequest request, Millis at_most) {
  const MonoTime end = BootClock::now() + at_most;
  const bool tells = ::isatty(STDERR_FILENO) == 1;
  thrift::VerifyReport sum;
  sum.ok = true;
  Millis part_time = kPart;
  request.__set_partial(true);
  for (;;) {
    const Millis left = std::max(floor_ms(end - BootClock::now()), Millis{1});
    request.__set_at_most_ms(std::min(part_time, left).count());
    const auto part = desk.cluster.verify(request, kTries * (std::min(part_time, left) + kForTheAnswer));
    const bool got_nowhere = !part && part.error().code == ErrorCode::TimedOut;
    if (got_nowhere && part_time < left) {
      part_time = at_most;
      continue;
    }
    if (got_nowhere && !sum.checks.empty()) return sum;
    if (!part) return fail(part.error());
    add_part(sum, *part);
    if (sum.complete || BootClock::now() >= end) return sum;
    if (tells) fmt::print(stderr, "checked: {}\n", how_far(sum));
    request.__set_place(part->next_place);
  }
}

int status_of(const thrift::VerifyReport& report) {
  if (!report.ok) return kFailed;
  return report.complete ? kOk : kTimedOut;
}

void show(const thrift::VerifyReport& report) {
  Table table({"PROMISE", "KEPT", "CHECKED", "SAYS"});
  for (const auto& check : report.checks) {
    table.add({check.promise, check.ok ? "yes" : "NO", std::to_string(check.planned),
               meaning_of(check.promise)});
  }
  print_text(table.text() + ticks_line(report.checks));
  for (const auto& check : report.checks) {
    for (const std::string& example : check.examples) {
      print_text(fmt::format("{}: {}\n", check.promise, printable(example)));
    }
  }
  const char* if_kept = report.complete ? "every promise is kept" : "kept, as far as it checked";
  const char* verdict = report.ok ? if_kept : "BROKEN";
  print_text(fmt::format("decided through {}, most late {} ms: {}\n", show_time(report.decided_through_ms),
                         report.max_lateness_ms, verdict));
  if (report.complete) return;
  print_text(fmt::format("NOT ALL was checked in time: only {}. --at-most gives more time, --since and --job "
                         "check less. To check the rest: rota verify --from {}\n",
                         how_far(report), printable(report.next_place)));
}

}  // namespace

int verify(Desk& desk, const VerifyWords& words) {
  thrift::VerifyRequest request;
  request.space = desk.space;
  request.job = words.job;
  if (!words.from.empty()) request.__set_place(words.from);
  if (!words.since.empty()) {
    auto moment = since_from(words.since);
    if (!moment) return complain(moment.error());
    request.__set_since_ms(to_ms(*moment));
  }
  const auto at_most = parse_duration(words.at_most);
  if (!at_most || at_most->count() <= 0) {
    return complain(Error(ErrorCode::InvalidArgument, "--at-most takes a duration such as 10m"));
  }
  auto report = in_parts(desk, request, *at_most);
  if (!report) return complain(report.error());
  if (desk.prints_data()) {
    print_data(desk.format, to_json(*report));
  } else {
    show(*report);
  }
  return status_of(*report);
}

}  // namespace rota::client
