#include "worker/api/worker_service.h"

#include "common/rpc/endpoint.h"
#include "common/rpc/error_wire.h"
#include "common/wire/job_wire.h"
#include "common/wire/run_wire.h"
#include "common/wire/shared_work.h"
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

using Works = std::vector<desk::WorkShelf::Work>;

/// Those of a call; null: not known here any more.
Works works_of(const thrift::DispatchRequest& request, desk::WorkShelf& shelf) {
  Works out;
  out.reserve(request.works.size());
  for (const thrift::SharedWork& named : request.works) {
    out.push_back(named.__isset.work
                      ? shelf.keep(named.hash, wire::from_wire(named.work), wire::weight_of(named.work))
                      : shelf.find(named.hash));
  }
  return out;
}

/// Null: the call does not say what the attempt runs, and this worker does not know it.
const model::JobWork* shared_work(const thrift::DispatchItem& item, const Works& works) {
  const auto place = static_cast<std::size_t>(item.shared);
  return item.shared >= 0 && place < works.size() ? works[place].get() : nullptr;
}

void set_work(desk::Order& order, const thrift::DispatchItem& item, const model::JobWork* shared) {
  order.parameters = item.parameters;
  if (shared == nullptr) {
    order.work = wire::from_wire(item.work);
  } else {
    order.work = *shared;
    order.parameters.merge(order.work.parameters);  // the run's own lie over them
    order.work.parameters.clear();
  }
}

desk::Order order_of(const thrift::DispatchItem& item, const model::JobWork* shared) {
  desk::Order order;
  order.key = wire::from_wire(item.attempt);
  order.job = JobId{item.job};
  order.version = item.job_version;
  order.job_name = item.job_name;
  order.space = item.space;
  order.kind = item.kind;
  if (item.__isset.tick_ms) order.tick = wall_from_ms(item.tick_ms);
  order.schedule = item.schedule;
  if (item.__isset.parent) order.parent = RunId{item.parent};
  if (item.__isset.parent_state) order.parent_state = item.parent_state;
  order.scheduled = wall_from_ms(item.scheduled_ms);
  order.timeout = Millis{std::max<std::int64_t>(item.timeout_ms, 0)};
  order.kill_grace = Millis{std::max<std::int64_t>(item.kill_grace_ms, 0)};
  order.disconnect_grace = Millis{std::max<std::int64_t>(item.disconnect_grace_ms, 0)};
  if (item.__isset.slots) order.demand.slots = std::max(item.slots, 1);
  if (item.__isset.needs) order.demand.needs = item.needs;
  set_work(order, item, shared);
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
  answer.__set_most_works(static_cast<std::int32_t>(works_.most()));
  answer.__set_most_work_bytes(static_cast<std::int64_t>(works_.most_bytes()));
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
  const Works works = works_of(request, works_);
  for (const thrift::DispatchItem& item : request.items) {
    const model::JobWork* shared = item.__isset.shared ? shared_work(item, works) : nullptr;
    if (item.__isset.shared && shared == nullptr) {
      answer.push_back(wire::unknown_work_answer(item.attempt));
    } else {
      orders.push_back(order_of(item, shared));
    }
  }
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
