// Collects what attempts print: waits for their pipes on the runner's epoll, moves the bytes into the
// spool, closes chunks in time, and says at the end how much there was. The pipes are always drained.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/base/unique_fd.h"
#include "worker/run/end_rules.h"
#include "worker/run/spool.h"

namespace rota::worker::run {

/// Owner: the runner. Thread: the runner's own.
class OutputCollector {
 public:
  /// `epoll` outlives it; tokens at or above `first_token` are its own.
  OutputCollector(Spool& spool, int epoll, std::uint64_t first_token, StreamLimits limits)
      : spool_(spool), epoll_(epoll), next_token_(first_token), limits_(limits) {}

  /// Begins to read from this pipe. `cap_bytes` is the attempt's own; 0: the worker's.
  void watch(StreamKey key, UniqueFd pipe, std::int64_t cap_bytes);
  /// What another pipe gives follows what came out of the first, which is read to its end. `mark` stands
  /// between the two, should the second have anything to say.
  void follow(StreamKey key, UniqueFd pipe, std::int64_t cap_bytes, std::string mark, MonoTime now);
  /// epoll said that the pipe of this token has something, or was closed.
  void handle(std::uint64_t token, std::uint32_t events, Now now);
  /// Closes the chunks that are due.
  void fix_due(Now now);
  /// When there is something to fix; empty: nothing.
  std::optional<MonoTime> next_due() const;
  /// The attempt is over: reads what its pipes still hold, and fixes everything.
  OutputTotals finish(model::AttemptKey attempt, Now now);

 private:
  struct Pipe {
    UniqueFd fd;
    std::uint64_t token = 0;
    std::int64_t cap_bytes = 0;
    std::unique_ptr<SpoolStream> stream;  ///< made with the first byte
    bool is_failed = false;               ///< the spool could not be opened
    std::int64_t lost = 0;
    std::string mark;                     ///< comes before the next byte
  };
  void put_mark(const StreamKey& key, Pipe& pipe, MonoTime now);
  void collect(const StreamKey& key, Pipe& pipe, std::int64_t budget, MonoTime now);
  bool open_stream(const StreamKey& key, Pipe& pipe);
  void drop(Pipe& pipe);
  void note(const StreamKey& key, const Pipe& pipe);

  Spool& spool_;
  const int epoll_;
  std::uint64_t next_token_;
  const StreamLimits limits_;
  std::map<StreamKey, Pipe> pipes_;
  std::unordered_map<std::uint64_t, StreamKey> tokens_;
};

}  // namespace rota::worker::run
