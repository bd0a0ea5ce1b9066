// Sends the chunks of the spool to a master, in order within a stream, again until they are stored.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "worker/report/leader_channel.h"
#include "worker/run/spool.h"

namespace rota::worker::report {

struct ShipperOptions {
  Millis rpc_deadline{2000};
  std::int64_t batch_bytes = 1 << 20;
  Millis backoff_first{50};
  Millis backoff_most{2000};
};

/// Owner: the worker. One thread of its own.
class LogShipper {
 public:
  LogShipper(ShipperOptions options, run::Spool& spool, const desk::LeaderAddress& leader)
      : options_(options), spool_(spool), channel_(leader) {}
  ~LogShipper();

  void start();
  /// Ends the thread; what is not sent stays in the spool. Twice is fine.
  void stop();
  /// Bytes of output that a master has acknowledged, in this life.
  std::int64_t acknowledged_bytes() const { return acknowledged_bytes_; }
  /// Streams whose rest a master refused for good, in this life.
  std::int64_t streams_given_up() const { return streams_given_up_; }

 private:
  void loop(std::stop_token stop);
  bool ship(const std::vector<run::PendingChunk>& chunks);
  bool apply_answer(const std::vector<run::PendingChunk>& chunks,
                   const std::vector<std::int64_t>& ends);
  rpc::CallResult<std::vector<std::int64_t>> send(const std::vector<run::PendingChunk>& chunks);
  bool ship_one_by_one(const std::vector<run::PendingChunk>& chunks);

  const ShipperOptions options_;
  run::Spool& spool_;
  LeaderChannel channel_;
  std::atomic<std::int64_t> acknowledged_bytes_ = 0;
  std::atomic<std::int64_t> streams_given_up_ = 0;
  std::jthread thread_;
};

}  // namespace rota::worker::report
