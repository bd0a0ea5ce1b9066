#include "test/bench/stand_ins.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/random.h"
#include "common/model/worker_json.h"
#include "common/rpc/error_wire.h"
#include "common/wire/worker_wire.h"
#include "common/zk/paths.h"
#include "common/zk/real_client.h"

namespace rota::bench {
namespace {

constexpr std::size_t kReporters = 128, kRenewers = 32;
constexpr std::size_t kMostReports = 500;
constexpr Millis kCall{5000};
constexpr Millis kRenewEvery{1000};
constexpr Millis kBadCallPause{100};
constexpr Millis kIdleLook{200};

thrift::Report success_of(const thrift::AttemptKey& attempt, const model::WorkerKey& worker) {
  thrift::Report report;
  report.__set_attempt(attempt);
  report.__set_worker(wire::to_wire(worker));
  report.__set_what("finished");
  report.__set_started_ms(to_ms(SystemClock().wall()));
  thrift::Outcome outcome;
  outcome.__set_state("succeeded");
  outcome.__set_reason("none");
  outcome.__set_started_ms(report.started_ms);
  outcome.__set_ended_ms(report.started_ms);
  outcome.__set_unknown_costs(wire::kCpuUnknown | wire::kMemoryUnknown | wire::kReadsUnknown |
                              wire::kWritesUnknown);
  report.__set_outcome(outcome);
  return report;
}

}  // namespace

Result<void> StandIns::start() {
  make_workers();
  auto handler = std::shared_ptr<thrift::WorkerServiceIf>(
      static_cast<thrift::WorkerServiceIf*>(this), [](thrift::WorkerServiceIf*) {});
  server_ = std::make_unique<rpc::Server>(std::make_shared<thrift::WorkerServiceProcessor>(handler),
                                          rpc::ServerOptions{.name = "stand-ins", .threads = 16});
  if (auto started = server_->start(); !started) return started;
  for (auto& group : groups_) {
    threads_.emplace_back([this, &group](std::stop_token stop) { report_for(*group, stop); });
  }
  const std::size_t renewers = std::min(kRenewers, workers_.size());
  for (std::size_t i = 0; i < renewers; ++i) {
    threads_.emplace_back(
        [this, i, renewers](std::stop_token stop) { renew_some(i, renewers, stop); });
  }
  return register_all();
}

void StandIns::stop() {
  if (zookeeper_) zookeeper_->close();
  for (auto& thread : threads_) thread.request_stop();
  threads_.clear();
  if (server_) server_->stop();
}

/// Unless the caller names them, their names are their own, since those of an earlier process vanished: after
/// four lives in ten minutes a name counts as flapping. Homes are always their own.
void StandIns::make_workers() {
  const std::string own = random_hex(4), names = options_.names.empty() ? own : options_.names;
  workers_.resize(static_cast<std::size_t>(options_.count));
  groups_.resize(std::min(kReporters, workers_.size()));
  for (auto& group : groups_) group = std::make_unique<Group>();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].key = {fmt::format("{}-{}-{}", options_.pool, names, i),
                       fmt::format("{}{:04x}-{}", own, i + 1, random_hex(8))};
    by_id_[workers_[i].key.id] = &workers_[i];
    groups_[i % groups_.size()]->workers.push_back(&workers_[i]);
  }
}

