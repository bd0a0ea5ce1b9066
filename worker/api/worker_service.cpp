#include "worker/api/worker_service.h"

#include "common/base/log.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/error_wire.h"
#include "common/wire/job_wire.h"
#include "common/wire/run_wire.h"
#include "common/wire/worker_wire.h"

namespace rota::worker::api {

namespace {

/// A leader may see the new node before its worker has read it back.
constexpr Millis kRegisterPatience{500};

[[noreturn]] void refuse(ErrorCode code, const std::string& message) {
  throw rpc::to_wire(Error(code, message));
}

void refuse_if(model::Refusal refusal) {
  switch (refusal) {
    case model::Refusal::OldEpoch:
      refuse(ErrorCode::Fenced, "a leader with a higher epoch is known");
    case model::Refusal::WrongLife:
      refuse(ErrorCode::Conflict, "this is another life of the worker");
    default:
      return;
  }
}

run::Order order_of(const thrift::DispatchItem& item) {
  run::Order order;
  order.key = wire::from_wire(item.attempt);
  order.job = JobId{item.job};
  order.version = item.job_version;
  order.job_name = item.job_name;
  order.space = item.space;
  order.kind = item.kind;
  if (item.__isset.tick_ms) order.tick = wall_from_ms(item.tick_ms);
  order.scheduled = wall_from_ms(item.scheduled_ms);
  order.timeout = Millis{std::max<std::int64_t>(item.timeout_ms, 0)};
  order.kill_grace = Millis{std::max<std::int64_t>(item.kill_grace_ms, 0)};
  order.disconnect_grace = Millis{std::max<std::int64_t>(item.disconnect_grace_ms, 0)};
  order.work = wire::from_wire(item.work);
  order.parameters = item.parameters;
  if (item.__isset.checkpoint) order.checkpoint = item.checkpoint;
  return order;
}

}  // namespace

void WorkerService::learn_leader(const thrift::HelloRequest& request) {
  const auto endpoint = rpc::parse_endpoint(request.leader);
  if (!endpoint) refuse(ErrorCode::InvalidArgument, "leader: " + endpoint.error().message);
  const std::string known = parts_.cluster_uuid();
  if (!known.empty() && known != request.cluster_uuid) {
    refuse(ErrorCode::Conflict, "this worker belongs to the cluster " + known + ", not to " +
                                    request.cluster_uuid);
  }
  const Epoch epoch{request.epoch};
  const auto highest = parts_.epochs.raise(request.cluster_uuid, epoch);
  if (!highest) refuse(ErrorCode::Unavailable, "epoch not stored: " + highest.error().message);
  parts_.runner.raise_epoch(*highest);
  if (parts_.runner.highest_epoch() > epoch) return;  // deposed: the inventory tells it so
  run::KnownLeader leader{epoch, {endpoint->host, endpoint->port}};
  if (request.__isset.grant_ms && request.grant_ms > 0) leader.grant = Millis{request.grant_ms};
  if (!(parts_.leader.get() == leader)) {
    log_info("api", "a leader said hello", {{"epoch", epoch.value}, {"leader", request.leader}});
  }
  parts_.leader.set(leader);
  parts_.runner.greet(request.incarnation);
}

void WorkerService::hello(thrift::Inventory& answer, const thrift::HelloRequest& request) {
  if (!parts_.wait_registered(kRegisterPatience)) {
    refuse(ErrorCode::Unavailable, "this worker has not read its own node back yet");
  }
  learn_leader(request);
  answer = all_held();
}

void WorkerService::inventory(thrift::Inventory& answer, const thrift::HelloRequest&) { answer = all_held(); }

thrift::Inventory WorkerService::all_held() const {
  model::Inventory inventory = parts_.runner.inventory();
  inventory.drain = parts_.drain_ack();
  return wire::to_wire(inventory);
}

void WorkerService::dispatch(std::vector<thrift::DispatchAnswer>& answer,
                             const thrift::DispatchRequest& request) {
  const run::Envelope envelope{Epoch{request.epoch}, {request.worker_id, request.incarnation}};
  std::vector<run::Order> orders;
  orders.reserve(request.items.size());
  for (const thrift::DispatchItem& item : request.items) orders.push_back(order_of(item));
  for (const run::OrderAnswer& one : answer_orders(envelope, std::move(orders))) {
    answer.push_back(wire::dispatch_answer(one.key, one.refusal, one.detail));
  }
}

std::vector<run::OrderAnswer> WorkerService::answer_orders(const run::Envelope& envelope,
                                                           std::vector<run::Order> orders) {
  // The table refuses, and not this method: what is held already must be accepted again.
  parts_.runner.set_full(parts_.is_overloaded());
  return parts_.runner.dispatch(envelope, std::move(orders));
}

void WorkerService::cancel(const thrift::CancelRequest& request) {
  const run::Envelope envelope{Epoch{request.epoch}, {request.worker_id, request.incarnation}};
  std::vector<model::AttemptKey> keys;
  for (const thrift::AttemptKey& key : request.attempts) keys.push_back(wire::from_wire(key));
  const Millis grace{std::max<std::int64_t>(request.grace_ms, 0)};
  refuse_if(parts_.runner.cancel(envelope, keys, grace));
}

void WorkerService::drain(const thrift::DrainRequest& request) {
  refuse_if(parts_.runner.check({Epoch{request.epoch}, {request.worker_id, request.incarnation}}));
  parts_.set_drained(request.draining, request.__isset.order ? std::optional(request.order) : std::nullopt);
}

}  // namespace rota::worker::api
