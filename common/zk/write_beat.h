// ZooKeeper's voucher for a worker: the worker writes an ephemeral node of its own, which nobody watches, six
// times per session timeout. The lease is counted from the send time of the last answered write.
#pragma once

#include <functional>
#include <string>

#include "common/zk/lease_rules.h"
#include "common/zk/session.h"

namespace rota::zk {

struct Beat {
  SessionId session = 0;
  MonoTime lease_end{};  ///< on CLOCK_BOOTTIME
};

struct WriteBeatOptions {
  std::string folder;                             ///< Paths::beats()
  std::function<std::string(SessionId)> name;     ///< `<id>@<incarnation>` of this session
  Millis server_tick{500};
  std::function<bool()> may_beat;                 ///< empty: always. False: this beat is skipped
  std::function<void(const Beat&)> answered;      ///< a write was answered; the lease was extended
};

/// It attaches itself to the session, and detaches when destroyed (which leaves the node to the
/// session). Thread: callbacks on the session's task thread; they must not block.
class WriteBeat final : private SessionObserver {
 public:
  WriteBeat(Session& session, WriteBeatOptions options);
  ~WriteBeat() override;

 private:
  void session_began(Client& client) override;
  void session_resumed(Client& client) override;
  void session_ended() override;
  void beat(Client& client);
  Result<void> write(Client& client);
  void beat_again(MonoTime sent, Millis after);

  Session& session_;
  const WriteBeatOptions options_;
  LeaseTiming timing_;
  std::string path_;
  MonoTime lease_end_{};
  bool exists_ = false;
  int round_ = 0;  ///< number of the chain of beats; an older chain ends
};

}  // namespace rota::zk
