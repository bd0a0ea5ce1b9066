#include "common/rpc/method_rights.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rota::rpc {
namespace {

struct Row {
  std::string_view method;
  Right needed;
};

constexpr Row kRows[] = {
    // JobService
    {"submit", Right::Run},
    {"submit_many", Right::Run},
    {"run_now", Right::Run},
    {"cancel_run", Right::Run},
    {"apply_jobs", Right::Edit},
    {"set_paused", Right::Edit},
    {"delete_job", Right::Edit},
    {"undelete_job", Right::Edit},
    {"apply_calendars", Right::Edit},
    {"delete_calendar", Right::Edit},
    {"list_calendars", Right::Read},
    {"get_calendar", Right::Read},
    {"preview_calendar", Right::Read},
    {"set_semaphore", Right::Edit},
    {"delete_semaphore", Right::Edit},
    {"list_semaphores", Right::Read},
    {"get_semaphore", Right::Read},
    {"set_limits", Right::Edit},
    {"list_limits", Right::Read},
    {"list_late", Right::Read},
    {"list_notifications", Right::Read},
    {"list_scaling", Right::Read},
    {"list_scale_changes", Right::Read},
    {"test_receiver", Right::Operate},
    {"set_setting", Right::Operate},
    {"list_settings", Right::Read},
    {"setting_history", Right::Read},
    {"list_jobs", Right::Read},
    {"get_job", Right::Read},
    {"list_gaps", Right::Read},
    {"list_runs", Right::Read},
    {"get_run", Right::Read},
    {"read_log", Right::Read},
    {"explain", Right::Read},
    {"list_workers", Right::Read},
    {"list_lives", Right::Read},
    {"list_masters", Right::Read},
    {"worker_history", Right::Read},
    {"worker_usage", Right::Read},
    {"capacity", Right::Read},
    {"cluster_status", Right::Read},
    {"attention", Right::Read},
    {"verify", Right::Read},
    {"next_fires", Right::Read},
    {"list_freezes", Right::Read},
    {"explain_tick", Right::Read},
    {"begin_freeze", Right::Operate},
    {"end_freeze", Right::Operate},
    {"drain_worker", Right::Operate},
    {"resume_worker", Right::Operate},
    {"forget_worker", Right::Operate},
    {"confirm_dead", Right::Operate},
    // ReportService
    {"report", Right::Report},
    {"append_log", Right::Report},
    {"renew", Right::Report},
    // WorkerService
    {"hello", Right::Command},
    {"dispatch", Right::Command},
    {"cancel", Right::Command},
    {"inventory", Right::Command},
    {"drain", Right::Command},
};

std::string_view name_of(Right right) {
  switch (right) {
    case Right::Read: return "read";
    case Right::Run: return "run";
    case Right::Edit: return "edit";
    case Right::Operate: return "operate";
    case Right::Report: return "report";
    case Right::Command: return "command";
  }
  return "?";
}

std::string named(const Caller& caller) {
  return caller.principal.empty() ? "nobody" : caller.principal;
}

}  // namespace

std::optional<Right> right_for(std::string_view method) {
  const auto* found = std::ranges::find(kRows, method, &Row::method);
  return found == std::end(kRows) ? std::nullopt : std::optional(found->needed);
}

Result<void> check_right(const Caller& caller, std::string_view method) {
  const auto needed = right_for(method);
  if (!needed)
    return fail(ErrorCode::Denied, fmt::format("{}: no rule says who may call it", method));
  if (caller.roles.allow(*needed)) return {};
  return fail(ErrorCode::Denied, fmt::format("{}: {} lacks the right \"{}\"", method, named(caller),
                                             name_of(*needed)));
}

}  // namespace rota::rpc
