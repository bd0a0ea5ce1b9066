#include "worker/api/worker_service.h"

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

desk::Order order_of(const thrift::DispatchItem& item) {
  desk::Order order;
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

desk::Envelope envelope_of(std::int64_t epoch, const std::string& worker_id,
                           const std::string& incarnation) {
  return {Epoch{epoch}, {worker_id, incarnation}};
}

}  // namespace

void WorkerServiceHandler::hello(const Caller&, thrift::Inventory& answer,
                                 const thrift::HelloRequest& request) {
  if (!parts_.wait_registered(kRegisterPatience)) {
    refuse(ErrorCode::Unavailable, "this worker has not read its own node back yet");
  }
  const auto endpoint = rpc::parse_endpoint(request.leader);
  if (!endpoint) refuse(ErrorCode::InvalidArgument, "leader: " + endpoint.error().message);
  desk::Greeting greeting;
  greeting.cluster_uuid = request.cluster_uuid;
  greeting.incarnation = request.incarnation;
  greeting.leader = {Epoch{request.epoch}, {endpoint->host, endpoint->port}};
  if (request.__isset.grant_ms && request.grant_ms > 0) greeting.leader.grant = Millis{request.grant_ms};
  const auto held = parts_.desk.hello(greeting);
  if (!held) refuse(held.error().code, held.error().message);
  answer = wire::to_wire(*held);
}

void WorkerServiceHandler::inventory(const Caller&, thrift::Inventory& answer,
                                     const thrift::HelloRequest&) {
  answer = wire::to_wire(parts_.desk.inventory());
}

void WorkerServiceHandler::dispatch(const Caller&, std::vector<thrift::DispatchAnswer>& answer,
                                    const thrift::DispatchRequest& request) {
  const auto envelope = envelope_of(request.epoch, request.worker_id, request.incarnation);
  std::vector<desk::Order> orders;
  orders.reserve(request.items.size());
  for (const thrift::DispatchItem& item : request.items) orders.push_back(order_of(item));
  for (const desk::OrderAnswer& one : parts_.desk.dispatch(envelope, orders)) {
    answer.push_back(wire::dispatch_answer(one.key, one.refusal, one.detail));
  }
}

void WorkerServiceHandler::cancel(const Caller&, const thrift::CancelRequest& request) {
  const auto envelope = envelope_of(request.epoch, request.worker_id, request.incarnation);
  std::vector<model::AttemptKey> keys;
  for (const thrift::AttemptKey& key : request.attempts) keys.push_back(wire::from_wire(key));
  const Millis grace{std::max<std::int64_t>(request.grace_ms, 0)};
  refuse_if(parts_.desk.cancel(envelope, keys, grace));
}

void WorkerServiceHandler::drain(const Caller&, const thrift::DrainRequest& request) {
  const auto envelope = envelope_of(request.epoch, request.worker_id, request.incarnation);
  const auto order = request.__isset.order ? std::optional(request.order) : std::nullopt;
  refuse_if(parts_.desk.drain(envelope, request.draining, order));
}

}  // namespace rota::worker::api
