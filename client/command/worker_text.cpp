#include "client/command/worker_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/command/screen.h"
#include "common/base/size_text.h"
#include "job_types.h"

namespace rota::client {
namespace {

/// For a master that sends no remarks: "drained by ann: new disk; hands over at 2026-03-29 02:30:00Z"
std::string why_of(const thrift::WorkerInfo& worker) {
  if (!worker.__isset.drain) return worker.why;
  const thrift::WorkerDrain& drain = worker.drain;
  std::string text = "drained by " + drain.by;
  if (!drain.why.empty()) text += ": " + drain.why;
  if (drain.__isset.deadline_ms) text += "; hands over at " + show_time(drain.deadline_ms);
  return worker.why.empty() ? text : text + "; " + worker.why;
}

}  // namespace

std::string remarks_on(const thrift::WorkerInfo& worker) {
  if (worker.__isset.remarks) return worker.remarks;
  const std::string why = why_of(worker);
  const bool is_well = !worker.__isset.vitals || worker.vitals.health == "ok";
  if (is_well) return why;
  return why.empty() ? worker.vitals.health : why + "; " + worker.vitals.health;
}

std::string figures_age_of(const thrift::WorkerInfo& worker) {
  if (!worker.__isset.vitals || !worker.__isset.vitals_age_ms) return "-";
  return seconds_text(worker.vitals_age_ms);
}

std::string seconds_text(std::int64_t ms) { return fmt::format("{}s", ms / 1000); }

std::string heartbeat_of(const thrift::WorkerInfo& worker) {
  return worker.__isset.heartbeat_age_ms ? seconds_text(worker.heartbeat_age_ms) : "-";
}

std::string share_of(const thrift::WorkerInfo& worker) {
  if (!worker.__isset.share_of || worker.share_of == 0) return "-";
  return fmt::format("{} of {}", worker.share_given, worker.share_of);
}

std::string today_of(const thrift::WorkerInfo& worker, bool is_short) {
  if (!worker.__isset.today) return "-";
  const thrift::WorkerDay& day = worker.today;
  const char* const form = is_short ? "{}/{}/{}" : "{} scheduled, {} succeeded, {} failed";
  return fmt::format(fmt::runtime(form), day.scheduled, day.succeeded, day.failed);
}

std::int32_t used_slots_of(const thrift::WorkerInfo& worker) {
  return worker.__isset.used_slots ? worker.used_slots : worker.running;
}

std::string offers_of(const thrift::WorkerInfo& worker) {
  std::vector<std::string> parts;
  for (const auto& [name, amount] : worker.offers) {
    const auto used = worker.used.find(name);
    parts.push_back(fmt::format("{} {}, {} in use", name, format_size(amount),
                                format_size(used == worker.used.end() ? 0 : used->second)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string address_of(const thrift::WorkerInfo& worker) {
  return worker.port == 0 ? "-" : fmt::format("{}:{}", worker.host, worker.port);
}

std::string kernel_limits_of(const thrift::WorkerInfo& worker) {
  return worker.kernel_limits.empty() ? "-" : fmt::format("{}", fmt::join(worker.kernel_limits, ","));
}

std::vector<std::string> life_cells(const thrift::WorkerLife& life) {
  return {life.key.incarnation,      life.pool,
          fmt::format("{}:{}", life.host, life.port), show_time(life.joined_ms),
          show_time(life.__isset.left_ms ? life.left_ms : 0), life.why_left};
}

std::string lives_table(const std::vector<thrift::WorkerLife>& lives) {
  Table table({"LIFE", "POOL", "ADDRESS", "JOINED", "LEFT", "WHY"});
  for (const auto& life : lives) table.add(life_cells(life));
  return table.text();
}

}  // namespace rota::client
