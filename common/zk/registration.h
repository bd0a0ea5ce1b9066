// An ephemeral node of our own (a worker's, a master's) that is kept through all sessions: it is created
// again in each, read back to be sure, changed when its data changes, and removed on request.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/zk/session.h"

namespace rota::zk {

struct NodeToRegister {
  std::string name;  ///< `<id>@<incarnation>`, or `<id>`
  std::string data;
};

struct Registered {
  SessionId session = 0;
  std::string name;
  /// Other nodes with the same id (the part before '@') beside ours: a dead life of our own whose session
  /// has not ended yet, or a rival. Nodes that no session owns are left out.
  std::vector<std::string> others;
};

struct RegistrationCallbacks {
  /// What to register in this session. Called once per session, and again after somebody else deleted the
  /// node. After set_data it must return the changed data.
  std::function<NodeToRegister(SessionId)> describe;
  /// The node exists and was read back.
  std::function<void(const Registered&)> registered;
  /// The node is gone: the session ended, or somebody deleted it. It will be created again.
  std::function<void(const std::string& why)> gone;
};

/// It attaches itself to the session, and detaches when destroyed (which leaves the node to the
/// session). Thread: callbacks on the session's task thread; set_data and withdraw from any.
class Registration final : private SessionObserver {
 public:
  Registration(Session& session, std::string folder, RegistrationCallbacks callbacks);
  ~Registration() override;

  /// Changes the data, now and for the present life; repeats the write until it succeeds.
  void set_data(std::string data);
  /// Removes the node for good; waits until it is gone, at most the given time. Unavailable: cut off;
  /// the node vanishes with the session. Harmless when there is none. Not from a callback: see
  /// withdraw_later.
  Result<void> withdraw(Millis at_most);
  /// The same without waiting; for callbacks.
  void withdraw_later();

 private:
  void session_began(Client& client) override;
  void session_resumed(Client& client) override;
  void session_ended() override;
  void watch_fired(Client& client, const Event& event) override;
  void step(Client& client);
  Result<void> create_node(Client& client);
  Result<void> confirm(Client& client);
  Result<void> remove_copy(Client& client, std::int32_t version);
  Result<void> announce(Client& client);
  Result<std::vector<std::string>> others(Client& client);
  Result<void> remove_node(Client& client);
  void lose(const std::string& why);
  void retry_later();
  std::string path() const { return folder_ + "/" + node_.name; }

  Session& session_;
  const std::string folder_;
  const RegistrationCallbacks callbacks_;
  NodeToRegister node_;
  bool described_ = false;
  bool stands_ = false;      ///< reported as registered
  bool withdrawn_ = false;
  bool retry_pending_ = false;
};

}  // namespace rota::zk
