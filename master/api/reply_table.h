// The replies that API threads wait for: a token goes into the loop with an event, the loop's reply
// wakes the thread that waits for it. Whatever happens to the Term, every wait ends.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "common/base/result.h"
#include "common/base/time.h"
#include "master/api/leader_port.h"

namespace rota::master::api {

/// Belongs to the API server; outlives Terms. Thread: any.
class ReplyTable final : public ReplySink {
 public:
  explicit ReplyTable(std::size_t most_open, Millis stall = Millis{1000})
      : most_open_(most_open), stall_(stall) {}

  /// A new token. Overloaded when too many are open, or when many threads wait and no reply has come for
  /// a second (the leader waits for its database): queries must still find threads. Unavailable
  /// once closed.
  Result<Token> open();
  /// The reply, or an Error of UnknownOutcome when the deadline passed or the table was closed: the
  /// event went in, so it may have been done. Uses the token up; a later reply to it is dropped.
  core::ReplyBody wait(Token token, MonoTime deadline);
  /// Gives up a token whose event did not go in.
  void forget(Token token);

  void reply(Token token, core::ReplyBody body) override;

  /// Ends every wait, now and from now on.
  void close();
  std::size_t open_count() const;
  /// Threads in wait().
  int waits() const;

 private:
  static constexpr int kManyWaits = 24;       // of the API's 64 threads

  bool is_stalled() const;

  /// With a lock of its own: who is woken by a reply finds it free, while the loop goes on to the next one.
  struct Slot {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<core::ReplyBody> body;
    bool is_closed = false;
  };

  std::shared_ptr<Slot> begin_wait(Token token, MonoTime now);

  const std::size_t most_open_;
  const Millis stall_;                        ///< so long without a reply means more than load
  mutable std::mutex mutex_;
  std::unordered_map<Token, std::shared_ptr<Slot>> slots_;  // shared: a waiter holds its own
  std::int64_t last_token_ = 0;
  std::atomic<int> waits_{0};
  MonoTime moved_{};                          ///< the last reply, or the first wait after none
  bool closed_ = false;
};

}  // namespace rota::master::api
