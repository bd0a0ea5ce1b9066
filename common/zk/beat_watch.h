// Proves that the beats of a life have stopped, and since when at the latest. A leader uses this to know how
// long ZooKeeper may still vouch for an absent worker.
//
// A watch fires for the first change of its node. So when it reports the node's end, nothing was written to
// the node since it was read: the last beat is not newer than that answer, even if the reading server lagged.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/zk/session.h"

namespace rota::zk {

/// Owner: the Term. It attaches itself to the session, and detaches when destroyed. Thread: the callback
/// on the session's task thread; it must not block.
class BeatWatch final : private SessionObserver {
 public:
  /// The node is gone, and no beat came after `last_before`.
  using Ended = std::function<void(const std::string& name, MonoTime last_before)>;
  BeatWatch(Session& session, std::string folder, Ended ended);
  ~BeatWatch() override;

  /// Watches this node until a beat comes; a repeated call changes nothing meanwhile. Reports nothing about
  /// a node that could not be read or was not watched all the time. Thread: any.
  void watch(const std::string& name);

 private:
  void session_began(Client&) override {}
  void session_suspended() override { read_.clear(); }  // a change and an end meanwhile look like an end
  void session_ended() override { read_.clear(); }
  void watch_fired(Client& client, const Event& event) override;

  Session& session_;
  const std::string folder_;
  const Ended ended_;
  std::map<std::string, MonoTime> read_;  ///< watched names, and when each was read; task thread
};

}  // namespace rota::zk
