// Limits of pools and namespaces: set, and what is used of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "common/base/utf8.h"
#include "common/model/quota.h"
#include "common/model/scaling.h"
#include "common/wire/text_rules.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"

namespace rota::master::api {
namespace {

using model::QuotaOf;

constexpr std::int32_t kMostQuotaRows = 10'000;

Result<QuotaOf> side_of(const std::string& side) {
  if (side == model::name_of(QuotaOf::Pool)) return QuotaOf::Pool;
  if (side == model::name_of(QuotaOf::Space)) return QuotaOf::Space;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("side: {} is neither \"pool\" nor \"namespace\"", quoted_text(side)));
}

Result<void> check_range(const char* key, const std::optional<std::int64_t>& value, std::int64_t least,
                         std::int64_t most) {
  if (!value || (*value >= least && *value <= most)) return {};
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{}: {} is out of range, allowed are {} to {}", key, *value,
                          least < 0 ? "-1 (none), 0" : std::to_string(least), most));
}

Result<void> check_hook(const std::optional<std::string>& hook) {
  const bool is_fine =
      !hook || hook->empty() || (wire::is_word(*hook) && hook->size() <= model::kMaxHookName);
  if (is_fine) return {};
  return fail(ErrorCode::InvalidArgument,
              fmt::format("hook: {} must be 1 to {} letters, digits, '_', '-' or '.'; empty: none",
                          quoted_text(*hook), model::kMaxHookName));
}

std::optional<std::int64_t> set_value(bool is_set, std::int64_t value) {
  return is_set ? std::optional(value) : std::nullopt;
}

std::optional<Millis> set_time(bool is_set, std::int64_t value) {
  return is_set ? std::optional(Millis{value}) : std::nullopt;
}

Result<void> check_times(const core::SetQuota& event) {
  const std::tuple<const char*, const std::optional<Millis>&> times[] = {
      {"timeout", event.timeout}, {"run_timeout", event.run_timeout}, {"queue_timeout", event.queue_timeout}};
  for (const auto& [key, value] : times) {
    const bool is_fine = !value || (value->count() >= 0 && value->count() <= model::kMaxDefaultTimeMs);
    if (is_fine) continue;
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{}: {} ms is out of range, allowed are 0 (none) to 365d", key, value->count()));
  }
  return {};
}

Result<core::SetQuota> accept_limits(const thrift::LimitsEdit& edit, const std::string& principal) {
  const auto of = side_of(edit.side);
  if (!of) return fail(of.error());
  if (!wire::is_word(edit.name) || edit.name.size() > model::kMaxQuotaName) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("name: {} must be 1 to {} letters, digits, '_', '-' or '.'",
                            quoted_text(edit.name), model::kMaxQuotaName));
  }
  core::SetQuota event;
  event.principal = principal;
  event.of = *of;
  event.name = edit.name;
  event.slots = set_value(edit.__isset.slots, edit.slots);
  event.weight = set_value(edit.__isset.weight, edit.weight);
  event.jobs = set_value(edit.__isset.jobs, edit.jobs);
  event.unfinished = set_value(edit.__isset.unfinished, edit.unfinished);
  event.firings = set_value(edit.__isset.firings, edit.firings);
  event.timeout = set_time(edit.__isset.timeout_ms, edit.timeout_ms);
  event.run_timeout = set_time(edit.__isset.run_timeout_ms, edit.run_timeout_ms);
  event.queue_timeout = set_time(edit.__isset.queue_timeout_ms, edit.queue_timeout_ms);
  event.min_workers = set_value(edit.__isset.min_workers, edit.min_workers);
  event.max_workers = set_value(edit.__isset.max_workers, edit.max_workers);
  if (edit.__isset.hook) event.hook = edit.hook;
  if (edit.__isset.expected_version) event.expected_version = edit.expected_version;
  const bool is_pool = *of == QuotaOf::Pool;
  const bool has_times = event.timeout || event.run_timeout || event.queue_timeout;
  if (is_pool && (event.weight || event.jobs || event.unfinished || event.firings || has_times)) {
    return fail(ErrorCode::InvalidArgument, "a pool has no other limit than slots; namespaces have");
  }
  if (!is_pool && (event.min_workers || event.max_workers || event.hook)) {
    return fail(ErrorCode::InvalidArgument, "a namespace has no workers and no hook; pools have");
  }
  const std::tuple<const char*, const std::optional<std::int64_t>&> limits[] = {
      {"slots", event.slots},
      {"jobs", event.jobs},
      {"unfinished", event.unfinished},
      {"firings", event.firings}};
  auto fine = check_range("weight", event.weight, 1, model::kMaxWeight);
  for (const auto& [key, value] : limits) {
    if (fine) fine = check_range(key, value, model::kNoLimit, model::kMaxLimit);
  }
  if (fine) fine = check_range("min_workers", event.min_workers, model::kNoLimit, model::kMaxPoolWorkers);
  if (fine) fine = check_range("max_workers", event.max_workers, model::kNoLimit, model::kMaxPoolWorkers);
  if (fine) fine = check_hook(event.hook);
  if (fine) fine = check_times(event);
  if (!fine) return fail(fine.error());
  return event;
}

