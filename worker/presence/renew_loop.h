// Asks the leader, again and again, to vouch for this worker. An answer is worth the grant, counted from
// the moment the request was sent.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/model/worker.h"
#include "worker/report/leader_channel.h"

namespace rota::worker::presence {

struct RenewOptions {
  Millis every{1000};
  Millis rpc_deadline{2000};
  Millis retry{200};
};

/// How the worker and its attempts fare, each with the age of its figures (`sampled` is not looked at).
struct Figures {
  struct OfAttempt {
    model::AttemptUsage usage;
    Millis age{0};
  };
  std::optional<model::WorkerVitals> vitals;  ///< unset: nothing is known yet
  Millis vitals_age{0};
  std::vector<OfAttempt> attempts;
  bool has_part_of_attempts = false;   ///< the others follow with the next renewals
};

/// Whom it asks for and tells. Called on its thread.
struct RenewParts {
  std::function<model::WorkerKey()> life;                       ///< the present one
  std::function<void(MonoTime sent, Millis grant)> vouched;     ///< answered: worth `grant` from `sent` on
  std::function<bool()> may_renew;                              ///< registered, and the warden answers
  std::function<Figures()> figures{};                           ///< travel along; unset: none
};

/// When a leader last vouched for this worker.
struct LastRenewal {
  Epoch epoch;    ///< of the leader that did
  MonoTime sent;  ///< when it was asked: its answer came later
};

/// Owner: the worker. One thread of its own.
class RenewLoop {
 public:
  RenewLoop(RenewOptions options, RenewParts parts, const desk::LeaderAddress& leader);
  ~RenewLoop();
  void start();
  void stop();
  /// Unset: no leader has yet. Thread: any.
  std::optional<LastRenewal> last() const;

 private:
  void loop(std::stop_token stop);
  bool renew(const desk::KnownLeader& known);

  const RenewOptions options_;
  const RenewParts parts_;
  const desk::LeaderAddress& leader_;
  report::LeaderChannel channel_;
  mutable std::mutex mutex_;
  std::optional<LastRenewal> last_;  ///< by mutex_
  std::jthread thread_;
};

}  // namespace rota::worker::presence