Result<void> StandIns::register_all() {
  auto client = zk::connect_once({.addresses = options_.zookeeper,
                                  .session_timeout = Millis{30'000},
                                  .operation_deadline = Millis{10'000},
                                  .attach = {}});
  if (!client) return fail(client.error());
  zookeeper_ = std::move(*client);
  model::WorkerInfo info;
  info.address = {"127.0.0.1", server_->port()};
  info.pool = options_.pool;
  info.slots = options_.slots;
  info.handlers = {"noop"};
  info.kill_means = "scan";
  info.started = SystemClock().wall();
  for (const StandIn& worker : workers_) {
    info.key = worker.key;
    const auto json = model::to_json(info);
    if (!json) return fail(json.error());
    const std::string path =
        zk::Paths(options_.cluster).workers() + "/" + model::node_name(worker.key);
    if (auto made = zookeeper_->create(path, *json, zk::CreateMode::Ephemeral); !made)
      return fail(made.error());
  }
  return {};
}

StandIn* StandIns::find(const std::string& id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

StandIns::Group& StandIns::group_of(const StandIn& worker) {
  return *groups_[static_cast<std::size_t>(&worker - workers_.data()) % groups_.size()];
}

void StandIns::hello(thrift::Inventory& answer, const thrift::HelloRequest& request) {
  if (const auto leader = rpc::parse_endpoint(request.leader)) {
    std::scoped_lock lock(leader_mutex_);
    if (request.epoch >= epoch_) leader_ = *leader;
    epoch_ = std::max(epoch_, request.epoch);
  }
  inventory(answer, request);
  // As a worker does; what its attempts run is nothing to a stand-in.
  answer.__set_most_works(1000);
  answer.__set_most_work_bytes(std::int64_t{16} << 20);
}

void StandIns::inventory(thrift::Inventory& answer, const thrift::HelloRequest& request) {
  StandIn* worker = find(request.worker_id);
  if (worker == nullptr) throw rpc::to_wire(Error(ErrorCode::NotFound, "no such worker"));
  {
    std::scoped_lock lock(leader_mutex_);
    answer.__set_highest_epoch(epoch_);
  }
  answer.__set_worker(wire::to_wire(worker->key));
  std::scoped_lock lock(group_of(*worker).mutex);
  for (const thrift::Report& report : worker->reports) {
    thrift::HeldAttempt& held = answer.attempts.emplace_back();
    held.__set_attempt(report.attempt);
    held.__set_state("finished");
    held.__set_started_ms(report.started_ms);
    held.__set_outcome(report.outcome);
  }
}

void StandIns::dispatch(std::vector<thrift::DispatchAnswer>& answer,
                        const thrift::DispatchRequest& request) {
  StandIn* worker = find(request.worker_id);
  const bool is_ours = worker != nullptr && worker->key.incarnation == request.incarnation;
  const auto refusal = is_ours ? model::Refusal::None : model::Refusal::WrongLife;
  for (const thrift::DispatchItem& item : request.items) {
    answer.push_back(wire::dispatch_answer(wire::from_wire(item.attempt), refusal, ""));
  }
  if (!is_ours) return;
  Group& group = group_of(*worker);
  {
    std::scoped_lock lock(group.mutex);
    for (const auto& item : request.items)
      worker->reports.push_back(success_of(item.attempt, worker->key));
  }
  group.changed.notify_one();
}

StandIn::Channel* StandIns::channel_of(std::unique_ptr<StandIn::Channel>& channel) {
  std::scoped_lock lock(leader_mutex_);
  if (leader_.port == 0) return nullptr;
  if (!channel || channel->peer() != leader_) channel = std::make_unique<StandIn::Channel>(leader_);
  return channel.get();
}

void StandIns::report_for(Group& group, std::stop_token stop) {
  const auto has_some = [](const StandIn* worker) { return !worker->reports.empty(); };
  while (!stop.stop_requested()) {
    std::vector<StandIn*> ready;
    {
      std::unique_lock lock(group.mutex);
      group.changed.wait_for(lock, stop, kIdleLook,
                             [&] { return std::ranges::any_of(group.workers, has_some); });
      std::ranges::copy_if(group.workers, std::back_inserter(ready), has_some);
    }
    for (StandIn* worker : ready) report_once(group, *worker);
  }
}

void StandIns::report_once(Group& group, StandIn& worker) {
  thrift::ReportRequest request;
  request.__set_worker(wire::to_wire(worker.key));
  {
    std::scoped_lock lock(group.mutex);
    const auto most = std::min(kMostReports, worker.reports.size());
    request.reports.assign(worker.reports.begin(),
                           worker.reports.begin() + static_cast<std::ptrdiff_t>(most));
  }
  StandIn::Channel* leader = channel_of(worker.to_report);
  std::vector<thrift::AttemptKey> stored;
  const bool is_told =
      leader != nullptr &&
      leader
          ->call([&](thrift::ReportServiceClient& client) { client.report(stored, request); },
                 kCall)
          .has_value();
  if (!is_told || stored.empty()) return std::this_thread::sleep_for(kBadCallPause);
  std::ranges::sort(stored, {}, [](const auto& key) { return std::pair(key.run, key.attempt); });
  std::scoped_lock lock(group.mutex);
  std::erase_if(worker.reports, [&](const thrift::Report& report) {
    return std::ranges::binary_search(
        stored, std::pair(report.attempt.run, report.attempt.attempt), {},
        [](const auto& key) { return std::pair(key.run, key.attempt); });
  });
}

/// Each worker once a second, spread over that second.
void StandIns::renew_some(std::size_t first, std::size_t step, std::stop_token stop) {
  const std::size_t share = (workers_.size() - first + step - 1) / step;
  const Micros pause = Micros{kRenewEvery} / static_cast<std::int64_t>(share);
  MonoTime next =
      BootClock::now() + pause * static_cast<std::int64_t>(first) / static_cast<std::int64_t>(step);
  std::mutex mutex;
  std::condition_variable_any never;
  for (std::size_t at = first; !stop.stop_requested();
       at = at + step < workers_.size() ? at + step : first) {
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, std::max(Micros{0}, next - BootClock::now()), [] { return false; });
    lock.unlock();
    next = std::max(next + pause, BootClock::now());
    renew(workers_[at]);
  }
}

void StandIns::renew(StandIn& worker) {
  StandIn::Channel* leader = channel_of(worker.to_renew);
  if (leader == nullptr) return;
  thrift::RenewRequest request;
  request.__set_worker(wire::to_wire(worker.key));
  request.__set_vitals(wire::to_wire(model::WorkerVitals{}));
  request.__set_vitals_age_ms(100);
  (void)leader->call([&](thrift::ReportServiceClient& client) { client.renew(request); }, kCall);
}

}  // namespace rota::bench
