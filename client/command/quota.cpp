// `rota pool` and `rota namespace`: their limits, and what is used of them.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <tuple>

#include "client/command/commands.h"
#include "client/command/listing.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

constexpr std::int64_t kUnlimited = -1;

nlohmann::json unless(bool is_none, std::int64_t value) {
  return is_none ? nlohmann::json(nullptr) : nlohmann::json(value);
}

nlohmann::json limit_json(std::int64_t limit) { return unless(limit == kUnlimited, limit); }

nlohmann::json pool_json(const thrift::LimitsInfo& info) {
  return {{"pool", info.name},
          {"limit", limit_json(info.slots)},
          {"running", info.running},
          {"waiting", info.waiting},
          {"workers", info.workers},
          {"slots", info.worker_slots},
          {"wanted_workers", unless(info.wanted_workers < 0, info.wanted_workers)},
          {"wanted_reason", info.wanted_reason},
          {"min_workers", limit_json(info.min_workers)},
          {"max_workers", limit_json(info.max_workers)},
          {"hook", info.hook.empty() ? nlohmann::json(nullptr) : nlohmann::json(info.hook)},
          {"version", info.version},
          {"changed_at_ms", info.changed_ms},
          {"changed_by", info.changed_by}};
}

nlohmann::json namespace_json(const thrift::LimitsInfo& info) {
  return {{"namespace", info.name},
          {"weight", info.weight},
          {"running", info.running},
          {"max_slots", limit_json(info.slots)},
          {"waiting", info.waiting},
          {"jobs", info.jobs_now},
          {"max_jobs", limit_json(info.jobs)},
          {"unfinished", info.unfinished_now},
          {"max_unfinished", limit_json(info.unfinished)},
          {"firings_in_this_minute", unless(info.firings == kUnlimited, info.firings_now)},
          {"max_firings_per_minute", limit_json(info.firings)},
          {"timeout_ms", unless(info.timeout_ms == 0, info.timeout_ms)},
          {"run_timeout_ms", unless(info.run_timeout_ms == 0, info.run_timeout_ms)},
          {"queue_timeout_ms", unless(info.queue_timeout_ms == 0, info.queue_timeout_ms)},
          {"version", info.version},
          {"changed_at_ms", info.changed_ms},
          {"changed_by", info.changed_by}};
}

/// "attempt 2h, queue 10m": what jobs of the namespace go by that do not say it.
std::string times_of(const thrift::LimitsInfo& info) {
  std::string out;
  const std::pair<const char*, std::int64_t> all[] = {
      {"attempt", info.timeout_ms}, {"run", info.run_timeout_ms}, {"queue", info.queue_timeout_ms}};
  for (const auto& [key, ms] : all) {
    if (ms > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", key, format_duration(Millis{ms}));
  }
  return out.empty() ? "-" : out;
}

std::string use_of(std::int64_t used, std::int64_t limit) {
  return limit == kUnlimited ? std::to_string(used) : fmt::format("{} of {}", used, limit);
}

std::string firings_of(const thrift::LimitsInfo& info) {
  return info.firings == kUnlimited ? "-" : use_of(info.firings_now, info.firings);
}

std::string wanted_of(const thrift::LimitsInfo& info) {
  return info.wanted_workers < 0 ? "-" : std::to_string(info.wanted_workers);
}

std::string change_of(const thrift::LimitsInfo& info) {
  if (info.version == 0) return "-";
  return fmt::format("{} by {}", show_time(info.changed_ms), printable(info.changed_by));
}

bool is_pool(const QuotaArguments& arguments) { return arguments.side == "pool"; }

nlohmann::json info_json(const thrift::LimitsInfo& info, bool of_pool) {
  return of_pool ? pool_json(info) : namespace_json(info);
}

std::vector<Column> columns_of(bool of_pool) {
  if (of_pool) {
    return {"POOL", "RUNNING", "WAITING", "WORKERS", "SLOTS", "WANTED", "REASON", wide("HOOK"), "CHANGED"};
  }
  return {"NAMESPACE",  "WEIGHT",           "SLOTS",    "WAITING", "JOBS",
          "UNFINISHED", "FIRINGS A MINUTE", "TIMEOUTS", "CHANGED"};
}

std::vector<std::string> cells_of(const thrift::LimitsInfo& info, bool of_pool) {
  if (of_pool) {
    return {info.name, use_of(info.running, info.slots), std::to_string(info.waiting),
            std::to_string(info.workers), std::to_string(info.worker_slots), wanted_of(info),
            info.wanted_reason.empty() ? "-" : info.wanted_reason, info.hook.empty() ? "-" : info.hook,
            change_of(info)};
  }
  return {info.name, std::to_string(info.weight), use_of(info.running, info.slots),
          std::to_string(info.waiting), use_of(info.jobs_now, info.jobs),
          use_of(info.unfinished_now, info.unfinished), firings_of(info), times_of(info), change_of(info)};
}

/// A number, or "none".
Result<std::int64_t> limit_from(const char* option, const std::string& text) {
  if (text == "none") return kUnlimited;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= 0) return value;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("--{}: '{}' is neither a number from 0 on nor none", option, printable(text)));
}

