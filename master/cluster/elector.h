// Who takes office. ZooKeeper's election (zk_elector.h) is one way; another may stand beside it.
//
// Being elected is not leading: a master leads when its epoch is the one in the database. And
// losing the candidacy is not losing office: a leader leads on until a batch finds another epoch.
// So `lost` means only "no longer known to be first"; after it, `elected` comes again when the
// candidate is first again, and a master whose Term lives then needs no new epoch.
#pragma once

#include <string>
#include <string_view>

#include "common/zk/leader_lookup.h"

namespace rota::master::cluster {

using zk::LeaderHint;

/// Thread: called on the elector's own thread; it may only post.
class ElectorObserver {
 public:
  virtual ~ElectorObserver() = default;
  /// This candidate is first.
  virtual void elected() = 0;
  /// It was first, and is no longer known to be: session expired, node deleted, resigned.
  virtual void lost(std::string_view why) = 0;
};

/// Where a master stands in the row of candidates, as far as its elector knows.
struct Candidacy {
  bool stands = false;          ///< it has a node in the election
  std::string predecessor;      ///< name of the candidate before it; empty: none, or not known
  std::string trouble;          ///< why it can't stand though it wants to; empty: nothing
};

/// Thread: any; each call returns at once.
class Elector {
 public:
  virtual ~Elector() = default;
  /// Stand for election, and again after each lost candidacy, until resign. A master may do so only
  /// while its database answers.
  virtual void campaign() = 0;
  /// Take the candidacy away (the next one is elected within milliseconds). Harmless when there is
  /// none.
  virtual void resign() = 0;
  void set_eligible(bool eligible) { eligible ? campaign() : resign(); }
  /// After the epoch transaction: tell clients and followers where the leader is. Kept and told
  /// again with each later candidacy, until withdrawn.
  virtual void publish(const LeaderHint& hint) = 0;
  /// The Term has ended.
  virtual void withdraw_hint() = 0;
  /// First in the present session, as far as is known.
  virtual bool is_first() const = 0;
  virtual Candidacy candidacy() const = 0;
};

}  // namespace rota::master::cluster
