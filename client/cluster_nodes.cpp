// What masters tell of workers, of themselves and of what is free.
#include "client/cluster_calls.h"

namespace rota::client {

Result<std::vector<thrift::WorkerInfo>> Cluster::list_workers() {
  return query<std::vector<thrift::WorkerInfo>>(
      [&](auto& client, auto& out, const auto& head) { client.list_workers(out, head); });
}

Result<std::vector<thrift::WorkerLife>> Cluster::list_lives(const std::string& worker,
                                                            std::int32_t limit) {
  return query<std::vector<thrift::WorkerLife>>([&](auto& client, auto& out, const auto& head) {
    client.list_lives(out, head, worker, limit);
  });
}

Result<std::vector<thrift::MasterNode>> Cluster::list_masters() {
  return query<std::vector<thrift::MasterNode>>(
      [&](auto& client, auto& out, const auto& head) { client.list_masters(out, head); });
}

Result<thrift::NodeHistory> Cluster::worker_history(const std::string& worker) {
  thrift::HistoryQuery asked;
  asked.__set_worker(worker);
  return query<thrift::NodeHistory>(
      [&](auto& client, auto& out, const auto& head) { client.worker_history(out, head, asked); });
}

Result<std::vector<thrift::RunUsage>> Cluster::worker_usage(const std::string& worker) {
  return query<std::vector<thrift::RunUsage>>(
      [&](auto& client, auto& out, const auto& head) { client.worker_usage(out, head, worker); });
}

Result<thrift::CapacityReport> Cluster::capacity() {
  return query<thrift::CapacityReport>(
      [&](auto& client, auto& out, const auto& head) { client.capacity(out, head); });
}

}  // namespace rota::client
