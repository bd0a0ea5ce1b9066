// What the desk knows of whatever runs its attempts: how an attempt is started and ended, and what is
// heard of it. worker/run runs them as processes and as handlers of this program; a bridge to executors
// of another kind would implement the same interface.
//
// Life of an attempt: start() -> started -> said... -> ended -> outcomes_stored() -> outcomes_acknowledged().
// An attempt of an earlier start of this program begins with adopted instead.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "worker/desk/order.h"

namespace rota::worker::desk {

/// Why the desk ends an attempt.
enum class EndReason {
  Cancelled,   ///< the leader asked for it
  HandedOver,  ///< this worker stops; another one runs it again
  Unvouched,   ///< nobody vouches for the worker any more
};

/// An order that can never be started here.
struct Unfit {
  model::Refusal refusal = model::Refusal::Malformed;
  std::string detail;
};

/// An attempt that has outlived an earlier start of this program.
struct Adopted {
  model::AttemptKey key;
  model::WorkerKey life;           ///< in which it was accepted
  WallTime started{};
  Millis disconnect_grace{0};
  model::Demand demand = {};
};

/// What a runner tells the desk. Everything is passed by value and nothing waits. The runner holds no lock
/// of its own in these calls, since the desk may call it back. Thread: any.
class AttemptEvents {
 public:
  virtual ~AttemptEvents() = default;
  /// False: the desk holds it already, with its outcome in the outbox, so the runner may forget it.
  virtual bool adopted(const Adopted& attempt) = 0;
  virtual void started(model::AttemptKey key, const model::WorkerKey& life, WallTime when) = 0;
  /// An attempt that runs said something of itself. The note names the attempt.
  virtual void said(model::RunNote note) = 0;
  /// Exactly once for each attempt that was started or adopted, also when it could not be run after all.
  virtual void ended(model::AttemptKey key, const model::WorkerKey& life, model::Outcome outcome) = 0;
  /// What ends attempts by itself when a voucher lapses does not answer now. Then the desk looks by
  /// itself who must be ended. The runner calls it again and again while that lasts.
  virtual void vouchers_unguarded(MonoTime now) = 0;
};

/// Owner: the worker, which stops it before the desk goes. Thread: any.
class AttemptRunner {
 public:
  virtual ~AttemptRunner() = default;

  /// Finds what an earlier start of this program left, tells of each with adopted, and begins to run.
  /// `events` outlives it; `unreported`: attempts whose outcomes wait in the outbox. TimedOut,
  /// Unavailable: what holds the attempts does not answer.
  virtual Result<void> open(AttemptEvents& events, const std::set<model::AttemptKey>& unreported) = 0;

  /// What makes this order impossible here: its handler, its user, its command. Empty: nothing.
  virtual std::optional<Unfit> check(const Order& order) const = 0;
  /// Starts an attempt that the desk has accepted for the life `envelope.to`. After an error nothing of it
  /// runs, and no event of it comes; otherwise ended comes in any case.
  virtual Result<void> start(const Envelope& envelope, const Order& order) = 0;
  /// Ends an attempt: it is asked to stop, and after its grace it is forced to. Empty: the order's own
  /// grace. Unknown attempts are ignored. It may come while start() is under way, and again for the
  /// same attempt; the first reason counts. Its end is told by ended.
  virtual void end(model::AttemptKey key, EndReason why, std::optional<Millis> grace) = 0;

  /// Somebody vouches for the worker up to here. Without a later call every attempt ends by itself at that
  /// moment plus its disconnect grace. Called under the desk's lock, so it calls nothing of the desk.
  virtual void vouch(MonoTime until) = 0;
  /// The runner is able to end what it runs, so that the worker may go on to claim that it lives.
  virtual bool is_in_control() const = 0;

  /// These outcomes are written: a later start need not hear of these attempts again.
  virtual void outcomes_stored(const std::vector<model::AttemptKey>& keys) = 0;
  /// The leader has stored these outcomes.
  virtual void outcomes_acknowledged(const std::vector<model::AttemptKey>& keys) = 0;
};

}  // namespace rota::worker::desk
