// The calls to a worker, with their answers as events.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "WorkerService.h"
#include "common/rpc/channel_pool.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/dispatch/definition_cache.h"
#include "master/dispatch/dispatch_batch.h"
#include "master/dispatch/dispatcher.h"
#include "master/dispatch/kept_works.h"

namespace rota::master::dispatch {

/// The result of one message.
struct LinkResult {
  std::vector<core::Event> events;   ///< in the order in which they must be posted
  bool unreachable = false;          ///< the worker could not be connected to
  std::int64_t calls = 0;
  std::int64_t unknown = 0;
  std::int64_t old_epoch = 0;
  std::int64_t works_lost = 0;       ///< attempts that had to go again with what they run
};

/// Thread: any.
class WorkerLink {
 public:
  WorkerLink(store::Reader& reader, const DispatcherOptions& options);

  /// A new Term: every worker is greeted anew.
  void begin_term() { kept_.clear(); }
  LinkResult hello(const TermFace& face, const core::SendHello& message);
  /// Dispatches of one worker, as few calls as the limits allow.
  LinkResult dispatch(const TermFace& face, const std::vector<core::SendDispatch>& messages);
  /// Its ends come as reports; a call that failed unclearly is made once more.
  LinkResult cancel(const TermFace& face, const core::SendCancel& message);
  /// Not answered: the core tells it again.
  LinkResult drain(const TermFace& face, const core::SendDrain& message);

 private:
  Result<std::map<RunId, std::string>> checkpoints_for(
      const std::vector<core::SendDispatch>& messages);
  std::vector<Piece> prepare(const std::vector<core::SendDispatch>& messages, LinkResult& result);
  std::vector<Piece> send_all(const TermFace& face, const core::SendDispatch& to, std::vector<Piece>& pieces,
                              LifeWorks* life, LinkResult& result);
  std::vector<Piece> send_part(const TermFace& face, const core::SendDispatch& to, Part& part,
                               LifeWorks* life, LinkResult& result);
  rpc::CallResult<std::vector<thrift::DispatchAnswer>> call(const core::SendDispatch& to,
                                                            const thrift::DispatchRequest& request);

  const DispatcherOptions options_;
  store::Reader& reader_;
  DefinitionCache definitions_;
  KeptWorks kept_;
  rpc::ChannelPool<thrift::WorkerServiceClient> channels_;
};

}  // namespace rota::master::dispatch
