// Whose database this is: whether the ZooKeeper that a master reaches is the one that its database is led
// through, and what follows when it is not (protocol: "Which ZooKeeper is ours"). Pure.
//
// A ZooKeeper is known by a random value in a node and that node's czxid; both are kept in the database. It
// is also behind when its epoch is lower than the database's, since a takeover raises ZooKeeper's first:
// then it went back, or is a copy, or somebody leads through another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/zk/identity.h"
#include "master/store/store.h"

namespace rota::master {

struct IdentityFacts {
  // in ZooKeeper, read synced and after the database's epoch
  std::optional<zk::Identity> identity;
  std::optional<std::string> uuid;
  Epoch epoch;
  // in the database
  std::optional<zk::Identity> known_identity;
  std::string known_uuid;
  Epoch known_epoch;
};

enum class Belonging {
  Ours,       ///< the one that the database is led through
  Unmarked,   ///< this one too, or nobody has led yet; its identity must be written
  Replaced,   ///< it lacks the identity, or has another one
  Behind,     ///< its identity is right, its epoch lower than the database's
  Anothers,   ///< it was used with another database
};
Belonging belonging_of(const IdentityFacts& facts);

/// What the operator said to this ZooKeeper, for the epoch that stands in the database.
enum class OperatorWord { None, Accepted, WorkersGone };

struct OfficeFacts {
  Belonging belonging = Belonging::Ours;
  OperatorWord word = OperatorWord::None;
  Millis quiet{0};              ///< nothing was committed for so long, as this master saw
  Millis quiet_needed{60'000};
  std::int64_t held = 0;        ///< attempts that have not ended, as the database says
};

enum class OfficeRuling {
  Take,               ///< as always
  TakeAndMark,        ///< and write the identity down
  Adopt,              ///< nobody leads and nothing runs: this is the database's ZooKeeper from now on
  TakeAccepted,       ///< the operator accepted it; workers never seen here are waited for
  TakeWithoutWorkers, ///< the operator accepted it, and says that those workers are gone
  HoldLed,            ///< somebody leads through another ZooKeeper, or did a moment ago
  HoldUnfinished,     ///< nobody leads, but attempts may live: the operator is asked
  Refuse,             ///< another cluster's ZooKeeper
};
OfficeRuling rule_office(const OfficeFacts& facts);

/// The ZooKeeper becomes another one with this ruling.
bool replaces(OfficeRuling ruling);

/// What the database says about the ZooKeeper from now on; `known`: what it says now.
store::KnownZookeeper zookeeper_after(OfficeRuling ruling, const zk::Identity& identity,
                                      const std::optional<store::KnownZookeeper>& known);

/// Why office is held off, with who led the database last, and what the operator can do.
std::string words_of_hold(OfficeRuling ruling, const OfficeFacts& facts, const store::Office::Marks& marks,
                          const std::string& zookeeper_path);

/// For how long a database has shown no sign of a leader: its epoch, its watermark and its beats did not move
/// between looks. Thread: one.
class QuietWatch {
 public:
  Millis look(const store::Office::Marks& marks, MonoTime now);

 private:
  struct Sign {
    Epoch epoch;
    std::optional<core::Watermark> watermark;
    std::int64_t beats = 0;
    bool operator==(const Sign&) const = default;
  };
  std::optional<Sign> seen_;
  MonoTime since_{};
};

}  // namespace rota::master
