#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/command/commands.h"
#include "client/command/listing.h"
#include "client/command/run_tree.h"
#include "client/command/show_json.h"
#include "client/command/work_text.h"
#include "client/command/why_text.h"
#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "common/wire/run_wire.h"

namespace rota::client {

Result<WallTime> since_from(const std::string& text) {
  if (auto moment = parse_moment(text)) return *moment;
  auto back = parse_duration(text);
  if (back) return SystemClock{}.wall() - *back;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("--since takes a moment (2026-03-29T02:30:00Z) or a duration back from now "
                          "(2h), not '{}'",
                          printable(text)));
}

namespace {

constexpr std::size_t kPage = 1000;
constexpr std::size_t kLookedAt = 100'000;  ///< runs, for a --where that few of them meet

/// Page by page, the newest first, until `wants_more` says no.
Result<void> each_run(Desk& desk, thrift::RunFilter filter, std::size_t page_size,
                      const std::function<bool(const thrift::RunInfo&)>& wants_more) {
  filter.limit = static_cast<std::int32_t>(std::min(kPage, page_size));
  for (;;) {
    const auto page = desk.cluster.list_runs(filter);
    if (!page) return fail(page.error());
    for (const thrift::RunInfo& run : *page) {
      if (!wants_more(run)) return {};
    }
    if (page->size() < static_cast<std::size_t>(filter.limit)) return {};
    filter.__set_before_run(page->back().id);
  }
}

/// For a running run: how long so far, by this machine's clock.
std::string took_of(const thrift::RunInfo& run) {
  const bool runs_still = run.__isset.started_ms && !run.__isset.ended_ms && run.state == "running";
  if (!runs_still) return show_duration(run.started_ms, run.ended_ms);
  const std::int64_t now = std::max(to_ms(SystemClock{}.wall()), run.started_ms);
  return show_duration(run.started_ms, now) + " so far";
}

/// When it began; if its worker never reported that, when it was sent there.
std::string began_of(const thrift::AttemptInfo& attempt) {
  if (attempt.outcome.started_ms > 0) return show_time(attempt.outcome.started_ms);
  return attempt.__isset.dispatched_ms ? "sent " + show_time(attempt.dispatched_ms) : show_time(0);
}

std::vector<std::string> cells_of(const thrift::RunInfo& run) {
  return {std::to_string(run.id), run.job_name, run.state, run.reason == "none" ? "" : run.reason,
          show_time(run.scheduled_ms), show_duration(run.scheduled_ms, run.recorded_ms), took_of(run),
          run.worker.id, std::to_string(run.attempt), run.kind, std::to_string(run.job_version),
          show_time(run.__isset.started_ms ? run.started_ms : 0),
          show_time(run.__isset.ended_ms ? run.ended_ms : 0), run.principal, pairs_text(run.parameters),
          run.detail};
}

}  // namespace

int run_list(Desk& desk, const RunListArguments& arguments) {
  thrift::RunFilter filter;
  filter.space = desk.space;
  filter.job = arguments.one_off.empty() ? arguments.job : arguments.one_off;
  if (!filter.job.empty()) filter.__set_one_off(!arguments.one_off.empty());
  filter.states = arguments.states;
  if (!arguments.worker.empty()) filter.__set_worker(arguments.worker);
  if (!arguments.parent.empty()) {
    const auto parent = run_id_from(arguments.parent);
    if (!parent) return complain(parent.error());
    filter.__set_parent(*parent);
  }
  if (!arguments.root.empty()) {
    const auto root = run_id_from(arguments.root);
    if (!root) return complain(root.error());
    filter.__set_root(*root);
  }
  if (!arguments.since.empty()) {
    auto since = since_from(arguments.since);
    if (!since) return complain(since.error());
    filter.__set_since_ms(to_ms(*since));
  }
  const auto most = arguments.all ? SIZE_MAX : static_cast<std::size_t>(arguments.limit);
  Listing list(desk, {"RUN", "JOB", "STATE", "WHY", "SCHEDULED", "LATE", "TOOK", "WORKER", "TRY",
                      wide("KIND"), wide("VERSION"), wide("STARTED"), wide("ENDED"), wide("BY"),
                      wide("PARAMETERS"), wide("DETAIL")}, most);
  const std::size_t looks_at = list.is_filtered() && !arguments.all ? kLookedAt : SIZE_MAX;
  std::size_t looked_at = 0;
  const auto read = each_run(desk, filter, list.is_filtered() ? kPage : most, [&](const auto& run) {
    const bool wants_more = list.add([&run] { return to_json(run); }, cells_of(run));
    return ++looked_at < looks_at && wants_more;
  });
  if (!read) return complain(read.error());
  if (const int status = list.finish(); status != kOk) return status;
  if (looked_at == looks_at) {
    note(fmt::format("only the newest {} runs were looked at; --all looks at all", looked_at));
  }
  if (looked_at == 0 && !arguments.job.empty()) {
    note(fmt::format("no such run of a saved job '{0}'; --name {0} lists the runs of submits with that name",
                     printable(arguments.job)));
  }
  return kOk;
}

