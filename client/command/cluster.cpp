#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/calendar_words.h"
#include "client/command/commands.h"
#include "client/command/listing.h"
#include "client/command/show_json.h"
#include "client/command/worker_text.h"

namespace rota::client {
namespace {

/// Load, CPU, memory, free disk, threads.
std::vector<std::string> vitals_of(const thrift::WorkerInfo& worker) {
  if (!worker.__isset.vitals) return {"-", "-", "-", "-", "-"};
  const thrift::WorkerVitals& vitals = worker.vitals;
  return {fmt::format("{} %", vitals.load_percent), fmt::format("{} %", vitals.cpu_percent),
          fmt::format("{} %", vitals.memory_percent),
          fmt::format("{} MiB", vitals.disk_free_bytes >> 20), std::to_string(vitals.threads)};
}

std::vector<Column> worker_columns() {
  return {"WORKER", "STATE", "POOL", "SLOTS", "RUNNING", "LOAD", "CPU", "MEMORY", "DISK FREE", "THREADS",
          "AGE", "HEARTBEAT", "WEIGHT", "SHARE", "TODAY", "ADDRESS", "KILLS BY",
               "KERNEL LIMITS", "WHY", wide("LABELS"), wide("VERSION"), wide("LIFE"),
          wide("HERE SINCE")};
}

std::vector<std::string> cells_of(const thrift::WorkerInfo& worker) {
  std::vector<std::string> row = {worker.key.id, worker.state, worker.pool, std::to_string(worker.slots),
                                  std::to_string(worker.running)};
  for (std::string& text : vitals_of(worker)) row.push_back(std::move(text));
  row.insert(row.end(), {figures_age_of(worker), heartbeat_of(worker),
                           worker.__isset.weight ? std::to_string(worker.weight) : "-", share_of(worker),
                           today_of(worker, true), address_of(worker), worker.kill_means,
                         kernel_limits_of(worker), remarks_on(worker), pairs_text(worker.labels),
                         worker.version, worker.key.incarnation, show_time(worker.started_ms)});
  return row;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string slots_in_use(const thrift::WorkerInfo& worker) {
  // A new leader has not heard from all workers yet, and does not know their slots.
  if (worker.slots == 0) return std::to_string(worker.running);
  return fmt::format("{} of {}", used_slots_of(worker), worker.slots);
}

/// Fits a screen of 80 columns; `rota worker list` shows the rest.
std::string short_workers_table(const std::vector<thrift::WorkerInfo>& workers) {
  Table table({"WORKER", "STATE", "POOL", "RUNNING", "LOAD", "AGE", "WHY"});
  for (const auto& worker : workers) {
    table.add({worker.key.id, worker.state, worker.pool,
               slots_in_use(worker), vitals_of(worker).front(),
               figures_age_of(worker), remarks_on(worker)});
  }
  return table.text();
}

/// What the leader's snapshot says; without a snapshot none of it is known.
void show_what_leads(const thrift::ClusterStatus& status, bool is_answered) {
  if (!is_answered) {
    print_text(fmt::format("cluster {}  leader {}\n", printable(status.cluster),
                           status.leader.empty() ? "none" : status.leader + " does not answer"));
    return;
  }
  print_text(fmt::format("cluster {}  epoch {}  leader {}  jobs {}  unfinished runs {}\n",
                         printable(status.cluster), status.epoch, status.leader, status.jobs,
                         status.active_runs));
  if (!status.held.empty()) print_text("ticks are held: " + printable(status.held) + "\n");
  for (const thrift::FreezeInfo& freeze : status.freezes) print_text(freeze_line(freeze) + "\n");
  for (const auto& ending : status.calendars_ending) {
    print_text(ending_words(ending, to_ms(SystemClock().wall())) + "\n");
  }
}

std::vector<thrift::WorkerInfo> without_dead(std::vector<thrift::WorkerInfo> workers) {
  std::erase_if(workers, [](const auto& worker) { return worker.state == "dead"; });
  return workers;
}

void show_status(const thrift::ClusterStatus& status, bool is_answered) {
  show_what_leads(status, is_answered);
  for (const std::string& network : status.plaintext_networks) {
    print_text("unencrypted traffic is allowed in " + printable(network) + "\n");
  }
  Table masters({"MASTER", "ADDRESS", "ROLE", "ELECTOR", "DATABASE"});
  for (const auto& master : status.masters) {
    masters.add({master.id, master.address, master.leads ? "leader" : "follower", or_dash(master.elector),
                 or_dash(master.database)});
  }
  print_text("\n" + masters.text() + "\n");
  if (!is_answered) {
    print_text("workers and runs: not known before a leader answers; ask again in a second\n");
  } else if (status.workers.empty()) {
    print_text("workers: none is here; a leader that has just taken office may not know them yet\n");
  } else {
    print_text(short_workers_table(without_dead(status.workers)));
  }
  for (const auto& [part, state] : status.health) {
    if (state != "ok") print_text(fmt::format("{}: {}\n", part, printable(state)));
  }
}

}  // namespace

int worker_list(Desk& desk, bool all) {
  auto workers = desk.cluster.list_workers();
  if (!workers) return complain(workers.error());
  const std::size_t known = workers->size();
  if (!all) *workers = without_dead(std::move(*workers));
  const std::size_t dead = known - workers->size();
  Listing list(desk, worker_columns());
  for (const auto& worker : *workers) list.add([&worker] { return to_json(worker); }, cells_of(worker));
  const int status = list.finish();
  if (dead > 0 && !desk.prints_data()) {
    note(fmt::format("dead and not shown: {} (rota worker list --all)", dead));
  }
  return status;
}

int cluster_status(Desk& desk) {
  auto status = desk.cluster.cluster_status();
  if (!status) return complain(status.error());
  // A follower whose leader has just died still names it, but does not have what the leader knew.
  const bool is_answered = !status->leader.empty() && !status->health.contains("leader");
  if (desk.prints_data()) {
    print_data(desk.format, to_json(*status));
  } else {
    show_status(*status, is_answered);
  }
  return is_answered ? kOk : kNotReachable;
}

}  // namespace rota::client
