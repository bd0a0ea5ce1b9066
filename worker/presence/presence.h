// Tells the cluster about this worker: its node in ZooKeeper, the beat that earns ZooKeeper's voucher,
// and the renewals that earn the leader's. A new session is a new life with a new incarnation.
//
// ZooKeeper's voucher counts only from the moment this worker's own node was read back in the same
// session: until then the leader may think that the worker is absent.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "common/model/worker.h"
#include "common/zk/paths.h"
#include "common/zk/registration.h"
#include "common/zk/session.h"
#include "common/zk/write_beat.h"
#include "worker/desk/attempt_desk.h"

namespace rota::worker::presence {

struct PresenceOptions {
  std::string cluster;
  std::string home;                  ///< names the state folder, see model::home_of
  zk::SessionOptions session;
  Millis server_tick{500};
  /// How long a node of our id and another home may outlast the end of earlier sessions.
  Millis rival_patience{1000};
};

/// What presence needs of the others.
struct PresenceParts {
  zk::ClientFactory make_client;
  desk::AttemptDesk& desk;
  std::function<void(const std::string& why)> rival;  ///< another worker with this id lives: exit 2
};

/// Owner: the worker. Callbacks run on the session's task thread. Thread: any.
class Presence {
 public:
  /// `info` is complete except for its incarnation.
  Presence(PresenceOptions options, PresenceParts parts, model::WorkerInfo info);
  ~Presence();

  /// Begins to connect and to register, for as long as it takes.
  void start();
  /// Removes the node and closes the session; at once when ZooKeeper is reached.
  void stop();

  /// Whether new attempts are accepted, and what the leader last said about it: written to the node.
  /// `stops_at`: it was told to stop, and then hands over what still runs.
  void set_draining(const model::DrainAck& ack, std::optional<WallTime> stops_at = {});
  /// How the worker fares, for leaders that read no figures from renewals: written to the node.
  void set_vitals(const model::WorkerVitals& vitals);

  /// The node stands in the present session, was read back, and ZooKeeper's epoch is known.
  bool is_registered() const { return registered_.load(); }
  /// Whether the session has a connection just now. A node outlasts a connection.
  bool is_connected() const { return session_.is_connected(); }
  /// Waits for is_registered, at most so long.
  bool wait_registered(Millis at_most) const;

 private:
  void write_node();
  zk::NodeToRegister describe(zk::SessionId session);
  std::string name_for(zk::SessionId session);
  std::string new_incarnation() const;
  void on_registered(const zk::Registered& registered);
  Millis patience_with(const std::vector<std::string>& others) const;
  void on_gone(const std::string& why);
  void on_beat(const zk::Beat& beat);
  void settle(int tries);
  bool read_cluster();
  bool others_are_gone();

  const PresenceOptions options_;
  PresenceParts parts_;
  const zk::Paths paths_;
  zk::Session session_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  model::WorkerInfo info_;

  // the session's task thread only
  zk::SessionId life_session_ = 0;    ///< the session in which the present incarnation was made
  bool life_is_used_ = false;         ///< it has stood as a node
  zk::Registered standing_;
  zk::Beat last_beat_;

  std::atomic<bool> registered_ = false;
  std::unique_ptr<zk::WriteBeat> beat_;
  std::unique_ptr<zk::Registration> registration_;
};

}  // namespace rota::worker::presence
