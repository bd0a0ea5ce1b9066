// An operator confirms that a worker is dead. Before that, the command shows what will happen.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/worker_text.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

std::string what_follows(const thrift::DeathRun& run) {
  const std::string what = run.begins_again ? "starts again" : "ends as lost: no more attempts are allowed";
  const std::string soon = run.after_ms > 0 ? " in " + format_duration(Millis{run.after_ms}) : "";
  if (run.asks) return what + soon;
  return what + soon + " in any case: its job does not ask for this";
}

nlohmann::json death_json(const std::string& worker, const char* what, const thrift::DeathAnswer& answer) {
  nlohmann::json runs = nlohmann::json::array();
  for (const thrift::DeathRun& run : answer.runs) {
    runs.push_back({{"run", std::to_string(run.run)}, {"job", run.job_name}, {"attempt", run.attempt},
                    {"asks", run.asks}, {"begins_again", run.begins_again}, {"after_ms", run.after_ms}});
  }
  return {{"worker", worker}, {"what", what}, {"runs", runs}};
}

std::string plan_text(const std::string& worker, const thrift::DeathAnswer& plan) {
  std::string text = fmt::format("If {} is dead:\n", printable(worker));
  for (const thrift::DeathRun& run : plan.runs) {
    text += fmt::format("  run {} ({}) attempt {}: {}\n", run.run, printable(run.job_name), run.attempt,
                        what_follows(run));
  }
  return text;
}

/// The exit status, when there is nothing to confirm or the answer was no.
std::optional<int> ask_first(Desk& desk, const DrainArguments& arguments) {
  const auto plan = desk.cluster.confirm_dead(arguments.worker, arguments.why, true);
  if (!plan) return complain(plan.error());
  if (!plan->changed) {
    if (desk.prints_data()) print_data(desk.format, death_json(arguments.worker, "unchanged", *plan));
    note(fmt::format("nothing waits for a confirmation that {} is dead", printable(arguments.worker)));
    return kOk;
  }
  if (arguments.yes) return std::nullopt;
  note(plan_text(arguments.worker, *plan) +
       "If it is alive but out of reach, runs that Rota cannot end there would run twice.");
  const std::string question = fmt::format("Is {} certainly dead?", printable(arguments.worker));
  if (confirmed(desk, question)) return std::nullopt;
  note("nothing was changed; answer y, or add --yes to confirm it without being asked");
  return kUsage;
}

}  // namespace

int worker_confirm_dead(Desk& desk, const DrainArguments& arguments) {
  if (const auto status = ask_first(desk, arguments)) return *status;
  const auto answer = desk.cluster.confirm_dead(arguments.worker, arguments.why, false);
  if (!answer) return complain(answer.error());
  if (desk.prints_data()) {
    print_data(desk.format, death_json(arguments.worker, "confirmed", *answer));
    return kOk;
  }
  print_text(fmt::format("{} confirmed dead\n", printable(arguments.worker)));
  for (const thrift::DeathRun& run : answer->runs) {
    if (!run.asks) continue;
    print_text(fmt::format("run {} ({}) {}\n", run.run, printable(run.job_name), what_follows(run)));
  }
  return kOk;
}

}  // namespace rota::client
