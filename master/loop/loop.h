// The machine around the core: takes events from the inbox, lets the core decide, has the decision
// stored in one fenced transaction, and only then lets messages and replies go (law 2).
//
// While a large batch is being stored, the next one is decided. It waits for the first: its rows are stored
// after it, and what it says leaves after its own rows. This is safe because nothing goes back: if the first
// one can not be stored, the Term ends, and both are thrown away with all that was decided.
//
// The database should not wait for the loop. When it has all rows of the first batch and only its COMMIT is
// missing, a large next one is put into statements. When the first is stored, the next goes to the store
// before the words of the first leave.
//
// A batch that could not be stored, or whose outcome is unknown, is tried again unchanged until it is stored,
// another epoch is found, or store_give_up has passed. Until then nothing else is handled and nothing leaves.
// The last two end the Term.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "master/core/effect.h"
#include "master/core/scheduler.h"
#include "master/core/snapshot.h"
#include "master/dispatch/sender.h"
#include "master/loop/delay_watch.h"
#include "master/loop/batch_bound.h"
#include "master/loop/inbox.h"
#include "master/loop/storing.h"
#include "master/loop/violations_met.h"
#include "master/store/store.h"

namespace rota::master::loop {

/// So many renewals are answered without waiting for more: each of them holds one of the API's 64 threads.
inline constexpr std::size_t kRenewalsMost = 40;

struct LoopOptions {
  Millis store_give_up{6000};          ///< how long a batch is tried before the Term ends
  Millis check_within{200};            ///< how long a renewal may wait for a batch to be answered with
  Millis snapshot_every{100};          ///< shortest pause between two snapshots
  Millis snapshot_most{1000};          ///< longest pause: one that takes long is made less often
  Millis retry_first{10};              ///< pause before a batch is tried again; doubles
  Millis retry_most{500};
  Millis idle_wake{500};               ///< longest sleep: the wall clock may jump meanwhile
  std::size_t events_per_turn = 2000;  ///< also of one batch while another is being stored
  std::size_t beside_from = 64;        ///< a batch with so many rows is stored beside the loop
};

/// Why a Term ended.
struct TermEnd {
  enum class Why {
    Fenced,         ///< the database holds another epoch
    StoreLost,      ///< store_give_up has passed
    Contradicted,   ///< the store refused a batch that no repeat can repair
    HigherEpoch,    ///< a worker knows a higher epoch
    Resigned,       ///< stop was asked for
  };
  Why why = Why::Resigned;
  std::string detail;
  Epoch found;                         ///< the epoch in force, where known
  bool database_went_back = false;     ///< Contradicted: the database lacks what this Term stored
};
std::string_view name_of(TermEnd::Why why);

/// Counters for metrics. Thread: any.
struct LoopCounters {
  std::atomic<std::int64_t> turns{0};
  std::atomic<std::int64_t> events{0};
  std::atomic<std::int64_t> batches{0};        ///< applied, with rows
  std::atomic<std::int64_t> bare_checks{0};    ///< applied, without rows
  std::atomic<std::int64_t> beside{0};         ///< decided, with rows, while another was stored
  std::atomic<std::int64_t> prepared{0};       ///< of them, put into words while another's COMMIT was awaited
  std::atomic<std::int64_t> reruns{0};         ///< tries beyond the first of a batch
  std::atomic<std::int64_t> unknown_applies{0};
  std::atomic<std::int64_t> stale_refused{0};  ///< batches refused because another epoch is in force
};

/// Where replies go: the API server's sink. Never blocks, may be called by the loop's thread only.
using ReplyTo = std::function<void(Token, core::ReplyBody)>;

/// What the loop works with. All outlive it.
struct LoopParts {
  core::Scheduler& scheduler;
  store::Store& store;
  dispatch::Sender& sender;
  ReplyTo reply;
  const Clock& clock;
  Inbox& inbox;
  /// Effects::list_workers. Unset: whoever watches the workers is always up to date (tests).
  std::function<void(std::int64_t asked)> list_workers{};
  /// Called, seldom, with what delayed the loop; by the loop's thread. Unset: nobody wants to know.
  std::function<void(const Delay&)> delayed{};
  /// Effects::watch_beats. Unset: nobody looks (tests).
  std::function<void(const model::WorkerKey&)> watch_beats{};
  /// Effects::notices, once their rows are stored. Unset: nobody wants to know (tests).
  std::function<void(const core::Notice&)> notice{};
  /// An invariant of the core is broken: a bug. Told once each. Unset: nobody wants to know (tests).
  std::function<void(const core::Violation&)> violated{};
  /// Stores large batches beside the loop. Unset: the loop's thread stores all (tests).
  Storing* storing = nullptr;
  /// Effects::notifications. Unset: nobody is told (tests).
  std::function<void(const model::Notification&)> notify{};
  /// Changes::settings, once they are stored and before their replies leave. Unset: nobody acts on them
  /// (tests).
  std::function<void(const std::vector<model::SettingRow>&)> settings{};
  /// Effects::hook_calls. Unset: no hook is called (tests).
  std::function<void(const model::ScaleChange&)> call_hook{};
};

/// Thread: turn() and run() by one thread (the loop's); snapshot() and counters() by any. Owned by
/// the Term, outlived by its parts. It ends once; a new Term makes a new loop.
class EventLoop {
 public:
  EventLoop(Epoch epoch, LoopParts parts, const LoopOptions& options = {});
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// The result of a turn. `ended`: everything is answered, do not call again. `wait`: for so long nothing
  /// has to be done unless an event arrives, or a batch that is stored beside the loop has its result. While
  /// `storing`, events do not matter.
  struct Turn {
    std::optional<TermEnd> ended;
    Micros wait{0};
    bool storing = false;
  };

