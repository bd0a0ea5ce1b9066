// Which workers are here: their nodes as the leader sees them. It lives as long as the Term.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/model/worker.h"
#include "common/zk/membership.h"
#include "common/zk/paths.h"

namespace rota::master::cluster {

/// Thread: called on the session's task thread; it may only post.
struct WorkerWatchCallbacks {
  std::function<void(const model::WorkerInfo&)> appeared;
  std::function<void(const model::WorkerInfo&)> changed;   ///< e.g. draining
  std::function<void(const model::WorkerKey&)> vanished;
  /// A full listing of this session was delivered; called after the changes of that listing. Before the first
  /// one nobody knows which workers are absent.
  std::function<void()> synced;
  /// A listing that began after confirm(number) was delivered; called after the changes of that listing.
  std::function<void(std::int64_t number)> confirmed{};
};

/// Workers whose node cannot be read as a worker's are left out, and logged.
class WorkerWatch {
 public:
  WorkerWatch(zk::Session& session, const zk::Paths& paths, WorkerWatchCallbacks callbacks);
  ~WorkerWatch();

  /// Lists again, after a write (zk::Membership::confirm). Thread: any.
  void confirm(std::int64_t number) { membership_->confirm(number); }
  /// Nodes that are no worker's, and workers that are awaited. Thread: any.
  zk::MembershipTrouble trouble() const { return membership_->trouble(); }

 private:
  void tell(const zk::MembershipChange& change);
  void read_one(const std::string& name, const std::string& data);
  void forget_one(const std::string& name);

  const WorkerWatchCallbacks callbacks_;
  std::map<std::string, model::WorkerInfo> known_;  ///< told, by the node's name
  std::unique_ptr<zk::Membership> membership_;      ///< last: it calls tell
};

}  // namespace rota::master::cluster
