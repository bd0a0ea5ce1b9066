// The calendars of an apply.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/calendar_file.h"
#include "client/calendar_words.h"
#include "client/command/apply_plan.h"
#include "client/command/show_json.h"
#include "client/command/text_diff.h"
#include "common/rpc/error_wire.h"

namespace rota::client {
namespace {

constexpr std::size_t kMostCalendarsInCall = 10;  // a calendar has up to 20,000 ranges of days

using CalendarAnswers = std::vector<thrift::CalendarEdited>;

Result<CalendarAnswers> apply_calendars_in_calls(Desk& desk, const std::vector<thrift::CalendarEdit>& edits,
                                                 bool dry_run) {
  CalendarAnswers all;
  for (std::size_t first = 0; first < edits.size(); first += kMostCalendarsInCall) {
    const auto begin = edits.begin() + static_cast<std::ptrdiff_t>(first);
    const auto left = static_cast<std::ptrdiff_t>(std::min(kMostCalendarsInCall, edits.size() - first));
    auto answers = desk.cluster.apply_calendars({begin, begin + left}, dry_run);
    if (!answers) return answers;
    std::ranges::move(*answers, std::back_inserter(all));
  }
  return all;
}

}  // namespace

CalendarPlan::CalendarPlan(Desk& desk, std::vector<thrift::Calendar> calendars,
                           const std::vector<thrift::JobDefinition>& jobs, std::vector<Origin> origins)
    : desk_(desk), origins_(std::move(origins)) {
  for (thrift::Calendar& calendar : calendars) edits_.emplace_back().calendar = std::move(calendar);
  for (const thrift::JobDefinition& job : jobs) jobs_[job.space].insert(job.name);
}

std::string CalendarPlan::over_words_of(std::size_t i, const thrift::CalendarEdited& answer) const {
  const thrift::Calendar& calendar = edits_[i].calendar;
  const auto beside = jobs_.find(calendar.space);
  return over_words(calendar.name, answer, beside == jobs_.end() ? std::set<std::string>{} : beside->second);
}

void CalendarPlan::tell_of_jobs_over() const {
  for (std::size_t i = 0; i < edits_.size() && i < plan_.size(); ++i) {
    if (const std::string words = over_words_of(i, plan_[i]); !words.empty()) note(words);
  }
}

int CalendarPlan::complain_of_refusals(const CalendarAnswers& answers) const {
  int status = kOk;
  for (std::size_t i = 0; i < edits_.size() && i < answers.size(); ++i) {
    if (!answers[i].__isset.error) continue;
    for (const std::string& line : calendar_refusal(edits_[i].calendar.name, answers[i].error.message,
                                                    answers[i].problems, origins_[i])) {
      note(line);
    }
    status = std::max(status, int{exit_status_of(rpc::code_of(answers[i].error.kind))});
  }
  return status;
}

int CalendarPlan::make() {
  auto plan = apply_calendars_in_calls(desk_, edits_, true);
  if (!plan) return complain(plan.error());
  plan_ = std::move(*plan);
  return complain_of_refusals(plan_);
}

bool CalendarPlan::changes() const {
  return std::ranges::any_of(plan_, [](const auto& each) { return each.what != "unchanged"; });
}

void CalendarPlan::show() const {
  Table table({"CALENDAR", "PLAN", "VERSION", "COUNTS"});
  for (std::size_t i = 0; i < edits_.size() && i < plan_.size(); ++i) {
    const thrift::CalendarEdited& plan = plan_[i];
    const std::string counts = plan.what == "changed"   ? "10 s after it is applied"
                               : plan.what == "created" ? "at once"
                                                        : "since " + show_time(plan.from_ms);
    table.add({edits_[i].calendar.name, plan.what, std::to_string(plan.version), counts});
  }
  std::fputs(table.text().c_str(), stderr);
}

void CalendarPlan::show_differences() const {
  for (std::size_t i = 0; i < edits_.size() && i < plan_.size(); ++i) {
    if (plan_[i].what != "changed") continue;
    const thrift::Calendar& calendar = edits_[i].calendar;
    const auto stands = desk_.cluster.get_calendar(calendar.space, calendar.name);
    if (!stands) continue;
    note(fmt::format("--- {0} version {1}\n+++ {0} version {2}", printable(calendar.name),
                     stands->newest.version, plan_[i].version));
    const std::string diff =
        text_diff(calendar_file_text(stands->newest.calendar), calendar_file_text(calendar));
    std::fputs(diff.c_str(), stderr);
  }
}

void CalendarPlan::expect_versions() {
  for (std::size_t i = 0; i < edits_.size() && i < plan_.size(); ++i) {
    const std::string& what = plan_[i].what;
    const std::int32_t version = plan_[i].version;
    edits_[i].__set_expected_version(what == "created" ? 0 : what == "changed" ? version - 1 : version);
  }
}

int CalendarPlan::carry_out(nlohmann::json& rows) {
  const auto done = apply_calendars_in_calls(desk_, edits_, false);
  if (!done) return complain(done.error());
  for (std::size_t i = 0; i < done->size(); ++i) {
    const thrift::CalendarEdited& each = (*done)[i];
    if (each.__isset.error) continue;
    const std::string& name = edits_[i].calendar.name;
    const std::string words = over_words_of(i, each);
    if (!words.empty() && words != over_words_of(i, plan_[i])) note(words);
    if (desk_.prints_data()) {
      rows.push_back({{"kind", "calendar"}, {"name", name}, {"version", each.version}, {"what", each.what},
                      {"counts_from_ms", each.from_ms}});
      if (each.__isset.jobs_over) rows.back()["jobs_over"] = to_json(each.jobs_over);
    } else {
      print_text(fmt::format("{} {} (version {}, counts from {})\n", printable(name), each.what, each.version,
                             show_time(each.from_ms)));
    }
  }
  return complain_of_refusals(*done);
}

}  // namespace rota::client
