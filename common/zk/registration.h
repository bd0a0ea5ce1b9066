// An ephemeral node of our own (a worker's, a master's) that is kept through all sessions: made
// anew in each, read back to be sure, changed when its data changes, and taken away on request.
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
  /// Other nodes of the same id (the part before '@') that stand beside ours: an own dead life that
  /// is not ended yet, or a rival. Nodes that no session owns are nobody's life, and left out.
  std::vector<std::string> others;
};

struct RegistrationCallbacks {
  /// What to register in this session; asked once per session, and again after the node was deleted
  /// by someone else. After set_data it must give the changed data too.
  std::function<NodeToRegister(SessionId)> describe;
  /// The node stands, and was read back.
  std::function<void(const Registered&)> registered;
  /// The node is gone: session ended, or deleted by hand. It will be made again.
  std::function<void(const std::string& why)> gone;
};

/// It attaches itself to the session, and detaches when destroyed (which leaves the node to the
/// session). Thread: callbacks on the session's task thread; set_data and withdraw from any.
class Registration final : private SessionObserver {
 public:
  Registration(Session& session, std::string folder, RegistrationCallbacks callbacks);
  ~Registration() override;

  /// Changes the data, now and for the present life; written again until it stands.
  void set_data(std::string data);
  /// Takes the node away for good; waits until it is gone, at most the time given. Unavailable: cut
  /// off, it goes with the session. Harmless when there is none. Not from a callback: see
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
  bool stands_ = false;      ///< told as registered
  bool withdrawn_ = false;
  bool retry_pending_ = false;
};

}  // namespace rota::zk
