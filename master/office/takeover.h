// Taking office, in order: read both epochs, raise ZooKeeper's by its version, then MySQL's in one
// transaction. Only after both may anything be done in the new epoch's name.
#pragma once

#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/zk/client.h"
#include "common/zk/paths.h"
#include "master/core/recovered.h"
#include "master/office/identity_rules.h"
#include "master/store/store.h"

namespace rota::master {

struct Office {
  Epoch epoch;
  std::string cluster_uuid;
  core::Recovered recovered;
  /// ZooKeeper did not know this cluster: its data were lost, or it is new. Then no worker counts as dead
  /// until a worker session has passed, and attempts of workers that it has never seen wait until these
  /// workers come (Recovered::unseen).
  bool zookeeper_is_new = false;
  OfficeRuling ruling = OfficeRuling::Take;
  Millis longest_grant{0};      ///< that any leader of this cluster, so far or now, may give
  /// How long it took: until the claim, the claim, and reading what the Term starts from.
  struct Took {
    Millis before{0}, claim{0}, load{0};
  } took;
};

/// What a database was seen to hold; one that holds less went back. The watermark moves with every batch
/// that has rows, so it tells transactions of the same epoch from one another.
struct StoredMark {
  Epoch epoch;
  std::optional<core::Watermark> watermark;
  auto operator<=>(const StoredMark&) const = default;
};

/// The candidate.
struct Candidate {
  std::string id;
  Millis grant{5000};           ///< what it grants its workers
  StoredMark stored{};          ///< what this process has itself seen stored, in its last Term
  std::string address{};        ///< where it is reached, "host:port"
  /// For how long the database has shown no sign of a leader, as this process saw (QuietWatch).
  std::function<Millis(const store::Office::Marks&)> quiet{};
  Millis quiet_needed{60'000};  ///< before a ZooKeeper that the database does not know is adopted
  /// Whether it may lead (Fenced: another elector is in force): asked before anything is written, and again
  /// after the epoch is. Empty: it may.
  std::function<Result<void>()> may_lead{};
};

/// Conflict: another master was faster; the candidacy should be given up and joined again. Fenced: this
/// ZooKeeper is not the one that the database is led through (the message says who leads it, and what an
/// operator can do); nothing was written. Anything else: try again later. An epoch that was taken in vain
/// is simply skipped.
/// Thread: blocks for the deadlines of the client and the store.
Result<Office> enter_office(zk::Client& client, const zk::Paths& paths, store::Office& store,
                           const Candidate& candidate);

/// Notes in ZooKeeper, beside the epoch, that this database has been led with that epoch and holds that
/// watermark, so that a later takeover notices a database that went back. It never lowers the note. When it
/// fails, only such a database is not noticed.
Result<void> note_stored(zk::Client& client, const zk::Paths& paths, const StoredMark& mark);

/// The leader found that its database lacks what it stored: from now on ticks are held.
Result<void> raise_restore_alarm(zk::Client& client, const zk::Paths& paths, Epoch epoch);

/// Whether a database that went back was noticed and not accepted yet. Until then every Term holds its
/// ticks, whoever leads.
Result<bool> is_restore_held(zk::Client& client, const zk::Paths& paths);

/// The operator has looked at a restored database: from now on its epoch counts. Twice is fine.
Result<void> accept_restore(zk::Client& client, const zk::Paths& paths);

}  // namespace rota::master