using Infos = std::map<std::string, thrift::LimitsInfo>;

thrift::LimitsInfo& info_of(Infos& infos, QuotaOf of, const std::string& name) {
  thrift::LimitsInfo& info = infos[name];
  info.__set_side(std::string(model::name_of(of)));
  info.__set_name(name);
  return info;
}

void add_row(Infos& infos, const model::QuotaRow& row) {
  thrift::LimitsInfo& info = info_of(infos, row.of, row.name);
  info.__set_version(row.version);
  info.__set_changed_ms(to_ms(row.changed));
  info.__set_changed_by(row.principal);
  info.__set_slots(row.quota.slots);
  info.__set_weight(row.quota.weight);
  info.__set_jobs(row.quota.jobs);
  info.__set_unfinished(row.quota.unfinished);
  info.__set_firings(row.quota.firings);
  info.__set_timeout_ms(row.quota.timeout.count());
  info.__set_run_timeout_ms(row.quota.run_timeout.count());
  info.__set_queue_timeout_ms(row.quota.queue_timeout.count());
  info.__set_min_workers(row.quota.min_workers);
  info.__set_max_workers(row.quota.max_workers);
  info.__set_hook(row.quota.hook);
}

/// What the leader knows of it.
void add_view(Infos& infos, QuotaOf of, const core::QuotaView& view) {
  thrift::LimitsInfo& info = info_of(infos, of, view.name);
  info.__set_running(view.held);
  info.__set_waiting(view.queued);
  info.__set_jobs_now(view.jobs);
  info.__set_unfinished_now(view.unfinished);
  info.__set_firings_now(view.firings);
}

void add_workers(Infos& infos, const std::vector<core::WorkerView>& workers) {
  for (const core::WorkerView& worker : workers) {
    if (worker.state == "offline") continue;
    thrift::LimitsInfo& info = info_of(infos, QuotaOf::Pool, worker.info->pool);
    ++info.workers;
    info.worker_slots += worker.info->slots;
  }
}

void add_wanted(Infos& infos, const std::vector<core::ScaleView>& pools) {
  for (const core::ScaleView& view : pools) {
    thrift::LimitsInfo& info = info_of(infos, QuotaOf::Pool, view.pool);
    info.__set_wanted_workers(view.wanted);
    info.__set_wanted_reason(std::string(name_of(view.reason)));
  }
}

}  // namespace

void JobServiceHandler::set_limits(const Caller& caller, thrift::LimitsEdited& out, const Head& head,
                                   const thrift::LimitsEdit& edit) {
  const MonoTime deadline = deadline_of(head);
  if (desk_.leads()) {
    auto event = value_or_throw(accept_limits(edit, caller.principal));
    const auto reply = value_or_throw(desk_.ask(std::move(event), deadline));
    const auto* applied = std::get_if<core::QuotaApplied>(&reply);
    if (applied == nullptr) throw rpc::to_wire(unexpected_reply());
    out.__set_version(applied->version);
    out.__set_what(applied->changed ? "changed" : "unchanged");
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::LimitsEdited answer;
    client.set_limits(answer, onward, edit);
    return answer;
  }));
}

void JobServiceHandler::list_limits(const Caller& caller, std::vector<thrift::LimitsInfo>& out,
                                    const Head& head, const std::string& side, const std::string& prefix) {
  const auto snapshot = parts_.leader.snapshot();
  if (!snapshot) {
    out = value_or_throw(pass_on(caller, head, deadline_of(head), [&](auto& client, const Head& onward) {
      std::vector<thrift::LimitsInfo> answer;
      client.list_limits(answer, onward, side, prefix);
      return answer;
    }));
    return;
  }
  const QuotaOf of = value_or_throw(side_of(side));
  Infos infos;
  for (const auto& row : value_or_throw(parts_.reader.list_quotas(of, kMostQuotaRows))) add_row(infos, row);
  const auto& views = of == QuotaOf::Pool ? snapshot->pools : snapshot->namespaces;
  for (const core::QuotaView& view : views) add_view(infos, of, view);
  if (of == QuotaOf::Pool) add_workers(infos, snapshot->workers);
  if (of == QuotaOf::Pool) add_wanted(infos, snapshot->scaling);
  for (auto& [name, info] : infos) {
    if (name.starts_with(prefix)) out.push_back(std::move(info));
  }
}

}  // namespace rota::master::api
