#include "common/wire/definition_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "common/model/http_call.h"
#include "common/wire/text_rules.h"

namespace rota::wire {
namespace {

using std::chrono::hours;
using Texts = std::map<std::string, std::string>;

constexpr std::size_t kMaxPlainBytes = 4096;
constexpr std::size_t kMaxValueBytes = 64u << 10;
constexpr std::size_t kMaxArguments = 1024;
constexpr std::size_t kMaxCronBytes = 1024;
constexpr Millis kDay = hours{24};

/// Gathers problems: each check adds one sentence or nothing.
class Findings {
 public:
  void add(std::string problem) { problems_.push_back(std::move(problem)); }

  void range(std::string_view place, std::int64_t value, std::int64_t low, std::int64_t high,
             std::string_view unit) {
    if (value < low || value > high) {
      add(fmt::format("{}: {} is out of range, allowed are {} to {}{}{}", place, value, low, high,
                      unit.empty() ? "" : " ", unit));
    }
  }

  void duration(std::string_view place, Millis value, Millis low, Millis high) {
    range(place, value.count(), low.count(), high.count(), "ms");
  }

  void plain(std::string_view place, const std::string& text, std::size_t longest) {
    if (text.size() > longest) {
      add(fmt::format("{}: {} bytes, at most {} are allowed", place, text.size(), longest));
    } else if (!is_utf8(text) || text.find('\0') != std::string::npos) {
      add(fmt::format("{}: {} is not valid UTF-8 text; encode it", place, quoted(text)));
    }
  }

  void word(std::string_view place, const std::string& text, std::size_t longest) {
    if (!is_word(text) || text.size() > longest) {
      add(fmt::format("{}: {} must be 1 to {} letters, digits, '_', '-' or '.'", place,
                      quoted(text), longest));
    }
  }

  std::vector<std::string> take() { return std::move(problems_); }