namespace {

/// An unknown figure is shown as unknown; when all are unknown, none is shown.
void add_costs(Table& table, const thrift::Outcome& outcome) {
  const auto shown = [&outcome](std::int32_t unknown, std::int64_t value, const char* unit) {
    return wire::is_known(outcome, unknown) ? fmt::format("{} {}", value, unit) : std::string("unknown");
  };
  constexpr std::int32_t kAll =
      wire::kCpuUnknown | wire::kMemoryUnknown | wire::kReadsUnknown | wire::kWritesUnknown;
  if (outcome.__isset.unknown_costs && (outcome.unknown_costs & kAll) == kAll) return;
  table.add({"cpu", shown(wire::kCpuUnknown, outcome.cpu_us / 1000, "ms")});
  table.add({"peak memory", shown(wire::kMemoryUnknown, outcome.peak_memory_bytes / 1024, "KiB")});
  table.add({"disk", "read " + shown(wire::kReadsUnknown, outcome.read_bytes, "bytes") + ", written " +
                         shown(wire::kWritesUnknown, outcome.written_bytes, "bytes")});
}

void add_outcome(Table& table, const thrift::Outcome& outcome) {
  if (outcome.exit_status >= 0) table.add({"exit status", std::to_string(outcome.exit_status)});
  if (outcome.signal > 0) table.add({"signal", std::to_string(outcome.signal)});
  if (!outcome.message.empty()) table.add({"message", outcome.message});
  if (!outcome.result.empty()) table.add({"result", outcome.result});
  table.add({"output", fmt::format("{} bytes, errors {} bytes", outcome.stdout_bytes,
                                   outcome.stderr_bytes)});
  add_costs(table, outcome);
}

void add_note(Table& table, const thrift::RunNote& note) {
  if (note.__isset.percent) {
    table.add({"progress", fmt::format("{} %{}{} (attempt {}, {})", note.percent,
                                       note.text.empty() ? "" : " ", note.text, note.attempt,
                                       show_time(note.said_ms))});
  }
  if (!note.__isset.checkpoint) return;
  table.add({"checkpoint", fmt::format("{} ({} bytes, attempt {}, {})", shown_text(note.checkpoint),
                                       note.checkpoint.size(), note.checkpoint_attempt,
                                       show_time(note.checkpoint_ms))});
}

std::string still_text(const thrift::AttemptInfo& attempt) {
  const thrift::Outcome& outcome = attempt.outcome;
  const std::int64_t from = outcome.stood_still_from_ms, to = outcome.stood_still_to_ms;
  return fmt::format("attempt {}: the host of {} stood still from {} to {} ({} ms); nothing of it ran then\n",
                     attempt.attempt.attempt, attempt.worker.id, show_time(from), show_time(to), to - from);
}

void add_losses(Table& table, const thrift::RunDetail& detail) {
  if (detail.run.losses == 0) return;
  std::string text = detail.run.losses == 1 ? "once with its worker"
                                            : fmt::format("{} times with its workers", detail.run.losses);
  if (detail.__isset.loss_most) text += fmt::format(", at most {}", detail.loss_most);
  table.add({"lost", text});
}

/// For a run that has not ended: what only the leader knows. Nothing when the leader cannot be asked.
std::optional<thrift::Explanation> known_now(Desk& desk, const thrift::RunInfo& run) {
  if (run.__isset.ended_ms) return std::nullopt;
  auto why = desk.cluster.explain(run.id);
  return why ? std::optional(std::move(*why)) : std::nullopt;
}

void add_now(Table& table, const thrift::Explanation& now) {
  if (now.state != "running" || now.__isset.away_since_ms) table.add({"now", now.sentence});
  if (!now.__isset.usage) return;
  const std::string age = format_duration(Millis{now.usage.age_ms / 1000 * 1000});
  if (now.usage.__isset.cpu_percent) {
    table.add({"cpu now", fmt::format("{} % of one core ({} ago)", now.usage.cpu_percent, age)});
  }
  table.add({"cpu so far", fmt::format("{} ms ({} ago)", now.usage.cpu_us / 1000, age)});
  table.add({"memory", fmt::format("{} KiB in {} process{} ({} ago)", now.usage.memory_bytes / 1024,
                                   now.usage.processes, now.usage.processes == 1 ? "" : "es", age)});
}

void show_detail(const thrift::RunDetail& detail, const std::optional<thrift::Explanation>& now) {
  const thrift::RunInfo& run = detail.run;
  Table table({"RUN", std::to_string(run.id)});
  table.add({"job", fmt::format("{} (version {})", run.job_name, run.job_version)});
  table.add({"kind", run.kind});
  if (detail.__isset.work) table.add({"runs", work_text(detail.work)});
  table.add({"state", run.state});
  if (run.reason != "none") table.add({"why", run.reason + (run.detail.empty() ? "" : ": " + run.detail)});
  table.add({"scheduled", show_time(run.scheduled_ms)});
  table.add({"recorded", show_time(run.recorded_ms)});
  table.add({"started", show_time(run.__isset.started_ms ? run.started_ms : 0)});
  table.add({"ended", show_time(run.__isset.ended_ms ? run.ended_ms : 0)});
  if (run.__isset.started_ms) table.add({"took", took_of(run)});
  table.add({"worker", run.worker.id});
  table.add({"attempt", std::to_string(run.attempt)});
  add_losses(table, detail);
  for (const auto& [name, value] : run.parameters) table.add({"parameter " + name, value});
  if (now) add_now(table, *now);
  if (detail.__isset.note) add_note(table, detail.note);
  if (run.__isset.ended_ms) add_outcome(table, run.outcome);
  print_text(table.text());
  if (const std::string tree = tree_text(detail); !tree.empty()) print_text("\n" + tree);
  if (detail.attempts.empty()) return;
  Table earlier({"ATTEMPT", "WORKER", "STATE", "WHY", "STARTED", "ENDED", "LATE"});
  for (const auto& attempt : detail.attempts) {
    earlier.add({std::to_string(attempt.attempt.attempt), attempt.worker.id, attempt.outcome.state,
                 attempt.outcome.reason, began_of(attempt),
                 show_time(attempt.outcome.ended_ms), attempt.late ? "late" : ""});
  }
  print_text("\n" + earlier.text());
  for (const auto& attempt : detail.attempts) {
    if (attempt.outcome.__isset.stood_still_from_ms) print_text(still_text(attempt));
  }
}

}  // namespace

