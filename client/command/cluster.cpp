#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/show_json.h"

namespace rota::client {
namespace {

/// "drained by ann: new disk; hands over at 2026-03-29 02:30:00Z"
std::string why_of(const thrift::WorkerInfo& worker) {
  if (!worker.__isset.drain) return worker.why;
  const thrift::WorkerDrain& drain = worker.drain;
  std::string text = "drained by " + drain.by;
  if (!drain.why.empty()) text += ": " + drain.why;
  if (drain.__isset.deadline_ms) text += "; hands over at " + show_time(drain.deadline_ms);
  return worker.why.empty() ? text : text + "; " + worker.why;
}

/// Why it is not online, and what its self check found.
std::string remarks_on(const thrift::WorkerInfo& worker) {
  const std::string why = why_of(worker);
  const bool is_well = !worker.__isset.vitals || worker.vitals.health == "ok";
  if (is_well) return why;
  return why.empty() ? worker.vitals.health : why + "; " + worker.vitals.health;
}

std::string address_of(const thrift::WorkerInfo& worker) {
  return worker.port == 0 ? "-" : fmt::format("{}:{}", worker.host, worker.port);
}

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
               "THREADS", "ADDRESS", "KILLS BY", "WHY"});
  for (const auto& worker : workers) {
    std::vector<std::string> row = {worker.key.id, worker.state, worker.pool,
                                    std::to_string(worker.slots), std::to_string(worker.running)};
    for (std::string& text : vitals_of(worker)) row.push_back(std::move(text));
    row.insert(row.end(), {address_of(worker), worker.kill_means, remarks_on(worker)});
    table.add(row);
  }
  return table.text();
}

constexpr Millis kVerifyDeadline{std::chrono::minutes{10}};

}  // namespace

int worker_list(Desk& desk) {
  auto workers = desk.cluster.list_workers();
  if (!workers) return complain(workers.error());
  if (desk.format == Format::Json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& worker : *workers) rows.push_back(to_json(worker));
    print_json(rows);
  } else {
    print_text(workers_table(*workers));
  }
  return kOk;
}

int cluster_status(Desk& desk) {
  auto status = desk.cluster.cluster_status();
  if (!status) return complain(status.error());
  if (desk.format == Format::Json) {
    print_json(to_json(*status));
  } else {
    print_text(fmt::format("cluster {}  epoch {}  leader {}  jobs {}  unfinished runs {}\n",
                           printable(status->cluster), status->epoch,
                           status->leader.empty() ? "none" : status->leader, status->jobs,
                           status->active_runs));
    if (!status->held.empty()) print_text("ticks are held: " + printable(status->held) + "\n");
    for (const std::string& network : status->plaintext_networks) {
      print_text("unencrypted traffic is allowed with " + printable(network) + "\n");
    }
    Table masters({"MASTER", "ADDRESS", "ROLE"});
    for (const auto& master : status->masters) {
      masters.add({master.id, master.address, master.leads ? "leader" : "follower"});
    }
    print_text("\n" + masters.text() + "\n" + workers_table(status->workers));
    for (const auto& [part, state] : status->health) {
      if (state != "ok") print_text(fmt::format("{}: {}\n", part, printable(state)));
    }
  }
  return status->leader.empty() ? kNotReachable : kOk;
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
  if (desk.format == Format::Json) {
    print_json(to_json(*report));
    return report->ok ? kOk : kFailed;
  }
  Table table({"PROMISE", "KEPT", "PLANNED", "FIRED", "SKIPPED", "MISSING", "DOUBLED"});
  for (const auto& check : report->checks) {
    table.add({check.promise, check.ok ? "yes" : "NO", std::to_string(check.planned),
               std::to_string(check.fired), std::to_string(check.skipped),
               std::to_string(check.missing), std::to_string(check.doubled)});
  }
  print_text(table.text());
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
