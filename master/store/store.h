// The stored state, as the loop and a takeover see it. One contract suite runs on every implementation
// (memory, MySQL). Reading for queries is reader.h; log bytes are log_store.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/zk/identity.h"
#include "master/core/effect.h"
#include "master/core/recovered.h"
#include "master/store/rewind.h"

namespace rota::master::store {

/// How one try to apply a batch ended. Only Applied lets its sends and replies go.
enum class ApplyOutcome {
  Applied,
  Fenced,    ///< another epoch is in force: the Term is over
  Failed,    ///< surely not applied; the very same batch may be tried again on a new connection
  Unknown,   ///< the answer to COMMIT was lost; the very same batch must be tried again
};

struct ApplyResult {
  ApplyOutcome outcome = ApplyOutcome::Failed;
  std::string detail;         ///< what was tried and what came back
  Epoch found;                ///< Fenced: the epoch in force
  /// Failed only: no repeat can help, because a row contradicts one that stands (another run has this
  /// job and tick, or this principal and request key; another job has this name) or does not fit its
  /// column. The Term's state is then not the store's: end the Term. The next one recovers the truth,
  /// and the API, which looks keys up in the store first, answers the repeated request from there.
  bool permanent = false;
  /// Failed and permanent: the database lacks what it has stored for this Term before (a replica without
  /// the last transactions was promoted, an older copy restored).
  bool went_back = false;
};

/// The rows of a batch in a store's own words. They refer to the changes, which must stay as they are.
class PreparedRows {
 public:
  virtual ~PreparedRows() = default;
};

/// Thread: one at a time (the loop's, or the one that stores for it). Every call has a deadline of its own
/// (connect and statement timeouts from the configuration) and drops its connection on any error.
class Store {
 public:
  virtual ~Store() = default;

  /// One transaction: the epoch row is read with a share lock and compared, then all rows are
  /// written. An empty batch is a bare epoch check. Idempotent: a repeat gives the same end state.
  virtual ApplyResult apply(Epoch epoch, const core::Changes& changes) = 0;

  /// Does what a batch needs before the database is asked. Null: there is nothing to gain. Thread: any, also
  /// while another batch is being applied.
  virtual std::unique_ptr<PreparedRows> prepare(const core::Changes&) { return nullptr; }
  /// apply, with what prepare gave for these changes.
  virtual ApplyResult apply_prepared(Epoch epoch, const core::Changes& changes, PreparedRows&) {
    return apply(epoch, changes);
  }

  /// Called in apply, on its thread, when the database has all rows of a batch and only its COMMIT is
  /// missing; empty: nobody wants to know. A store whose apply is always quick need not call it.
  virtual void tell_written(std::function<void()>) {}

  /// Called in apply, on its thread, after each statement that the database has answered; empty: nobody wants
  /// to know. A store whose apply is always quick need not call it.
  virtual void tell_progress(std::function<void()>) {}
};

/// How far back recover() looks for attempts that were given up: the newest rows of earlier attempts, and the
/// newest lost runs. A later result is acknowledged and not stored.
inline constexpr std::size_t kGivenUpAttempts = 100'000;
inline constexpr std::size_t kGivenUpLostRuns = 20'000;

/// The ZooKeeper that a database is led through.
struct KnownZookeeper {
  zk::Identity identity;
  std::int64_t number = 0;      ///< grows with each other one
  /// Workers' lives that were last seen in one of a lower number may live on there: they are waited for.
  std::int64_t wait_below = 0;
  bool operator==(const KnownZookeeper&) const = default;
};

/// The master that took an epoch, and its address ("host:port").
struct Holder {
  std::string name;
  std::string address;
};

/// What one takeover writes.
struct Claim {
  Epoch epoch;
  Holder holder;
  std::optional<KnownZookeeper> zookeeper;  ///< empty: the one that stands
};

/// What taking office needs. Thread: one at a time.
class Office {
 public:
  virtual ~Office() = default;

  struct Marks {
    Epoch epoch;               ///< 0 in a new database
    std::optional<core::Watermark> watermark;  ///< none in a new database
    std::string cluster_uuid;  ///< empty in a new database
    WallTime database_now{};   ///< the database's clock, for telling skew
    Holder holder;             ///< of the epoch
    std::optional<KnownZookeeper> zookeeper;  ///< none before the first takeover that knows of it
    std::int64_t beats = 0;    ///< grows while some master leads, whatever else it stores
    std::int64_t newest_setting = 0;  ///< the number of the last change of a setting; 0: there was none
  };
  virtual Result<Marks> read_marks() = 0;

  /// Sets the cluster's uuid if the database has none yet; gives the one that stands.
  virtual Result<std::string> settle_uuid(const std::string& proposed) = 0;

  /// Raises the longest grant that any leader of this cluster may give to `own`, and gives it: a
  /// successor with a shorter one must wait for the longer. Called before enter_office.
  virtual Result<Millis> settle_grant(Millis own) = 0;

  /// In one transaction sets the epoch where it is lower, and the rest of the claim. Conflict when it
  /// was not lower (another took office). After UnknownOutcome read_marks tells; e is used by one
  /// candidate only, so an epoch equal to ours is ours.
  virtual Result<void> claim(const Claim& claim) = 0;
  Result<void> enter_office(Epoch epoch, const std::string& holder) {
    return claim(Claim{epoch, {holder, ""}, {}});
  }

  /// By a leader, after office was taken: this is the ZooKeeper from now on. Fenced when another epoch is in
  /// force. The same again is harmless.
  virtual Result<void> settle_zookeeper(Epoch epoch, const KnownZookeeper& zookeeper) = 0;

  /// By a leader, every few seconds: others see that somebody leads. Nothing happens when another epoch is
  /// in force.
  virtual Result<void> beat(Epoch epoch) = 0;

  /// By a leader, once every registered master can read definitions that are stored by content: from now on
  /// they are, and masters that cannot read them cannot take office. Nothing happens when another epoch is in
  /// force, nor where there is no such form.
  virtual Result<void> need_contents(Epoch /*epoch*/) { return {}; }

  /// The same for freezes and for runs that wait to be caught up. Fenced when another epoch is in force: then
  /// none may be stored.
  virtual Result<void> need_late_rows(Epoch /*epoch*/) { return {}; }

  /// The same for runs of worker starts.
  virtual Result<void> need_worker_starts(Epoch /*epoch*/) { return {}; }

  /// The same for runs of child jobs.
  virtual Result<void> need_child_runs(Epoch /*epoch*/) { return {}; }

  /// Attempts that are stored for a worker and have not ended.
  virtual Result<std::int64_t> count_held() = 0;

  /// By a master that stands by: reads a little of what recover() needs and what never changes. True: there
  /// is more to read at once.
  virtual bool read_ahead(MonoTime /*now*/) { return false; }

  /// Everything a Term starts from. Called after enter_office.
  virtual Result<core::Recovered> recover() = 0;

  /// All gap rows that reach beyond that moment.
  virtual Result<std::vector<model::Gap>> gaps_beyond(WallTime moment) = 0;

  /// In one transaction under its epoch, and only from the watermark that it names: that, the gap rows, and
  /// the beginnings and ends of job versions that lie beyond, which become `to`. Conflict when another epoch
  /// or watermark stands. After UnknownOutcome read_marks tells.
  virtual Result<void> rewind(const Rewind& rewind) = 0;

  /// Whether the database answers at all, within its timeouts. A master is a candidate only while
  /// this is so.
  virtual Result<void> probe() = 0;
};

}  // namespace rota::master::store
