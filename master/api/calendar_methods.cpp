// The methods about calendars.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/utf8.h"
#include "common/wire/calendar_wire.h"
#include "master/api/calendar_intake.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"
#include "master/core/time/calendar_lead.h"

namespace rota::master::api {
namespace {

constexpr std::size_t kMostCalendarEdits = 1000;
constexpr std::int32_t kMostCalendarRows = 1000;
constexpr std::size_t kMostVersionsTold = 100;
constexpr std::chrono::days kLongestPreview{3660};
constexpr Millis kPlanHop{3000};

using Edited = thrift::CalendarEdited;

Edited refused_edit(const Error& error) {
  Edited out;
  out.__set_error(rpc::to_wire(error));
  return out;
}

Edited refused_edit(const rpc::CallError& error) {
  Edited out;
  out.__set_error(rpc::to_wire(error));
  return out;
}

thrift::JobsOver to_wire(const core::OverJobs& over) {
  std::vector<thrift::JobOver> jobs;
  for (const auto& each : over.named) {
    thrift::JobOver& job = jobs.emplace_back();
    job.__set_name(each.name);
    job.__set_entries({each.entries.begin(), each.entries.end()});
    job.__set_others_fire(each.others_fire);
  }
  thrift::JobsOver out;
  out.__set_jobs(std::move(jobs));
  out.__set_count(static_cast<std::int32_t>(over.count));
  out.__set_looked_at(static_cast<std::int32_t>(over.looked_at));
  out.__set_users(static_cast<std::int32_t>(over.users));
  return out;
}

bool is_edit(const core::CalendarApplied& applied) { return applied.changed && !applied.created; }

Edited edited_calendar(const core::CalendarApplied& applied) {
  Edited out;
  out.__set_version(applied.version);
  out.__set_what(!applied.changed ? "unchanged" : applied.created ? "created" : "changed");
  out.__set_from_ms(to_ms(applied.from));
  if (is_edit(applied)) out.__set_jobs_over(to_wire(applied.over));
  return out;
}

using Accepted = std::vector<Result<core::ApplyCalendar>>;

/// `answers` get those that are refused.
Accepted accept_all(const Caller& caller, const std::vector<thrift::CalendarEdit>& edits,
                    std::vector<Edited>& answers) {
  Accepted out;
  auto beside = std::make_shared<core::CompiledCalendars>();
  for (std::size_t i = 0; i < edits.size(); ++i) {
    std::vector<std::string> problems;
    const auto& event = out.emplace_back(accept_calendar(edits[i], caller.principal, &problems));
    if (event) {
      beside->insert_or_assign({event->space, event->calendar->name}, event->compiled);
      continue;
    }
    answers[i] = refused_edit(event.error());
    if (!problems.empty()) answers[i].__set_problems(std::move(problems));
  }
  for (auto& event : out) {
    if (event) event->beside = beside;
  }
  return out;
}

Error no_such_calendar(const std::string& space, const std::string& name) {
  return Error(ErrorCode::NotFound,
               fmt::format("no calendar '{}' in namespace '{}'", shown_text(name), shown_text(space)));
}

Result<std::pair<model::Day, model::Day>> days_of(const thrift::PreviewRequest& request) {
  const auto first = model::day_from_text(request.first_day);
  if (!first) return fail(ErrorCode::InvalidArgument, "first_day: " + first.error().message);
  const auto last = model::day_from_text(request.last_day);
  if (!last) return fail(ErrorCode::InvalidArgument, "last_day: " + last.error().message);
  if (*last >= *first && *last - *first < kLongestPreview) return std::pair{*first, *last};
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{} to {} is no range of 1 to {} days", request.first_day, request.last_day,
                          kLongestPreview.count()));
}

}  // namespace

Result<std::vector<model::CalendarRow>> JobServiceHandler::calendar_now(const std::string& space,
                                                                        const std::string& name) {
  auto rows = parts_.reader.calendar_versions(space, name);
  if (!rows) return fail(rows.error());
  auto present = present_versions(std::move(*rows));
  if (present.empty()) return fail(no_such_calendar(space, name));
  return present;
}

/// What the leader would do, as far as the store tells.
Result<Edited> JobServiceHandler::plan_calendar(const core::ApplyCalendar& event) {
  auto rows = parts_.reader.calendar_versions(event.space, event.calendar->name);
  if (!rows) return fail(rows.error());
  const bool is_new = rows->empty() || rows->back().deleted;
  const std::int32_t last = rows->empty() ? 0 : rows->back().version;
  const std::int32_t stands = is_new ? 0 : last;
  if (event.expected_version && *event.expected_version != stands) {
    return fail(ErrorCode::Conflict,
                fmt::format("calendar {} is at version {}, the edit was made from version {}; read it again",
                            quoted_text(event.calendar->name), stands, *event.expected_version));
  }
  const bool is_same = !is_new && *rows->back().calendar == *event.calendar;
  const WallTime now = SystemClock().wall();
  Edited out;
  out.__set_version(is_same ? stands : last + 1);
  out.__set_what(is_same ? "unchanged" : is_new ? "created" : "changed");
  out.__set_from_ms(to_ms(is_same ? rows->back().from : is_new ? now : now + core::kCalendarLead));
  return out;
}

