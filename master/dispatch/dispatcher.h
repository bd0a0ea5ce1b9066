// Carries hellos, attempts and cancellations to workers, off the loop. Messages to one worker keep
// their order (hello before dispatch), messages to different workers do not wait for each other;
// what waits for a busy worker goes as one batch. Answers come back as events of the Term.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/worker.h"
#include "master/core/event.h"
#include "master/dispatch/sender.h"
#include "master/store/reader.h"

namespace rota::master::dispatch {

struct DispatcherOptions {
  int threads = 16;
  Millis rpc_timeout{2000};
  Millis grant{5000};                                ///< how long a renewal vouches; hello tells it
  std::size_t max_items = 500;                       ///< attempts in one call
  std::size_t max_bytes = std::size_t{3} << 20;      ///< of one call, estimated
  std::size_t max_queued = 100'000;                  ///< attempts not sent yet, of all workers
  std::size_t cached_definitions = 10'000;
  std::size_t cached_bytes = std::size_t{64} << 20;
};

/// Receives the events of a Term: HelloAnswered, HelloFailed, DispatchAnswered. Called by dispatch threads
/// and by send(); never blocks.
using EventPort = std::function<void(core::Event)>;

/// What the dispatcher says on behalf of a Term.
struct TermFace {
  Epoch epoch;
  std::string cluster_uuid;
  model::Address leader;        ///< where workers report to
  EventPort port;
};

struct DispatchCounters {
  std::int64_t calls = 0;
  std::int64_t attempts_sent = 0;
  std::int64_t refused_old_epoch = 0;   ///< commands that a worker refused because we are deposed
  std::int64_t unknown = 0;             ///< attempts whose answer was lost
  std::int64_t dropped = 0;             ///< messages and answers of a Term that had ended
  std::int64_t works_lost = 0;          ///< attempts sent again: their worker did not know their work
};

/// Belongs to Master: its threads outlive Terms. Thread: send by the loop; the rest by any.
class Dispatcher final : public Sender {
 public:
  /// `reader` outlives it.
  Dispatcher(store::Reader& reader, DispatcherOptions options = {});
  ~Dispatcher() override;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  /// From now on messages of this epoch are carried and answered through the port.
  void begin_term(TermFace face);
  /// After it returns the port is not called any more: queued messages are dropped, and so are answers that
  /// are still under way. Does not wait for calls to workers. Do not hold a lock that the port takes.
  /// Harmless without a Term.
  void end_term();

  /// See Sender. A message of another epoch than the Term's is dropped.
  void send(Epoch epoch, core::Send message) override;

  DispatchCounters counters() const;

  /// Ends the threads; waits for calls under way (at most the RPC timeout). Twice is fine.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota::master::dispatch
