// Asks the leader, again and again, to vouch for this worker. An answer is worth the grant, counted from
// the moment the request was sent.
#pragma once

#include <functional>
#include <thread>

#include "worker/report/leader_channel.h"
#include "worker/run/runner.h"

namespace rota::worker::presence {

struct RenewOptions {
  Millis every{1000};
  Millis rpc_deadline{2000};
  Millis retry{200};
};

/// Owner: the worker. One thread of its own.
class RenewLoop {
 public:
  /// It asks only while `may_renew` says so: registered once, and the warden answers.
  RenewLoop(RenewOptions options, run::Runner& runner, const run::LeaderAddress& leader,
            std::function<bool()> may_renew);
  ~RenewLoop();
  void start();
  void stop();

 private:
  void loop(std::stop_token stop);
  bool renew(const run::KnownLeader& known);

  const RenewOptions options_;
  run::Runner& runner_;
  const run::LeaderAddress& leader_;
  report::LeaderChannel channel_;
  const std::function<bool()> may_renew_;
  std::jthread thread_;
};

}  // namespace rota::worker::presence