int run_show(Desk& desk, const std::string& run) {
  auto id = run_id_from(run);
  if (!id) return complain(id.error());
  auto detail = desk.cluster.get_run(*id);
  if (!detail) return complain(detail.error());
  if (desk.prints_data()) {
    nlohmann::json out = to_json(*detail);
    put_tree(out, *detail);
    const auto now = known_now(desk, detail->run);
    out["now"] = now ? to_json(*now) : nlohmann::json(nullptr);
    print_data(desk.format, out);
  } else {
    show_detail(*detail, known_now(desk, detail->run));
  }
  return kOk;
}

int run_cancel(Desk& desk, const std::string& run, const std::string& why) {
  auto id = run_id_from(run);
  if (!id) return complain(id.error());
  auto state = desk.cluster.cancel_run(*id, why);
  if (!state) return complain(state.error());
  if (desk.prints_data()) {
    print_data(desk.format, {{"id", run}, {"state", *state}});
  } else {
    print_text(fmt::format("run {} is {}{}\n", *id, *state,
                           *state == "running" || *state == "dispatched" ? " and being killed" : ""));
  }
  return kOk;
}

int run_why(Desk& desk, const std::string& run) {
  auto id = run_id_from(run);
  if (!id) return complain(id.error());
  auto why = desk.cluster.explain(*id);
  if (!why) return complain(why.error());
  if (desk.prints_data()) {
    nlohmann::json out = to_json(*why);
    put_why(out, *why);
    print_data(desk.format, out);
  } else {
    print_text(fmt::format("{}: {}\n{}", why->state, printable(why->sentence), why_text(*why)));
  }
  return kOk;
}

}  // namespace rota::client
