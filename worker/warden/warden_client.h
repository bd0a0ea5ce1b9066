// The worker proper's side of the warden: what it calls to start, kill and vouch, and where it hears
// what happened. One object per process; it makes no thread of its own.
//
//   auto warden = WardenClient::from_environment();      // first thing in the proper
//   warden->list(1);                                     // adopt what an earlier life left
//   reader thread: while (!stop) for (Notice& n : warden->receive(Millis{200}).value()) ...
//   any thread:    warden->start({...}); warden->vouch(until);
//
// Nothing starts before the first vouch(). The proper sets up its signal handlers before its first
// request: a TERM or INT that came earlier is passed on then. It ends with 0 (drained) or 2 (wrong
// configuration, rival) when it means it; any other end is a crash, and the next life starts at once.
// It forgets an attempt only when it has read the pipes to their end and the outcome is safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "worker/warden/wire.h"

namespace rota::worker::warden {

/// Names the descriptor of the socket in the proper's environment.
inline constexpr const char* kSocketVariable = "ROTA_WARDEN_FD";

/// Owner: the proper's main; outlives every part that uses it. Thread: the requests from any thread;
/// receive() from one. Requests wait at most 500 ms for room in the socket, then Overloaded (surely
/// not sent). Unavailable: the warden is gone, and the kernel is about to end this process too.
class WardenClient {
 public:
  /// Adopts the socket that the warden left in ROTA_WARDEN_FD (and removes the variable, so that no
  /// child inherits it). NotFound: not started by a warden.
  static Result<std::unique_ptr<WardenClient>> from_environment();
  /// On a socket of the caller's own making, for tests.
  explicit WardenClient(UniqueFd socket);

  /// Asks for a start; the answer is a Started or Ended notice with the same key.
  Result<void> start(const Start& start);
  Result<void> kill(const AttemptKey& key, Millis grace, KilledBy by = KilledBy::Cancel);
  Result<void> forget(const AttemptKey& key);
  Result<void> vouch(MonoTime until);
  Result<void> list(std::uint64_t token);
  /// Asks for a pong; receive() notes the time of the answer (and hands the Pong on like the rest).
  Result<void> ping();

  /// What has come, waiting at most `timeout` for the first. Empty: nothing came. Unavailable: the
  /// warden is gone. Corrupt: a message that cannot be read was dropped; go on.
  Result<std::vector<Notice>> receive(Millis timeout);
  /// Readable when receive() has something; for a caller that polls.
  int fd() const { return socket_.get(); }

  /// True when every ping older than `within` has been answered (and true before the first ping).
  /// The proper beats and renews only while this holds (500 ms).
  bool is_answering(Millis within = Millis{500}) const;

 private:
  Result<void> send(const Request& request);
  void note_pong(std::uint64_t token);

  UniqueFd socket_;
  mutable std::mutex mutex_;  // guards the pings only
  std::uint64_t last_ping_ = 0;
  std::deque<std::pair<std::uint64_t, MonoTime>> unanswered_;  // oldest first, at most 64
};

}  // namespace rota::worker::warden
