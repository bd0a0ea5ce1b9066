#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
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

std::string workers_table(const std::vector<thrift::WorkerInfo>& workers) {
  Table table({"WORKER", "STATE", "POOL", "SLOTS", "RUNNING", "LOAD", "CPU", "MEMORY", "DISK FREE",
               "THREADS", "ADDRESS", "KILLS BY", "KERNEL LIMITS", "WHY"});
  for (const auto& worker : workers) {
    std::vector<std::string> row = {worker.key.id, worker.state, worker.pool,
                                    std::to_string(worker.slots), std::to_string(worker.running)};
    for (std::string& text : vitals_of(worker)) row.push_back(std::move(text));
    row.insert(row.end(), {address_of(worker), worker.kill_means,
                           kernel_limits_of(worker), remarks_on(worker)});
    table.add(row);
  }
  return table.text();
}

/// For a screen of 80 columns; `rota worker list` has the rest.
std::string short_workers_table(const std::vector<thrift::WorkerInfo>& workers) {
  Table table({"WORKER", "STATE", "POOL", "RUNNING", "LOAD", "WHY"});
  for (const auto& worker : workers) {
    table.add({worker.key.id, worker.state, worker.pool,
               fmt::format("{} of {}", worker.running, worker.slots), vitals_of(worker).front(),
               remarks_on(worker)});
  }
  return table.text();
}

/// What the leader's snapshot says; without it nothing of the kind is known.
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
}

void show_status(const thrift::ClusterStatus& status, bool is_answered) {
  show_what_leads(status, is_answered);
  for (const std::string& network : status.plaintext_networks) {
    print_text("unencrypted traffic is allowed with " + printable(network) + "\n");
  }
  Table masters({"MASTER", "ADDRESS", "ROLE"});
  for (const auto& master : status.masters) {
    masters.add({master.id, master.address, master.leads ? "leader" : "follower"});
  }
  print_text("\n" + masters.text() + "\n");
  if (!is_answered) {
    print_text("workers and runs: not known before a leader answers; ask again in a second\n");
  } else if (status.workers.empty()) {
    print_text("workers: none is here; a leader that took office just now may not have met them yet\n");
  } else {
    print_text(short_workers_table(status.workers));
  }
  for (const auto& [part, state] : status.health) {
    if (state != "ok") print_text(fmt::format("{}: {}\n", part, printable(state)));
  }
}

const char* meaning_of(const std::string& promise) {
  if (promise == "P1") return "each planned tick is one run, or in one gap with a reason";
  if (promise == "P4") return "no run, nor job without overlap, had two attempts at once";
  if (promise == "P6") return "nothing started before it was recorded";
  if (promise == "P7") return "no deposed leader wrote anything";
  if (promise == "P12") return "every run that ended has its outcome";
  if (promise == "P13") return "stored output is what the outcomes name";
  return "";
}

std::string ticks_line(const std::vector<thrift::Check>& checks) {
  for (const thrift::Check& check : checks) {
    if (check.promise != "P1") continue;
    return fmt::format("ticks: {} planned, {} fired, {} skipped, {} missing, {} doubled\n", check.planned,
                       check.fired, check.skipped, check.missing, check.doubled);
  }
  return "";
}

constexpr Millis kVerifyDeadline{std::chrono::minutes{10}};

}  // namespace

int worker_list(Desk& desk) {
  auto workers = desk.cluster.list_workers();
  if (!workers) return complain(workers.error());
  if (desk.prints_data()) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& worker : *workers) rows.push_back(to_json(worker));
    print_data(desk.format, rows);
  } else {
    print_text(workers_table(*workers));
  }
  return kOk;
}

int cluster_status(Desk& desk) {
  auto status = desk.cluster.cluster_status();
  if (!status) return complain(status.error());
  // A follower whose leader has just died still names it, and knows nothing of what the leader knew.
  const bool is_answered = !status->leader.empty() && !status->health.contains("leader");
  if (desk.prints_data()) {
    print_data(desk.format, to_json(*status));
  } else {
    show_status(*status, is_answered);
  }
  return is_answered ? kOk : kNotReachable;
}

int verify(Desk& desk, const std::string& job, const std::string& since) {
  thrift::VerifyRequest request;
  request.space = desk.space;
  request.job = job;
  if (!since.empty()) {
    auto moment = since_from(since);
    if (!moment) return complain(moment.error());
    request.__set_since_ms(to_ms(*moment));
  }
  auto report = desk.cluster.verify(request, kVerifyDeadline);
  if (!report) return complain(report.error());
  if (desk.prints_data()) {
    print_data(desk.format, to_json(*report));
    return report->ok ? kOk : kFailed;
  }
  Table table({"PROMISE", "KEPT", "CHECKED", "SAYS"});
  for (const auto& check : report->checks) {
    table.add({check.promise, check.ok ? "yes" : "NO", std::to_string(check.planned),
               meaning_of(check.promise)});
  }
  print_text(table.text() + ticks_line(report->checks));
  for (const auto& check : report->checks) {
    for (const std::string& example : check.examples) {
      print_text(fmt::format("{}: {}\n", check.promise, printable(example)));
    }
  }
  print_text(fmt::format("decided through {}, most late {} ms: {}\n",
                         show_time(report->decided_through_ms), report->max_lateness_ms,
                         report->ok ? "every promise is kept" : "BROKEN"));
  return report->ok ? kOk : kFailed;
}

}  // namespace rota::client