std::vector<Edited> JobServiceHandler::apply_calendars_here(const Caller& caller,
                                                            const std::vector<thrift::CalendarEdit>& edits,
                                                            bool dry_run, MonoTime deadline) {
  std::vector<Edited> out(edits.size());
  std::vector<std::pair<std::size_t, Token>> waiting;
  Accepted accepted = accept_all(caller, edits, out);
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    if (!accepted[i]) continue;
    if (dry_run) {
      const auto plan = plan_calendar(*accepted[i]);
      out[i] = plan ? *plan : refused_edit(plan.error());
      accepted[i]->only_tell = true;
      if (!plan || plan->what != "changed" || !desk_.leads()) continue;
      if (const auto token = desk_.post(std::move(*accepted[i]))) waiting.emplace_back(i, *token);
    } else if (const auto token = desk_.post(std::move(*accepted[i])); token) {
      waiting.emplace_back(i, *token);
    } else {
      out[i] = refused_edit(token.error());
    }
  }
  for (const auto& [place, token] : waiting) {
    const auto reply = desk_.wait(token, deadline);
    const auto* applied = reply ? std::get_if<core::CalendarApplied>(&*reply) : nullptr;
    if (dry_run) {
      if (applied != nullptr && is_edit(*applied)) out[place].__set_jobs_over(to_wire(applied->over));
    } else if (applied != nullptr) {
      out[place] = edited_calendar(*applied);
    } else {
      out[place] = reply ? refused_edit(unexpected_reply()) : refused_edit(reply.error());
    }
  }
  return out;
}

/// Only the leader knows which jobs use a calendar. Without it the plan tells the rest.
template <typename Ask>
std::vector<Edited> JobServiceHandler::plan_calendars(const Caller& caller, const Head& head,
                                                      const std::vector<thrift::CalendarEdit>& edits,
                                                      MonoTime deadline, const Ask& ask) {
  if (!head.forwarded) {
    auto plan = ask_leader(caller, head, std::min(deadline, BootClock::now() + kPlanHop), ask);
    if (plan) return std::move(*plan);
  }
  return apply_calendars_here(caller, edits, true, deadline);
}

void JobServiceHandler::apply_calendars(const Caller& caller, std::vector<Edited>& out, const Head& head,
                                        const std::vector<thrift::CalendarEdit>& edits, bool dry_run) {
  const MonoTime deadline = deadline_of(head);
  if (edits.size() > kMostCalendarEdits) {
    throw rpc::to_wire(Error(ErrorCode::InvalidArgument,
                             fmt::format("{} calendars at once, at most {} are allowed; send them in parts",
                                         edits.size(), kMostCalendarEdits)));
  }
  const auto ask = [&](auto& client, const Head& onward) {
    std::vector<Edited> answer;
    client.apply_calendars(answer, onward, edits, dry_run);
    return answer;
  };
  if (desk_.leads()) {
    out = apply_calendars_here(caller, edits, dry_run, deadline);
  } else if (!dry_run) {
    out = value_or_throw(pass_on(caller, head, deadline, ask));
  } else {
    out = plan_calendars(caller, head, edits, deadline, ask);
  }
}

void JobServiceHandler::delete_calendar(const Caller& caller, Edited& out, const Head& head,
                                        const std::string& space, const std::string& name,
                                        const std::string& why) {
  const MonoTime deadline = deadline_of(head);
  if (!desk_.leads()) {
    out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
      Edited answer;
      client.delete_calendar(answer, onward, space, name, why);
      return answer;
    }));
    return;
  }
  core::DeleteCalendar event{{}, caller.principal, space, name, std::string(cut_text(why, kMaxWhyBytes))};
  const auto reply = value_or_throw(desk_.ask(std::move(event), deadline));
  const auto* applied = std::get_if<core::CalendarApplied>(&reply);
  if (applied == nullptr) throw rpc::to_wire(unexpected_reply());
  out = edited_calendar(*applied);
  out.__set_what("deleted");
}

void JobServiceHandler::list_calendars(const Caller&, std::vector<thrift::CalendarInfo>& out, const Head&,
                                       const std::string& space, const std::string& prefix,
                                       std::int32_t limit) {
  const std::int32_t most = limit <= 0 ? kMostCalendarRows : std::min(limit, kMostCalendarRows);
  for (const model::CalendarRow& row : value_or_throw(parts_.reader.list_calendars(space, prefix, most))) {
    out.emplace_back().__set_newest(wire::to_wire(row));
  }
}

void JobServiceHandler::get_calendar(const Caller&, thrift::CalendarInfo& out, const Head&,
                                     const std::string& space, const std::string& name) {
  const auto rows = value_or_throw(calendar_now(space, name));
  out.__set_newest(wire::to_wire(rows.back()));
  std::vector<thrift::CalendarVersion> versions;
  for (auto row = rows.rbegin(); row != rows.rend() && versions.size() < kMostVersionsTold; ++row) {
    versions.push_back(wire::to_wire(*row));
    versions.back().__set_calendar({});
  }
  out.__set_versions(std::move(versions));
}

void JobServiceHandler::preview_calendar(const Caller&, std::vector<thrift::CalendarDay>& out, const Head&,
                                         const thrift::PreviewRequest& request) {
  const auto [first, last] = value_or_throw(days_of(request));
  if (!request.name.empty()) {
    out = value_or_throw(preview(value_or_throw(calendar_now(request.space, request.name)), first, last));
    return;
  }
  model::CalendarRow row;
  row.space = request.space;
  row.calendar =
      std::make_shared<const model::Calendar>(value_or_throw(wire::from_wire(request.calendar)));
  out = value_or_throw(preview({row}, first, last));
}

}  // namespace rota::master::api
