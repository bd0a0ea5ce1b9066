#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/show_json.h"

namespace rota::client {
namespace {

std::string workers_table(const std::vector<thrift::WorkerInfo>& workers) {
  Table table({"WORKER", "STATE", "POOL", "SLOTS", "RUNNING", "ADDRESS", "KILLS BY", "WHY"});
  for (const auto& worker : workers) {
    table.add({worker.key.id, worker.state, worker.pool, std::to_string(worker.slots),
               std::to_string(worker.running), fmt::format("{}:{}", worker.host, worker.port),
               worker.kill_means, worker.why});
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
