#include <tuple>
#include <fmt/ranges.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "client/clock_words.h"
#include "client/command/commands.h"
#include "client/command/listing.h"
#include "client/command/show_json.h"
#include "client/command/tick_hold.h"
#include "client/job_file.h"
#include "client/job_schema.h"
#include "common/base/duration_text.h"
#include "common/model/entry_text.h"
#include "common/time/zones.h"

namespace rota::client {
std::string schedule_line(const thrift::JobDefinition& definition) {
  const thrift::Schedule& schedule = definition.rules.schedule;
  if (schedule.kind == "cron") return schedule.cron + " " + schedule.time_zone;
  if (schedule.kind == "fixed_rate") {
    return "every " + show_duration(1, 1 + schedule.interval_ms);
  }
  if (schedule.kind == "entries") return fmt::format("{}", fmt::join(schedule.entries, " | "));
  if (schedule.kind == "once") return "once " + show_time(schedule.start_ms);
  return "-";
}

bool confirmed(const Desk& desk, const std::string& question) {
  return confirmed(fmt::format("{} ({})", question, desk.target));
}

bool confirmed(const std::string& question) {
  if (!::isatty(STDIN_FILENO)) return false;
  std::fprintf(stderr, "%s [y/N] ", question.c_str());
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

namespace {

std::vector<std::string> cells_of(const thrift::JobInfo& job) {
  const bool has_run = job.__isset.last_run;
  return {job.definition.name, job.state, std::to_string(job.version), schedule_line(job.definition),
          show_time(job.__isset.next_ms ? job.next_ms : 0), has_run ? job.last_run.state : "-",
          has_run ? show_time(job.last_run.scheduled_ms) : "-", job.definition.rules.pool,
          job.definition.work.handler, job.definition.owner, pairs_text(job.definition.labels),
          show_time(job.changed_ms), job.state_by, job.state_why, job.definition.description};
}

}  // namespace

int job_list(Desk& desk, const std::string& prefix, int limit, bool all) {
  constexpr int kPageOfAll = 1000;
  Listing list(desk, {"JOB", "STATE", "VERSION", "SCHEDULE", "NEXT", "LAST", "LAST RUN", "POOL",
                      wide("HANDLER"), wide("OWNER"), wide("LABELS"), wide("CHANGED"), wide("STATE BY"),
                      wide("STATE WHY"), wide("DESCRIPTION")},
               all ? SIZE_MAX : static_cast<std::size_t>(limit));
  const int page = all || list.is_filtered() ? kPageOfAll : limit;
  const auto read = desk.cluster.each_job(desk.space, prefix, page, [&](const thrift::JobInfo& job) {
    return list.add([&job] { return to_json(job); }, cells_of(job));
  });
  return read ? list.finish() : complain(read.error());
}

int job_gaps(Desk& desk, const std::string& name, int limit) {
  auto gaps = desk.cluster.list_gaps(desk.space, name, limit);
  if (!gaps) return complain(gaps.error());
  if (!desk.prints_data()) tell_hold(tick_hold_of(desk));
  Listing list(desk, {"FROM", "TO", "TICKS", "WHY", "RUN", "VERSION"});
  for (const auto& gap : *gaps) {
    list.add([&gap] { return to_json(gap); },
             {show_time(gap.from_ms), show_time(gap.to_ms), std::to_string(gap.count), gap.reason,
              gap.run == 0 ? "" : std::to_string(gap.run), std::to_string(gap.job_version)});
  }
  return list.finish();
}

namespace {

/// What its namespace says where the job does not, as comments above the file.
void note_default_times(const thrift::JobInfo& job) {
  const std::tuple<const char*, bool, std::int64_t> all[] = {
      {"attempt", job.__isset.default_timeout_ms, job.default_timeout_ms},
      {"run", job.__isset.default_run_timeout_ms, job.default_run_timeout_ms},
      {"queue", job.__isset.default_queue_timeout_ms, job.default_queue_timeout_ms}};
  for (const auto& [key, is_set, ms] : all) {
    if (!is_set) continue;
    note(fmt::format("# timeout.{}: {} (namespace {})", key, format_duration(Millis{ms}),
                     printable(job.definition.space)));
  }
}

}  // namespace

int job_show(Desk& desk, const std::string& name) {
  auto job = desk.cluster.get_job(desk.space, name);
  if (!job) return complain(job.error());
  if (desk.prints_data()) {
    print_data(desk.format, to_json(*job));
    return kOk;
  }
  note(fmt::format("# version {}, {}{}{}{}", job->version, job->state,
                   job->state_by.empty() ? "" : " by " + printable(job->state_by),
                   job->state_why.empty() ? "" : ": " + printable(job->state_why),
                   job->__isset.next_ms ? ", next " + show_time(job->next_ms) : ""));
  note_default_times(*job);
  print_text(job_file_text(job->definition));
  return kOk;
}

int job_schema(bool as_table) {
  print_text(as_table ? job_key_table() : job_schema_text());
  return kOk;
}

namespace {

/// Whether the run was skipped; if so, prints why.
bool tell_if_skipped(Desk& desk, std::int64_t run) {
  const auto detail = desk.cluster.get_run(run);
  if (!detail || detail->run.state != "skipped") return false;
  const auto why = desk.cluster.explain(run);
  note(fmt::format("run {} was skipped ({}): {}", run, detail->run.reason,
                   why ? printable(why->sentence) : "rota run why says more"));
  return true;
}

}  // namespace

int job_run(Desk& desk, const RunNowArguments& arguments) {
  auto parameters = pairs_from(arguments.parameters);
  if (!parameters) return complain(parameters.error());
  auto at_most = wait_limit_of(arguments.wait_at_most);
  if (!at_most) return complain(at_most.error());
  auto result = desk.cluster.run_now(desk.space, arguments.name, *parameters, arguments.key);
  if (!result) return complain(result.error());
  if (arguments.wait || arguments.follow || !arguments.wait_at_most.empty()) {
    note(fmt::format("run {}", result->run));
    return await_run(desk, result->run, arguments.follow, *at_most);
  }
  if (desk.prints_data()) {
    print_data(desk.format, {{"id", std::to_string(result->run)}, {"repeated", result->repeated}});
  } else {
    print_text(fmt::format("{}\n", result->run));
  }
  return tell_if_skipped(desk, result->run) ? kRunSkipped : kOk;
}

namespace {

/// The first entry that is due, by its name or its place; or the cron.
model::ScheduleEntry entry_of(const thrift::Schedule& schedule, const std::string& due) {
  model::ScheduleEntry out;
  if (schedule.kind == "cron") {
    out.time_zone = schedule.time_zone;
    out.cron = schedule.cron;
  }
  const std::string first = due.substr(0, due.find(','));
  for (std::size_t i = 0; i < schedule.entries.size(); ++i) {
    const auto entry = model::entry_from_text(schedule.entries[i]);
    if (!entry) continue;
    if (entry->name.empty() ? first == std::to_string(i + 1) : first == entry->name) return *entry;
  }
  return out;
}

/// With a word on summer time where it matters.
std::string local_time_of(const thrift::Schedule& schedule, const std::string& due, std::int64_t at) {
  const model::ScheduleEntry entry = entry_of(schedule, due);
  const auto zone = timezone::load_zone(entry.time_zone);
  if (entry.time_zone == "UTC" || !zone) return "";
  const std::string words = clock_words(**zone, at, entry.cron);
  return show_local_time(at, **zone) + (words.empty() ? "" : "  (" + words + ")");
}

/// What hangs on the end of a run, or on the start of a worker, has no moments of its own; the next one after
/// an end is known where it is planned.
bool tell_without_clock(const thrift::Schedule& schedule, const std::optional<std::int64_t>& next_ms) {
  bool has_any = false;
  for (const std::string& line : schedule.entries) {
    const auto entry = model::entry_from_text(line);
    if (!entry) continue;
    if (entry->kind == model::EntryKind::AfterEnd) {
      note(fmt::format("it is due {} after the end of each run{}", format_duration(entry->interval),
                       next_ms ? ", next at " + show_time(*next_ms) : ""));
    } else if (entry->kind == model::EntryKind::WorkerStart) {
      note("it fires once for each start of a worker that may run it");
    } else {
      continue;
    }
    has_any = true;
  }
  return has_any;
}

/// "  starts 3m17s later: 2026-12-25 02:33:17.000Z", by its jitter; empty: at its tick.
std::string start_text(const thrift::NextFires& fires, std::size_t i) {
  if (!fires.__isset.starts_ms || i >= fires.starts_ms.size()) return "";
  const Millis jitter{fires.starts_ms[i] - fires.at_ms[i]};
  if (jitter <= Millis{0}) return "";
  return fmt::format("  starts {} later: {}", format_duration(jitter), show_time(fires.starts_ms[i]));
}

/// Each moment, here and in its zone, and by which entries where that is not clear.
void print_fires(const thrift::Schedule& schedule, const thrift::NextFires& fires) {
  auto closed = fires.closed.begin();
  const auto tell_closed = [&](std::int64_t before_ms) {
    for (; closed != fires.closed.end() && closed->at_ms < before_ms; ++closed) {
      note(show_time(closed->at_ms) + "  " + printable(closed->why));
    }
  };
  for (std::size_t i = 0; i < fires.at_ms.size(); ++i) {
    tell_closed(fires.at_ms[i]);
    const std::string due = i < fires.entries.size() ? fires.entries[i] : "";
    const bool is_told = schedule.entries.size() > 1 || (due != "1" && !due.empty());
    print_text(show_time(fires.at_ms[i]) + local_time_of(schedule, due, fires.at_ms[i]) +
               (is_told ? "  by " + due : "") + start_text(fires, i) + "\n");
  }
  tell_closed(INT64_MAX);
}

}  // namespace

int job_next(Desk& desk, const std::string& name, const std::string& line,
             const std::string& time_zone, const std::string& from, int count) {
  thrift::Schedule schedule;
  std::string state;
  std::optional<std::int64_t> planned_ms;
  if (!line.empty()) {
    auto parsed = schedule_from_line(line, time_zone);
    if (!parsed) return complain(parsed.error());
    schedule = *parsed;
  } else {
    auto job = desk.cluster.get_job(desk.space, name);
    if (!job) return complain(job.error());
    schedule = job->definition.rules.schedule;
    state = job->state;
    if (job->__isset.next_ms) planned_ms = job->next_ms;
    // A fixed rate without a start is anchored at the job's creation; of entries the schedule's own start
    // is that.
    const bool has_anchor = schedule.kind == "fixed_rate" || schedule.kind == "entries";
    if (has_anchor && !schedule.__isset.start_ms) schedule.__set_start_ms(job->created_ms);
  }
  const TickHold hold = tick_hold_of(desk);
  const auto asked = from.empty() ? Result<WallTime>(std::max(SystemClock{}.wall(), hold.recorded_through))
                                  : parse_moment(from);
  if (!asked) return complain(asked.error());
  const WallTime after = *asked;
  auto fires = desk.cluster.next_fires(schedule, after, count, desk.space, name);
  if (!fires) return complain(fires.error());
  if (desk.prints_data()) {
    nlohmann::json out = {{"at_ms", fires->at_ms}};
    if (!fires->entries.empty()) out["entries"] = fires->entries;
    if (fires->__isset.starts_ms) out["starts_ms"] = fires->starts_ms;
    for (const auto& closed : fires->closed) {
      out["closed"].push_back({{"at_ms", closed.at_ms}, {"why", closed.why}});
    }
    if (!state.empty()) out["state"] = state;
    if (!hold.why.empty()) out["held"] = hold.why;
    print_data(desk.format, out);
    return kOk;
  }
  tell_hold(hold);
  if (state == "paused") {
    note(fmt::format("{0} is paused: none of these fires until `rota job resume {0}`", printable(name)));
  }
  const bool has_others = tell_without_clock(schedule, planned_ms);
  if (fires->at_ms.empty() && !has_others) {
    note(schedule.kind == "none" ? "it has no schedule: it runs only by hand (rota job run)"
                                 : "it never fires again");
  }
  print_fires(schedule, *fires);
  return kOk;
}

}  // namespace rota::client
