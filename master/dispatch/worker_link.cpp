#include "master/dispatch/worker_link.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/wire/worker_wire.h"
#include "master/dispatch/dispatch_batch.h"

namespace rota::master::dispatch {
namespace {

rpc::Endpoint endpoint_of(const model::Address& address) { return {address.host, address.port}; }

core::HelloFailed hello_failed(const model::WorkerKey& worker, const rpc::CallError& error) {
  return {worker, error.refused, error.error.message};
}

bool is_unreachable(const rpc::CallError& error) {
  return !error.answered && error.error.code == ErrorCode::Unavailable;
}

/// No run has saved anything before its first attempt.
bool may_have_checkpoint(const core::DispatchItem& item) { return item.attempt.attempt > 1; }

void count(const std::vector<core::DispatchVerdict>& verdicts, LinkResult& result) {
  for (const auto& verdict : verdicts) {
    if (verdict.kind == core::DispatchVerdict::Kind::Unknown) ++result.unknown;
    if (verdict.refusal == model::Refusal::OldEpoch) ++result.old_epoch;
  }
}

/// 0 for an older worker, which does not say it.
std::size_t bound(std::int64_t said) { return static_cast<std::size_t>(std::max<std::int64_t>(said, 0)); }

/// A worker that knows a higher epoch refuses everything from now on; the core must hear of it.
void note_refusal(const model::WorkerKey& worker, const rpc::CallError& failure, LinkResult& result) {
  if (failure.error.code != ErrorCode::Fenced) return;
  ++result.old_epoch;
  result.events.emplace_back(core::EpochRefused{worker});
}

}  // namespace

WorkerLink::WorkerLink(store::Reader& reader, const DispatcherOptions& options)
    : options_(options),
      reader_(reader),
      definitions_(reader, options.cached_definitions, options.cached_bytes) {}

LinkResult WorkerLink::hello(const TermFace& face, const core::SendHello& message) {
  thrift::HelloRequest request;
  request.__set_epoch(face.epoch.value);
  request.__set_leader(rpc::to_string(endpoint_of(face.leader)));
  request.__set_cluster_uuid(face.cluster_uuid);
  request.__set_worker_id(message.worker.id);
  request.__set_incarnation(message.worker.incarnation);
  request.__set_grant_ms(options_.grant.count());
  LinkResult result;
  result.calls = 1;
  const auto answer = channels_.call(
      endpoint_of(message.address),
      [&](thrift::WorkerServiceClient& client) {
        thrift::Inventory inventory;
        client.hello(inventory, request);
        return inventory;
      },
      options_.rpc_timeout);
  if (!answer) {
    result.unreachable = is_unreachable(answer.error());
    result.events.emplace_back(hello_failed(message.worker, answer.error()));
    return result;
  }
  auto inventory = wire::from_wire(*answer);
  if (!inventory) {
    result.events.emplace_back(
        core::HelloFailed{message.worker, false, inventory.error().message});
  } else if (inventory->highest_epoch <= face.epoch && inventory->worker != message.worker) {
    result.events.emplace_back(core::HelloFailed{
        message.worker, false, "another life answered: " + inventory->worker.incarnation});
  } else {
    kept_.greeted(message.worker, bound(answer->most_works), bound(answer->most_work_bytes));
    inventory->worker = message.worker;
    result.events.emplace_back(core::HelloAnswered{std::move(*inventory)});
  }
  return result;
}

LinkResult WorkerLink::dispatch(const TermFace& face,
                                const std::vector<core::SendDispatch>& messages) {
  LinkResult result;
  std::vector<Piece> pieces = prepare(messages, result);
  const auto life = kept_.of(messages.back().worker);
  std::vector<Piece> unknown = send_all(face, messages.back(), pieces, life.get(), result);
  if (unknown.empty()) return result;
  // The worker has lost or dropped works. Nothing is decided about these attempts: each goes again, whole.
  life->forget();
  result.works_lost += static_cast<std::int64_t>(unknown.size());
  send_all(face, messages.back(), unknown, nullptr, result);
  return result;
}

/// Gives the attempts whose works the worker does not know any more.
std::vector<Piece> WorkerLink::send_all(const TermFace& face, const core::SendDispatch& to,
                                        std::vector<Piece>& pieces, LifeWorks* life, LinkResult& result) {
  std::vector<Piece> unknown;
  for (std::size_t next = 0; next < pieces.size();) {
    Part part = pack(pieces, next, {options_.max_items, options_.max_bytes}, life);
    for (Piece& piece : send_part(face, to, part, life, result)) unknown.push_back(std::move(piece));
  }
  return unknown;
}

/// What earlier attempts saved last. It was stored before this attempt was decided, so it is never too old.
Result<std::map<RunId, std::string>> WorkerLink::checkpoints_for(
    const std::vector<core::SendDispatch>& messages) {
  std::vector<RunId> runs;
  for (const core::SendDispatch& message : messages) {
    for (const core::DispatchItem& item : message.items) {
      if (may_have_checkpoint(item)) runs.push_back(item.attempt.run);
    }
  }
  if (runs.empty()) return std::map<RunId, std::string>{};
  return reader_.checkpoints_of(runs);
}

std::vector<Piece> WorkerLink::prepare(const std::vector<core::SendDispatch>& messages, LinkResult& result) {
  std::vector<Piece> pieces;
  core::DispatchAnswered without;
  without.worker = messages.front().worker;
  const auto checkpoints = checkpoints_for(messages);
  const auto refuse = [&](const core::DispatchItem& item, std::string why) {
    without.verdicts.push_back({item.attempt, core::DispatchVerdict::Kind::Unknown,
                                model::Refusal::None, std::move(why)});
  };
  for (const core::SendDispatch& message : messages) {
    for (const core::DispatchItem& item : message.items) {
      const auto definition = definitions_.get(item.job, item.version);
      if (!definition) {
        refuse(item, "its definition: " + definition.error().message);
        continue;
      }
      if (!checkpoints && may_have_checkpoint(item)) {
        refuse(item, "its checkpoint: " + checkpoints.error().message);
        continue;
      }
      pieces.push_back(make_piece(item, *definition));
      if (!may_have_checkpoint(item)) continue;
      const auto saved = checkpoints->find(item.attempt.run);
      if (saved != checkpoints->end()) pieces.back().item.__set_checkpoint(saved->second);
    }
  }
  count(without.verdicts, result);
  if (!without.verdicts.empty()) result.events.emplace_back(std::move(without));
  return pieces;
}

rpc::CallResult<std::vector<thrift::DispatchAnswer>> WorkerLink::call(
    const core::SendDispatch& to, const thrift::DispatchRequest& request) {
  return channels_.call(
      endpoint_of(to.address),
      [&](thrift::WorkerServiceClient& client) {
        std::vector<thrift::DispatchAnswer> answers;
        client.dispatch(answers, request);
        return answers;
      },
      options_.rpc_timeout);
}

std::vector<Piece> WorkerLink::send_part(const TermFace& face, const core::SendDispatch& to, Part& part,
                                         LifeWorks* life, LinkResult& result) {
  const rpc::CallError not_tried{Error(ErrorCode::Unavailable, "the worker is not reachable"), {},
                                 Millis{0}, false, false};
  rpc::CallResult<std::vector<thrift::DispatchAnswer>> answer =
      tl::unexpected<rpc::CallError>(not_tried);
  if (!result.unreachable) {
    part.request.__set_epoch(face.epoch.value);
    part.request.__set_worker_id(to.worker.id);
    part.request.__set_incarnation(to.worker.incarnation);
    ++result.calls;
    answer = call(to, part.request);
  }
  std::vector<Piece> unknown;
  if (answer) unknown = take_unknown(part, *answer);
  if (answer && life != nullptr) {
    for (const auto& work : part.works) life->learned(work->hash, work->weight);
  }
  const auto& items = part.request.items;
  core::DispatchAnswered told;
  told.worker = to.worker;
  told.verdicts = answer ? read_answers(items, *answer) : verdicts_of_failure(items, answer.error());
  count(told.verdicts, result);
  if (!told.verdicts.empty()) result.events.emplace_back(std::move(told));
  if (!answer && is_unreachable(answer.error()) && !result.unreachable) {
    result.unreachable = true;
    result.events.emplace_back(hello_failed(to.worker, answer.error()));
  }
  return unknown;
}

LinkResult WorkerLink::cancel(const TermFace& face, const core::SendCancel& message) {
  thrift::CancelRequest request;
  request.__set_epoch(face.epoch.value);
  request.__set_worker_id(message.worker.id);
  request.__set_incarnation(message.worker.incarnation);
  std::vector<thrift::AttemptKey> attempts;
  for (const auto& key : message.attempts) attempts.push_back(wire::to_wire(key));
  request.__set_attempts(attempts);
  request.__set_grace_ms(message.grace.count());
  LinkResult result;
  for (int tries = 0; tries < 2; ++tries) {
    ++result.calls;
    const auto answer = channels_.call(
        endpoint_of(message.address),
        [&](thrift::WorkerServiceClient& client) { client.cancel(request); }, options_.rpc_timeout);
    if (answer) return result;
    log_warn("dispatch", "a cancel failed",
             {{"worker", message.worker.id}, {"why", answer.error().error.message}});
    note_refusal(message.worker, answer.error(), result);
    if (answer.error().answered || is_unreachable(answer.error())) return result;
  }
  return result;
}

LinkResult WorkerLink::drain(const TermFace& face, const core::SendDrain& message) {
  thrift::DrainRequest request;
  request.__set_epoch(face.epoch.value);
  request.__set_worker_id(message.worker.id);
  request.__set_incarnation(message.worker.incarnation);
  request.__set_draining(message.draining);
  request.__set_order(message.order);
  LinkResult result;
  result.calls = 1;
  const auto answer = channels_.call(
      endpoint_of(message.address),
      [&](thrift::WorkerServiceClient& client) { client.drain(request); }, options_.rpc_timeout);
  if (answer) return result;
  log_warn("dispatch", "a worker was not told of its drain",
           {{"worker", message.worker.id}, {"why", answer.error().error.message}});
  note_refusal(message.worker, answer.error(), result);
  return result;
}

}  // namespace rota::master::dispatch
