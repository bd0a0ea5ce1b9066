// Keeps one ZooKeeper session as long as the process lives: when it expires, a new one is started,
// forever, with backoff. Election, registration, beat and membership are its observers; they
// create their nodes again in each new session.
//
// After a cut of any length the session continues if the servers still know it. But the library's handle
// cannot come back to servers that have lost data. So after the negotiated timeout without a connection,
// the session gets a new handle (reattach_rules.h). Only the answer "expired" starts a new
// session.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/zk/client.h"
#include "common/zk/session_file.h"
#include "common/zk/task_thread.h"

namespace rota::zk {

/// Gets the events of the session. Thread: the session's task thread only, so it may call the client
/// (which blocks that thread) but must not wait for other threads that wait for this one.
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  /// A new session; ephemeral nodes and watches of earlier sessions no longer count.
  virtual void session_began(Client& client) = 0;
  /// The connection is lost; the session may or may not survive.
  virtual void session_suspended() {}
  /// The same session is connected again; its watches are still armed.
  virtual void session_resumed(Client&) {}
  /// The same session is connected again by a new handle: none of its watches is armed, and data that
  /// was read before may be gone or older now. Observers that only read again need not override this.
  virtual void session_reattached(Client& client) { session_resumed(client); }
  /// The session expired, or stop closed it: its ephemeral nodes are gone (or will be).
  virtual void session_ended() = 0;
  /// A watch of this session fired, maybe one of another observer: check the path.
  virtual void watch_fired(Client&, const Event&) {}
};

struct SessionOptions {
  ClientOptions client;
  std::string session_file;          ///< empty: none is written
  std::string cluster_uuid;          ///< for the session file
  Millis backoff_first{50};          ///< before a new session after a failed one; doubles
  Millis backoff_most{2000};
};

/// Owner: the process. Observers must be detached before they die, and must die before the session.
/// Thread: any, unless said otherwise.
class Session {
 public:
  Session(ClientFactory factory, SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Begins to connect; returns at once.
  void start();
  /// Ends the session cleanly (its ephemeral nodes vanish at once), removes the session file when the
  /// server was told, and ends the thread. True when the server was told. A second call is fine.
  bool stop();

  /// The observer gets session_began at once (on the task thread) when there is a session.
  void attach(SessionObserver& observer);
  /// When it returns, the observer gets no more events and none of its tasks runs.
  void detach(SessionObserver& observer);

  /// The thread on which observers run their own work; the owner tag is the observer's address.
  TaskThread& tasks() { return tasks_; }

  /// The present session's client, which may be cut off (while the session waits for another handle, each
  /// call fails at once); null before the first connection and after an expiry. Shared, because a
  /// caller's blocking call may outlast the session in which it began.
  std::shared_ptr<Client> client() const;
  /// Connected right now, as far as this side knows.
  bool is_connected() const { return connected_.load(); }
  /// Waits until a session is connected; for the start and for tools. TimedOut.
  Result<std::shared_ptr<Client>> wait_connected(Millis at_most);

  /// Ends the sessions of earlier lives of this process that the session file names. See
  /// session_file.h.
  Result<int> end_earlier_sessions(DeathProof proof);

 private:
  void open();
  void open_later();
  void handle(int serial, const Event& event);
  void on_connected();
  void on_suspended(const Event& event);
  void on_expired();
  void begin();
  void reattach_later(Millis delay);
  void reattach();
  void come_back();
  bool end_session();
  void record_session();
  template <typename Call>
  void tell(Call call);

  const ClientFactory factory_;
  const SessionOptions options_;
  SessionFile file_;
  // task thread only
  int serial_ = 0;           ///< of the present client; events of older ones are dropped
  bool began_ = false;
  int turns_ = 0;            ///< changes of the connection; plans from before the last one are void
  bool reattached_ = false;  ///< the present client is a later handle that was not reported yet
  Credentials held_;         ///< of the session that began
  Millis timeout_{0};        ///< negotiated for it
  Millis backoff_;
  std::vector<SessionObserver*> observers_;
  std::shared_ptr<Client> opening_;  ///< the present client, connected or not yet
  // any thread
  std::atomic<bool> connected_ = false;
  std::atomic<bool> started_ = false;
  std::atomic<bool> stopped_ = false;
  bool told_server_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Client> client_;
  TaskThread tasks_;  ///< last: its thread ends before the other members are destroyed
};

}  // namespace rota::zk