 private:
  std::vector<std::string> problems_;
};

void check_name(const std::string& name, Findings& findings) {
  if (name.empty()) {
    findings.add("name: it is missing; give the job a name");
  } else if (name.size() > kMaxNameBytes) {
    findings.add(fmt::format("name: {} is {} bytes long, at most {} are allowed", quoted(name),
                             name.size(), kMaxNameBytes));
  } else if (!is_printable(name)) {
    findings.add(fmt::format("name: {} holds a control character or is not UTF-8; use printable text",
                             quoted(name)));
  } else if (name.front() == ' ' || name.back() == ' ') {
    findings.add(fmt::format("name: {} begins or ends with a space; remove it", quoted(name)));
  }
}

std::size_t check_texts(std::string_view place, const Texts& texts, std::size_t longest_value,
                        Findings& findings) {
  std::size_t sum = 0;
  if (texts.size() > kMaxEntries) {
    findings.add(fmt::format("{}: {} entries, at most {} are allowed", place, texts.size(),
                             kMaxEntries));
  }
  for (const auto& [key, value] : texts) {
    sum += key.size() + value.size();
    if (key.empty() || key.size() > kMaxNameBytes || !is_printable(key)) {
      findings.add(fmt::format("{}: the name {} must be 1 to {} bytes of printable text", place,
                               quoted(key), kMaxNameBytes));
    } else {
      findings.plain(fmt::format("{}.{}", place, key), value, longest_value);
    }
  }
  return sum;
}

void check_environment_names(const Texts& environment, Findings& findings) {
  for (const auto& [key, value] : environment) {
    if (key.find('=') != std::string::npos) {
      findings.add(fmt::format("environment: the name {} holds '='; write NAME: value",
                               quoted(key)));
    }
  }
}

void check_command(const model::JobWork& work, Findings& findings) {
  if (work.argv.empty() && work.script.empty()) {
    findings.add("command: there is nothing to run; give a command or a script");
  }
  if (!work.argv.empty() && !work.script.empty()) {
    findings.add("command: both a command and a script are given; keep one");
  }
  if (!work.argv.empty() && work.argv.front().empty()) {
    findings.add("command: the program's name is empty");
  }
  if (!work.script.empty() && work.interpreter.empty()) {
    findings.add("interpreter: it is empty; leave it out for /bin/sh");
  }
}

/// 0, which means "no limit", or a value in the range.
void check_limit(std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high,
                 std::string_view unit, Findings& findings) {
  if (value != 0) findings.range(fmt::format("limits.{}", name), value, low, high, unit);
}

void check_isolation(const model::JobWork& work, Findings& findings) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  const model::JobLimits& limits = work.limits;
  check_limit("memory", limits.memory_bytes, 1 << 20, kMost, "bytes", findings);
  check_limit("address_space", limits.address_space_bytes, 16 << 20, kMost, "bytes", findings);
  check_limit("processes", limits.processes, 1, 1'000'000, "", findings);
  check_limit("open_files", limits.open_files, 4, 1'000'000, "", findings);
  check_limit("cpu", limits.cpu.count(), 1000, (365 * kDay).count(), "ms", findings);
  check_limit("file_size", limits.file_size_bytes, 1, kMost, "bytes", findings);
  check_limit("folder", limits.folder_bytes, 4096, kMost, "bytes", findings);
  check_limit("core", limits.core_bytes, 1, kMost, "bytes", findings);
  check_limit("cpus", limits.milli_cpus, 10, 1'000'000, "thousandths of a core", findings);
  findings.range("nice", work.nice, -20, 19, "");
  findings.range("umask", work.umask, 0, 0777, "");
  if (!work.run_as.empty()) findings.word("run_as", work.run_as, 64);
  if (work.handler == "command" && work.isolation != model::Isolation::Worker) {
    findings.add("isolation: it is for handlers; a command has a process of its own in any case");
  }
}

/// A handler inside of the worker is a thread of the worker's: what only a process can have would be
/// left out without a word, and its run would be the worker's user's.
void check_without_process(const model::JobWork& work, Findings& findings) {
  if (model::has_own_process(work)) return;
  const model::JobWork plain;
  const std::pair<const char*, bool> asked[] = {
      {"limits", work.limits != plain.limits}, {"run_as", work.run_as != plain.run_as},
      {"nice", work.nice != plain.nice},       {"umask", work.umask != plain.umask},
      {"folder", work.folder != plain.folder}, {"keep_folder", work.keep_folder != plain.keep_folder},
      {"environment", !work.environment.empty()}};
  for (const auto& [name, is_asked] : asked) {
    if (!is_asked) continue;
    findings.add(fmt::format("{}: it is for processes; a handler runs inside of the worker, unless it "
                             "says isolation: process", name));
  }
}

void check_work(const model::JobWork& work, Findings& findings) {
  findings.word("handler", work.handler, kMaxNameBytes);
  if (work.handler == "command") check_command(work, findings);
  if (work.handler == "http") {
    if (const auto call = model::http_call_of(work.parameters); !call) findings.add(call.error().message);
  }
  std::size_t sum = work.script.size();
  for (const std::string& argument : work.argv) sum += argument.size() + 1;
  sum += check_texts("environment", work.environment, kMaxValueBytes, findings);
  sum += check_texts("parameters", work.parameters, kMaxValueBytes, findings);
  if (sum > kMaxWorkBytes) {
    findings.add(fmt::format("command: {} bytes with script, environment and parameters, at most {} "
                             "are allowed; put the data into a file", sum, kMaxWorkBytes));
    return;
  }
  check_environment_names(work.environment, findings);
  if (work.argv.size() > kMaxArguments) {
    findings.add(fmt::format("command: {} arguments, at most {} are allowed", work.argv.size(),
                             kMaxArguments));
  }
  for (std::size_t i = 0; i < work.argv.size() && i < kMaxArguments; ++i) {
    findings.plain(fmt::format("command[{}]", i), work.argv[i], kMaxWorkBytes);
  }
  findings.plain("script", work.script, kMaxWorkBytes);
  findings.plain("interpreter", work.interpreter, kMaxPlainBytes);
  findings.plain("folder", work.folder, kMaxPlainBytes);
  if (!work.folder.empty() && work.folder.front() != '/') {
    findings.add(fmt::format("folder: {} is not absolute; begin it with '/'", quoted(work.folder)));
  }
  check_isolation(work, findings);
  check_without_process(work, findings);
  findings.range("output_cap_bytes", work.output_cap_bytes, 1024, std::int64_t{16} << 30, "bytes");
}

void check_retry(const model::RetryRule& retry, Findings& findings) {
  findings.range("retry.count", retry.count, 0, 1000, "");
  findings.duration("retry.delay", retry.delay, Millis{0}, 7 * kDay);
  findings.duration("retry.max_delay", retry.max_delay, Millis{0}, 30 * kDay);
  if (!std::isfinite(retry.factor) || retry.factor < 1.0 || retry.factor > 100.0) {
    findings.add(fmt::format("retry.factor: {} is out of range, allowed are 1 to 100",
                             retry.factor));
  }
}

/// Whatever the kind: what a kind does not use is stored all the same.
void check_schedule(const model::Schedule& schedule, Findings& findings) {
  findings.plain("schedule.cron", schedule.cron, kMaxCronBytes);
  findings.plain("schedule.time_zone", schedule.time_zone, kMaxNameBytes);
  findings.duration("schedule.interval", schedule.interval, Millis{0}, 3660 * kDay);
}

void check_rules(const model::JobRules& rules, Findings& findings) {
  check_schedule(rules.schedule, findings);
  findings.word("pool", rules.pool, 64);
  if (rules.route == model::RouteKind::Named) {
    findings.word("worker", rules.worker, 64);
  } else if (!rules.worker.empty()) {
    findings.add("worker: it is given, but route is not \"named\"; set route or remove it");
  }
  findings.range("queue_limit", rules.queue_limit, 1, 10'000, "");
  findings.duration("tick_grace", rules.tick_grace, Millis{0}, 7 * kDay);
  findings.duration("timeout", rules.timeout, Millis{0}, 365 * kDay);
  findings.duration("kill_grace", rules.kill_grace, Millis{0}, hours{1});
  findings.duration("disconnect_grace", rules.disconnect_grace, Millis{0}, 7 * kDay);
  const auto check_keep = [&](const char* name, Millis keep) {
    if (keep == model::kKeepForEver || keep == Millis{0}) return;
    findings.duration(name, keep, Millis{60'000}, 3660 * kDay);
  };
  findings.range("loss.most", rules.loss_most, 1, 1000, "");
  check_keep("keep_logs", rules.keep_logs);
  check_keep("keep_runs", rules.keep_runs);
  check_retry(rules.retry, findings);
}

Result<void> as_result(const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  return fail(ErrorCode::InvalidArgument, fmt::format("{}", fmt::join(problems, "; ")));
}

}  // namespace

std::vector<std::string> definition_problems(const model::JobDefinition& definition, bool saved) {
  Findings findings;
  findings.word("namespace", definition.space, 64);
  if (saved || !definition.name.empty()) check_name(definition.name, findings);
  findings.plain("description", definition.description, kMaxPlainBytes);
  findings.plain("owner", definition.owner, 200);
  check_texts("labels", definition.labels, 1024, findings);
  check_rules(definition.rules, findings);
  check_work(definition.work, findings);
  if (!model::has_own_process(definition.work) && definition.rules.disconnect_grace > Millis{0}) {
    findings.add("disconnect_grace: a handler inside of the worker ends when nobody vouches for the worker; "
                 "with isolation: process it may go on");
  }
  if (!saved && definition.rules.schedule.kind != model::ScheduleKind::None) {
    findings.add("schedule: a run that is submitted starts now; apply a job to have a schedule");
  }
  return findings.take();
}

Result<void> validate_definition(const model::JobDefinition& definition, bool saved) {
  return as_result(definition_problems(definition, saved));
}

Result<void> validate_parameters(const model::Parameters& parameters) {
  Findings findings;
  const std::size_t sum = check_texts("parameters", parameters, kMaxValueBytes, findings);
  if (sum > kMaxWorkBytes) {
    findings.add(fmt::format("parameters: {} bytes in all, at most {} are allowed", sum,
                             kMaxWorkBytes));
  }
  return as_result(findings.take());
}

Result<void> validate_request_key(std::string_view key) {
  if (key.size() > kMaxRequestKeyBytes || !is_printable(key)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("request_key: {} must be at most {} bytes of printable text",
                            quoted(key), kMaxRequestKeyBytes));
  }
  if (!key.empty() && (key.front() == ' ' || key.back() == ' ')) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("request_key: {} begins or ends with a space; remove it", quoted(key)));
  }
  return {};
}

}  // namespace rota::wire