  /// One turn: drains the inbox, handles each event, stores, sends and replies. Waits only for the store, and
  /// not for what is stored beside the loop.
  Turn turn();

  /// Ends the Term: waits for a batch that is being stored beside the loop, closes the inbox and answers all
  /// that is open, as protocol.md says ("A Term ends"). Calling it again changes nothing.
  TermEnd end(TermEnd why);

  /// Turns until the Term ends or stop is asked for; gives why. `heartbeat` is called with one word
  /// on what the loop is doing ("turning", "waiting for the store") at least every idle_wake, and after
  /// each statement of a batch that is being stored.
  TermEnd run(std::stop_token stop, const std::function<void(const char*)>& heartbeat = {});

  /// The last snapshot; never null.
  std::shared_ptr<const core::Snapshot> snapshot() const;
  const LoopCounters& counters() const { return counters_; }
  /// The highest watermark that the store has applied for this Term; none yet: nothing. Thread: any.
  std::optional<core::Watermark> stored_watermark() const;

 private:
  struct Batch;

  std::size_t room() const;
  bool may_decide() const;
  void handle_events(Now now);
  void check_invariants();
  bool wants_storing(Now now) const;
  void hand_over();
  Turn store_open();
  bool is_stored_beside(const Batch& batch) const;
  void begin_beside();
  bool may_prepare() const;
  void prepare_next();
  void begin_next();
  void prepare_snapshot(Batch& newest);
  Turn after_try(const store::ApplyResult& result);
  Turn after_store(const store::ApplyResult& result);
  Turn after_failure(const store::ApplyResult& result);
  std::optional<store::ApplyResult> wait_beside();
  TermEnd contradicted(const store::ApplyResult& result);
  void note_stored(const core::Changes& changes);
  void send_all(Batch& batch);
  void let_go(Batch& stored);
  bool wants_snapshot(MonoTime now) const;
  std::shared_ptr<const core::Snapshot> make_snapshot(Now now);
  void publish(Now now);
  Micros time_to_wake(Now now) const;
  void note_delay(Delay::Of of, Micros took);
  TermEnd turn_until_end(const std::stop_token& stop, const std::function<void(const char*)>& heartbeat);
  void rest(const Turn& turn, const std::stop_token& stop);
  bool makes_progress();
  static void pause(Micros wait, const std::stop_token& stop);

  const Epoch epoch_;
  LoopParts parts_;
  const LoopOptions options_;
  std::unique_ptr<Batch> batch_;       ///< being decided
  std::unique_ptr<Batch> next_;        ///< prepared, beside an open one: its turn comes when that is stored
  std::unique_ptr<Batch> open_;        ///< being stored; nothing of the others leaves before that has ended
  std::optional<TermEnd> ended_;
  bool dirty_ = true;                  ///< something happened since the last snapshot
  std::optional<MonoTime> published_;
  Millis snapshot_pause_{0};           ///< after `published_`
  mutable std::mutex snapshot_mutex_;  ///< guards the pointer and stored_watermark_
  std::shared_ptr<const core::Snapshot> snapshot_;
  LoopCounters counters_;
  std::optional<core::Watermark> stored_watermark_;
  Histogram batch_time_ = seconds_histogram();  ///< of each try to store one
  Histogram lateness_ = seconds_histogram();    ///< of ticks that fired, when their batch was stored
  BatchBound bound_;
  std::int64_t failed_applies_ = 0;
  ViolationsMet violations_;
  DelayWatch delays_;
  std::atomic<std::int64_t> answered_{0};       ///< statements of batches that are stored beside the loop
  std::int64_t answered_seen_ = 0;
};

}  // namespace rota::master::loop
