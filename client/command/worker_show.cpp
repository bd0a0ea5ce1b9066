// One worker with everything that is known: its present lives, what runs there, and its latest lives.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/node_json.h"
#include "client/command/show_json.h"
#include "client/command/worker_text.h"

namespace rota::client {
namespace {

constexpr std::int32_t kLivesShown = 5;
constexpr std::int32_t kRunsShown = 100;

/// Everything that the cluster knows about one worker id.
struct WorkerKnown {
  std::vector<thrift::WorkerInfo> here;
  std::vector<thrift::WorkerLife> lives;
  std::vector<thrift::RunInfo> running;
  std::map<std::int64_t, thrift::RunUsage> usage;  ///< by run
};

Result<WorkerKnown> look_up(Desk& desk, const std::string& id) {
  WorkerKnown known;
  auto workers = desk.cluster.list_workers();
  if (!workers) return fail(workers.error());
  for (thrift::WorkerInfo& worker : *workers) {
    if (worker.key.id == id) known.here.push_back(std::move(worker));
  }
  auto lives = desk.cluster.list_lives(id, kLivesShown);
  if (!lives) return fail(lives.error());
  known.lives = std::move(*lives);
  if (known.here.empty() && known.lives.empty()) {
    return fail(ErrorCode::NotFound,
                fmt::format("no worker '{}' has ever been here; see `rota worker list`", printable(id)));
  }
  thrift::RunFilter filter;
  filter.space = desk.space;
  filter.states = {"dispatched", "running"};
  filter.limit = kRunsShown;
  filter.__set_worker(id);
  auto running = desk.cluster.list_runs(filter);
  if (!running) return fail(running.error());
  known.running = std::move(*running);
  // A master of before does not tell: the rest is shown all the same.
  if (const auto usage = desk.cluster.worker_usage(id)) {
    for (const thrift::RunUsage& each : *usage) known.usage[each.run] = each;
  }
  return known;
}

std::string labels_text(const std::map<std::string, std::string>& labels) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : labels) pairs.push_back(name + "=" + value);
  if (pairs.empty()) return "-";
  return fmt::format("{} (for people: jobs cannot choose workers by them yet)", fmt::join(pairs, ", "));
}

std::string clock_text(std::int64_t offset_ms) {
  if (offset_ms > -10 && offset_ms < 10) return "as the leader's";
  return fmt::format("{} ms {}", offset_ms < 0 ? -offset_ms : offset_ms, offset_ms < 0 ? "behind" : "ahead");
}

std::string facts_text(const thrift::WorkerInfo& worker) {
  Table table({"WORKER", worker.key.id});
  table.add({"state", worker.state});
  if (const std::string why = remarks_on(worker); !why.empty()) table.add({"why", why});
  table.add({"life", worker.key.incarnation});
  table.add({"here since", show_time(worker.started_ms)});
  if (worker.__isset.left_ms) table.add({"gone since", show_time(worker.left_ms)});
  table.add({"address", address_of(worker)});
  table.add({"version", worker.version});
  table.add({"pool", worker.pool});
  table.add({"labels", labels_text(worker.labels)});
  table.add({"slots", fmt::format("{}, {} in use", worker.slots, used_slots_of(worker))});
  if (const std::string offers = offers_of(worker); !offers.empty()) table.add({"offers", offers});
  if (worker.__isset.weight) table.add({"weight", std::to_string(worker.weight)});
  if (worker.__isset.rank) table.add({"rank", std::to_string(worker.rank)});
  table.add({"runs given", fmt::format("{} since this leader took office", worker.dispatched_total)});
  if (const std::string share = share_of(worker); share != "-") {
    table.add({"share", share + " last runs of its pool"});
  }
  if (worker.__isset.today) {
    const std::string since = show_time(worker.today.since_ms);
    table.add({"today", fmt::format("{} (since {})", today_of(worker, false), since)});
  }
  if (worker.__isset.heartbeat_age_ms) table.add({"heartbeat", heartbeat_of(worker) + " ago"});
  table.add({"kills by", worker.kill_means});
  table.add({"kernel limits", kernel_limits_of(worker)});
  if (!worker.__isset.vitals) return table.text();
  const thrift::WorkerVitals& vitals = worker.vitals;
  table.add({"load", fmt::format("{} %", vitals.load_percent)});
  table.add({"cpu", fmt::format("{} %", vitals.cpu_percent)});
  table.add({"memory", fmt::format("{} %", vitals.memory_percent)});
  table.add({"disk free", fmt::format("{} MiB", vitals.disk_free_bytes >> 20)});
  table.add({"threads", std::to_string(vitals.threads)});
  if (worker.__isset.clock_offset_ms) table.add({"clock", clock_text(worker.clock_offset_ms)});
  table.add({"health", vitals.health});
  if (vitals.__isset.doubt) table.add({"in doubt", vitals.doubt});
  table.add({"figures of", fmt::format("{} ({} old)", show_time(vitals.sampled_ms), figures_age_of(worker))});
  return table.text();
}

/// Of that attempt: CPU in the last seconds and so far, memory, and how old that is.
std::vector<std::string> usage_of(const WorkerKnown& known, const thrift::RunInfo& run) {
  const auto found = known.usage.find(run.id);
  if (found == known.usage.end() || found->second.attempt != run.attempt) return {"-", "-", "-", "-"};
  const thrift::Usage& usage = found->second.usage;
  return {usage.__isset.cpu_percent ? fmt::format("{} %", usage.cpu_percent) : "-",
          fmt::format("{:.1f} s", static_cast<double>(usage.cpu_us) / 1e6),
          fmt::format("{} KiB", usage.memory_bytes / 1024), seconds_text(usage.age_ms)};
}

std::string running_text(const WorkerKnown& known) {
  if (known.running.empty()) return "";
  Table table({"RUN", "JOB", "STATE", "STARTED", "TRY", "CPU NOW", "CPU SO FAR", "MEMORY", "AGE"});
  for (const thrift::RunInfo& run : known.running) {
    std::vector<std::string> row = {std::to_string(run.id), run.job_name, run.state,
                                    show_time(run.__isset.started_ms ? run.started_ms : 0),
                                    std::to_string(run.attempt)};
    for (std::string& text : usage_of(known, run)) row.push_back(std::move(text));
    table.add(row);
  }
  return "\n" + table.text();
}

nlohmann::json data_of(const std::string& id, const WorkerKnown& known) {
  nlohmann::json out = {{"id", id}};
  out["here"] = out["lives"] = out["running"] = nlohmann::json::array();
  for (const auto& worker : known.here) out["here"].push_back(to_json(worker));
  for (const auto& life : known.lives) out["lives"].push_back(to_json(life));
  for (const auto& run : known.running) {
    nlohmann::json row = to_json(run);
    const auto usage = known.usage.find(run.id);
    const bool is_known = usage != known.usage.end() && usage->second.attempt == run.attempt;
    row["usage"] = is_known ? to_json(usage->second.usage) : nlohmann::json(nullptr);
    out["running"].push_back(std::move(row));
  }
  return out;
}

}  // namespace

int worker_show(Desk& desk, const std::string& id) {
  const auto known = look_up(desk, id);
  if (!known) return complain(known.error());
  if (desk.prints_data()) {
    print_data(desk.format, data_of(id, *known));
    return kOk;
  }
  if (known->here.empty()) print_text(fmt::format("{} is not here\n", printable(id)));
  for (const thrift::WorkerInfo& worker : known->here) print_text(facts_text(worker) + "\n");
  print_text(lives_table(known->lives) + running_text(*known));
  return kOk;
}

}  // namespace rota::client