/// A duration, or "none".
Result<std::int64_t> time_from(const char* option, const std::string& text) {
  if (text == "none") return 0;
  const auto time = parse_duration(text);
  if (time) return time->count();
  return fail(ErrorCode::InvalidArgument,
              fmt::format("--{}: {}, or none", option, time.error().message));
}

Result<void> add_times(thrift::LimitsEdit& edit, const QuotaArguments& arguments) {
  using Set = void (thrift::LimitsEdit::*)(std::int64_t);
  const std::tuple<const char*, const std::string&, Set> all[] = {
      {"timeout", arguments.timeout, &thrift::LimitsEdit::__set_timeout_ms},
      {"run-timeout", arguments.run_timeout, &thrift::LimitsEdit::__set_run_timeout_ms},
      {"queue-timeout", arguments.queue_timeout, &thrift::LimitsEdit::__set_queue_timeout_ms}};
  for (const auto& [option, text, set] : all) {
    if (text.empty()) continue;
    const auto time = time_from(option, text);
    if (!time) return fail(time.error());
    (edit.*set)(*time);
  }
  return {};
}

Result<thrift::LimitsEdit> edit_of(const QuotaArguments& arguments) {
  thrift::LimitsEdit edit;
  edit.__set_side(arguments.side);
  edit.__set_name(arguments.name);
  using Set = void (thrift::LimitsEdit::*)(std::int64_t);
  struct Given {
    const char* option;
    const std::string& text;
    Set set;
  };
  const Given all[] = {
      {"min-workers", arguments.min_workers, &thrift::LimitsEdit::__set_min_workers},
      {"max-workers", arguments.max_workers, &thrift::LimitsEdit::__set_max_workers},
      {is_pool(arguments) ? "limit" : "max-slots", arguments.slots, &thrift::LimitsEdit::__set_slots},
      {"max-jobs", arguments.jobs, &thrift::LimitsEdit::__set_jobs},
      {"max-unfinished", arguments.unfinished, &thrift::LimitsEdit::__set_unfinished},
      {"max-firings-per-minute", arguments.firings, &thrift::LimitsEdit::__set_firings}};
  for (const Given& one : all) {
    if (one.text.empty()) continue;
    const auto limit = limit_from(one.option, one.text);
    if (!limit) return fail(limit.error());
    (edit.*one.set)(*limit);
  }
  if (auto added = add_times(edit, arguments); !added) return fail(added.error());
  if (arguments.weight > 0) edit.__set_weight(arguments.weight);
  if (!arguments.hook.empty()) edit.__set_hook(arguments.hook == "none" ? "" : arguments.hook);
  if (arguments.clear) edit.__set_slots(kUnlimited);
  const auto& given = edit.__isset;
  if (given.slots || given.jobs || given.unfinished || given.firings || given.weight) return edit;
  if (given.min_workers || given.max_workers || given.hook) return edit;
  if (given.timeout_ms || given.run_timeout_ms || given.queue_timeout_ms) return edit;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("nothing to set; see rota {} set --help", arguments.side));
}

Result<std::vector<thrift::LimitsInfo>> infos_of(Desk& desk, const QuotaArguments& arguments, bool is_exact) {
  auto all = desk.cluster.list_limits(arguments.side, arguments.name);
  if (!all || !is_exact) return all;
  std::erase_if(*all, [&](const auto& info) { return info.name != arguments.name; });
  if (!all->empty()) return all;
  const char* const what_else = is_pool(arguments) ? "workers" : "jobs";
  return fail(ErrorCode::NotFound, fmt::format("{} {} has no limits, runs or {}", arguments.side,
                                               printable(arguments.name), what_else));
}

}  // namespace

int quota_set(Desk& desk, const QuotaArguments& arguments) {
  const auto edit = edit_of(arguments);
  if (!edit) return complain(edit.error());
  const auto edited = desk.cluster.set_limits(*edit);
  if (!edited) return complain(edited.error());
  if (desk.prints_data()) {
    print_data(desk.format,
               {{arguments.side, arguments.name}, {"version", edited->version}, {"what", edited->what}});
    return kOk;
  }
  print_text(fmt::format("limits of {} {} {} (version {})\n", arguments.side, printable(arguments.name),
                         edited->what, edited->version));
  return kOk;
}

int quota_list(Desk& desk, const QuotaArguments& arguments) {
  const auto all = infos_of(desk, arguments, false);
  if (!all) return complain(all.error());
  Listing list(desk, columns_of(is_pool(arguments)));
  for (const auto& info : *all) {
    list.add([&] { return info_json(info, is_pool(arguments)); }, cells_of(info, is_pool(arguments)));
  }
  return list.finish();
}

int quota_show(Desk& desk, const QuotaArguments& arguments) {
  const auto all = infos_of(desk, arguments, true);
  if (!all) return complain(all.error());
  if (desk.prints_data()) {
    print_data(desk.format, info_json(all->front(), is_pool(arguments)));
    return kOk;
  }
  std::vector<std::string> headers;
  for (const Column& column : columns_of(is_pool(arguments))) headers.push_back(column.header);
  Table table(std::move(headers));
  table.add(cells_of(all->front(), is_pool(arguments)));
  print_text(table.text());
  return kOk;
}

}  // namespace rota::client
