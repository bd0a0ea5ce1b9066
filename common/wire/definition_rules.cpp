#include "common/wire/definition_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/duration_text.h"
#include "common/model/expect.h"
#include "common/model/http_call.h"
#include "common/model/notification.h"
#include "common/model/retry_text.h"
#include "common/model/route_key.h"
#include "common/model/template_text.h"
#include "common/model/worker_labels.h"
#include "common/wire/field_rules.h"
#include "common/wire/text_rules.h"

namespace rota::wire {
namespace {

using Texts = std::map<std::string, std::string>;
using Problems = std::vector<std::string>;

void check_environment_names(const Texts& environment, Problems& problems) {
  for (const auto& [key, value] : environment) {
    if (key.find('=') != std::string::npos) {
      problems.push_back(
          fmt::format("environment: the name {} holds '='; write NAME: value", quoted_text(key)));
    }
  }
}

void check_command(const model::JobWork& work, Problems& problems) {
  if (work.argv.empty() && work.script.empty()) {
    problems.push_back("command: there is nothing to run; give a command or a script");
  }
  if (!work.argv.empty() && !work.script.empty()) {
    problems.push_back("command: both a command and a script are given; keep one");
  }
  if (!work.argv.empty() && work.argv.front().empty()) {
    problems.push_back("command: the program's name is empty");
  }
  if (!work.script.empty() && work.interpreter.empty()) {
    problems.push_back("interpreter: it is empty; leave it out for /bin/sh");
  }
  if (work.isolation != model::Isolation::Worker) {
    problems.push_back("isolation: it is for handlers; a command has a process of its own in any case");
  }
}

/// A handler inside of the worker is a thread of the worker's: what only a process can have would be
/// left out without a word, and its run would be the worker's user's.
void check_without_process(const model::JobWork& work, Problems& problems) {
  if (model::has_own_process(work)) return;
  const model::JobWork plain;
  const std::pair<const char*, bool> asked[] = {
      {"limits", work.limits != plain.limits}, {"run_as", work.run_as != plain.run_as},
      {"nice", work.nice != plain.nice},       {"umask", work.umask != plain.umask},
      {"folder", work.folder != plain.folder}, {"keep_folder", work.keep_folder != plain.keep_folder},
      {"environment", !work.environment.empty()},
      {"cleanup", !work.cleanup.empty()}};
  for (const auto& [name, is_asked] : asked) {
    if (!is_asked) continue;
    problems.push_back(fmt::format("{}: it is for processes; a handler runs inside of the worker, unless it "
                                   "says isolation: process", name));
  }
}

std::size_t bytes_of(const Texts& texts) {
  std::size_t sum = 0;
  for (const auto& [key, value] : texts) sum += key.size() + value.size();
  return sum;
}

std::size_t bytes_of(const model::JobWork& work) {
  std::size_t sum = work.script.size();
  for (const std::string& argument : work.argv) sum += argument.size() + 1;
  for (const std::string& word : work.cleanup) sum += word.size() + 1;
  return sum + bytes_of(work.environment) + bytes_of(work.parameters);
}

void check_cleanup(const model::JobWork& work, Problems& problems) {
  if (!work.cleanup.empty() && work.cleanup.front().empty()) {
    problems.push_back("cleanup: the program's name is empty");
  }
  for (const std::string& word : work.cleanup) {
    const auto problem = model::cleanup_problem(word, work.parameters);
    if (problem) problems.push_back("cleanup: " + problem->text);
  }
}

void check_work(const model::JobWork& work, Problems& problems) {
  if (work.handler == "command") check_command(work, problems);
  if (work.handler == "http") {
    const auto call = model::http_call_of(work.parameters);
    if (!call) problems.push_back(call.error().message);
  }
  if (const std::size_t sum = bytes_of(work); sum > kMaxWorkBytes) {
    problems.push_back(fmt::format("command: {} bytes with script, environment and parameters, at most {} "
                                   "are allowed; put the data into a file", sum, kMaxWorkBytes));
    return;
  }
  find_field_problems(work, problems);
  check_environment_names(work.environment, problems);
  check_without_process(work, problems);
  check_cleanup(work, problems);
}

/// Whether several runs of one job may be there at once, of which none ends another.
bool may_fire_all(model::Overlap overlap) {
  switch (overlap) {
    case model::Overlap::Queue:
    case model::Overlap::QueueOne:
    case model::Overlap::Allow: return true;
    case model::Overlap::Skip:
    case model::Overlap::Replace:
    case model::Overlap::Terminate: return false;
  }
  return false;
}

void check_route_key(const model::JobRules& rules, Problems& problems) {
  if (!rules.route_key.empty() && rules.route != model::RouteKind::ConsistentHash) {
    problems.push_back(
        "route_key: it is given, but route is not \"consistent_hash\"; set route or remove it");
  }
  const auto is_good = model::check_route_key(rules.route_key);
  if (!is_good) problems.push_back(is_good.error().message);
}

bool fires_at_starts(const model::Schedule& schedule) {
  return std::ranges::any_of(schedule.entries,
                             [](const std::string& line) { return line.starts_with("worker_start"); });
}

void check_select(const model::JobRules& rules, Problems& problems) {
  for (const auto& [label, words] : rules.select) {
    if (!model::is_one_of(words, "")) continue;
    problems.push_back(fmt::format("select.{}: {} holds an empty word; give words with one comma between "
                                   "them", label, quoted_text(words)));
  }
  if (!rules.select.empty() && fires_at_starts(rules.schedule)) {
    problems.push_back("select: a schedule with @worker_start goes by pool, handler and worker alone; remove "
                       "one of the two");
  }
}

/// What one is preferred by, among those that are allowed.
void check_prefer(const model::JobRules& rules, Problems& problems) {
  for (const auto& [label, words] : rules.prefer) {
    if (model::is_one_of(words, "")) {
      problems.push_back(fmt::format("prefer.labels.{}: {} holds an empty word; give words with one comma "
                                     "between them", label, quoted_text(words)));
    }
    const auto must = rules.select.find(label);
    if (must == rules.select.end()) continue;
    for (const std::string& word : model::words_of(words)) {
      if (model::is_one_of(must->second, word)) continue;
      problems.push_back(fmt::format("prefer.labels.{}: no worker may have {}, since select.{} is {}", label,
                                     quoted_text(word), label, quoted_text(must->second)));
    }
  }
  if (rules.prefer.empty()) {
    if (rules.prefer_for != model::JobRules{}.prefer_for) {
      problems.push_back("prefer.for: it is given, but prefer.labels is not; give labels or remove it");
    }
    return;
  }
  if (rules.route == model::RouteKind::Named) {
    problems.push_back("prefer: worker names the only one; remove one of the two");
  }
  if (fires_at_starts(rules.schedule)) {
    problems.push_back("prefer: a run of @worker_start stays on its worker; remove one of the two");
  }
}

void check_ends(const char* key, const std::vector<std::string>& lines, Problems& problems) {
  for (const std::string& line : lines) {
    const auto filter = model::end_filter_from_text(line);
    if (!filter) problems.push_back(fmt::format("{}: {}", key, filter.error().message));
  }
}

void check_retry(const model::JobRules& rules, Problems& problems) {
  const model::RetryRule& retry = rules.retry;
  check_ends("retry.only", retry.only, problems);
  check_ends("retry.never", retry.never, problems);
  for (const auto& [key, lines] : {std::pair{"only", &retry.only}, std::pair{"never", &retry.never}}) {
    if (lines->empty() || retry.count > 0) continue;
    problems.push_back(fmt::format("retry.{}: it is given, but count is 0, so nothing is tried again; set "
                                   "count or remove it", key));
  }
  if (retry.another_worker == model::AnotherWorker::Require && rules.route == model::RouteKind::Named) {
    problems.push_back("retry.another_worker: it is \"require\", but worker names the only one; remove one "
                       "of them");
  }
  if (retry.again.empty()) return;
  const auto again = model::again_from_text(retry.again);
  if (!again) {
    problems.push_back("retry.again: " + again.error().message);
  } else if (again->at_most > Millis{0} && again->at_most < again->every) {
    problems.push_back(fmt::format("retry.again: at_most, {}, is shorter than every, {}, so it is never "
                                   "tried again; change one of them", format_duration(again->at_most),
                                   format_duration(again->every)));
  }
}

void check_told(const model::JobRules& rules, Problems& problems) {
  for (const std::string& name : rules.notify) {
    if (is_word(name)) continue;
    problems.push_back(fmt::format("notify: the name {} must be 1 to {} letters, digits, '_', '-' or '.'",
                                   quoted_text(name), model::kMaxReceiverName));
  }
  const bool has_nobody = std::ranges::find(rules.notify, model::kNobody) != rules.notify.end();
  if (has_nobody && rules.notify.size() > 1) {
    problems.push_back("notify: \"nobody\" stands beside other names; keep one of the two");
  }
}

/// A job that is named twice for one end would begin once all the same.
void check_children(const model::JobRules& rules, Problems& problems) {
  std::map<std::string, const char*> success, failure;
  const auto note = [&problems](const char* key, const std::string& name, auto& seen) {
    const auto [first, is_new] = seen.emplace(name, key);
    if (is_new) return true;
    problems.push_back(first->second == std::string_view(key)
                           ? fmt::format("{}: the job {} stands twice; keep one", key, quoted_text(name))
                           : fmt::format("{}: the job {} stands in {} too, which counts for some of these "
                                         "ends; keep one", key, quoted_text(name), first->second));
    return false;
  };
  for (const std::string& name : rules.on_success) note("on_success", name, success);
  for (const std::string& name : rules.on_failure) note("on_failure", name, failure);
  for (const std::string& name : rules.on_end) {
    if (note("on_end", name, success)) note("on_end", name, failure);
  }
}

void check_expected(const model::JobRules& rules, Problems& problems) {
  if (!rules.expect_finish_by.empty()) {
    const auto clock = model::finish_by_from_text(rules.expect_finish_by);
    if (!clock) problems.push_back("expect.finish_by: " + clock.error().message);
    if (clock && rules.schedule.kind == model::ScheduleKind::None) {
      problems.push_back("expect.finish_by: it counts from a tick, and the job has none; give it a schedule, "
                         "or remove it");
    }
  }
  if (rules.expect_longer_than.empty()) return;
  const auto longer = model::longer_than_from_text(rules.expect_longer_than);
  if (!longer) problems.push_back("expect.longer_than: " + longer.error().message);
}

void check_rules(const model::JobRules& rules, Problems& problems) {
  find_field_problems(rules, problems);
  check_expected(rules, problems);
  check_retry(rules, problems);
  check_told(rules, problems);
  check_children(rules, problems);
  if (rules.late == model::LatePolicy::FireAll && !may_fire_all(rules.overlap)) {
    problems.push_back("late: \"fire_all\" starts a run for each late tick, so they overlap; set overlap to "
                       "queue, queue_one or allow");
  }
  if (rules.concurrency != 1 && rules.overlap == model::Overlap::Allow) {
    problems.push_back(fmt::format("concurrency: {} is given, but overlap is \"allow\", which knows no "
                                   "bound; set another overlap or remove it", rules.concurrency));
  }
  if (rules.run_timeout > Millis{0} && rules.timeout > rules.run_timeout) {
    problems.push_back(fmt::format("timeout: attempt is {}, but run, {}, ends each attempt before; give it "
                                   "less, or remove it", format_duration(rules.timeout),
                                   format_duration(rules.run_timeout)));
  }
  const bool is_named = rules.route == model::RouteKind::Named;
  if (is_named && rules.worker.empty()) {
    problems.push_back("worker: route is \"named\"; give the worker's id");
  }
  if (!is_named && !rules.worker.empty()) {
    problems.push_back("worker: it is given, but route is not \"named\"; set route or remove it");
  }
  check_route_key(rules, problems);
  check_select(rules, problems);
  check_prefer(rules, problems);
}

Result<void> as_result(const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  return fail(ErrorCode::InvalidArgument, fmt::format("{}", fmt::join(problems, "; ")));
}

}  // namespace

std::vector<std::string> definition_problems(const model::JobDefinition& definition, bool saved) {
  Problems problems;
  if (saved && definition.name.empty()) problems.push_back("name: it is missing; give the job a name");
  find_own_problems(definition, problems);
  check_rules(definition.rules, problems);
  check_work(definition.work, problems);
  if (!model::has_own_process(definition.work) && definition.rules.disconnect_grace > Millis{0}) {
    problems.push_back("disconnect_grace: a handler inside of the worker ends when nobody vouches for the "
                       "worker; with isolation: process it may go on");
  }
  if (!saved && definition.rules.expect_longer_than.ends_with('x')) {
    problems.push_back("expect.longer_than: a run that is submitted has no earlier ones to compare with; "
                       "give a duration");
  }
  if (!saved && model::names_children(definition.rules)) {
    problems.push_back("on_success, on_failure, on_end: a run that is submitted begins no child jobs; "
                       "apply a job to have some");
  }
  if (!saved && definition.rules.schedule.kind != model::ScheduleKind::None) {
    problems.push_back("schedule: a run that is submitted starts now; apply a job to have a schedule");
  }
  return problems;
}

Result<void> validate_definition(const model::JobDefinition& definition, bool saved) {
  return as_result(definition_problems(definition, saved));
}

Result<void> validate_parameters(const model::Parameters& parameters) {
  Problems problems = map_problems({.key = "parameters", .bytes = model::kMaxValueBytes}, parameters);
  if (const std::size_t sum = bytes_of(parameters); sum > kMaxWorkBytes) {
    problems.push_back(
        fmt::format("parameters: {} bytes in all, at most {} are allowed", sum, kMaxWorkBytes));
  }
  return as_result(problems);
}

Result<void> validate_request_key(std::string_view key) {
  if (key.size() > kMaxRequestKeyBytes || !is_printable(key)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("request_key: {} must be at most {} bytes of printable text",
                            quoted_text(key), kMaxRequestKeyBytes));
  }
  if (!key.empty() && (key.front() == ' ' || key.back() == ' ')) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("request_key: {} begins or ends with a space; remove it", quoted_text(key)));
  }
  return {};
}

}  // namespace rota::wire
