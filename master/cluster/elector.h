// Which master takes office: by ZooKeeper's election (zk_elector.h), or by a lease in the database or in
// etcd (lease_elector.h).
//
// Being elected is not leading: a master leads when its epoch is the one in the database. And
// losing the candidacy is not losing office: a leader leads on until a batch finds another epoch.
// So `lost` means only "no longer known to be first"; after it, `elected` comes again when the
// candidate is first again, and a master whose Term lives then needs no new epoch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// A master's place among the candidates, as far as its elector knows.
struct Candidacy {
  bool stands = false;          ///< it takes part in the election
  /// The candidate before it (ZooKeeper: its node's name; else its id); empty: none, or not known.
  std::string predecessor;
  std::string trouble;          ///< why it cannot be a candidate although it should be; empty: no trouble
};

/// Thread: any; each call returns at once, but stop.
class Elector {
 public:
  virtual ~Elector() = default;
  /// Becomes a candidate, and again after each lost candidacy, until resign. Allowed only while the master's
  /// database answers.
  virtual void campaign() = 0;
  /// Gives the candidacy up (the next candidate is elected within milliseconds). Harmless when there is none.
  virtual void resign() = 0;
  void set_eligible(bool eligible) { eligible ? campaign() : resign(); }
  /// After the epoch transaction: tells clients and followers where the leader is. Repeated with each later
  /// candidacy, until it is withdrawn.
  virtual void publish(const LeaderHint& hint) = 0;
  /// The Term has ended.
  virtual void withdraw_hint() = 0;
  /// First in the present session, as far as is known.
  virtual bool is_first() const = 0;
  virtual Candidacy candidacy() const = 0;
  /// Who leads, as far as is known here. NotFound: nobody, or a master is taking office. Unavailable: not
  /// known. It may wait for ZooKeeper's deadline.
  virtual Result<LeaderHint> leader() const = 0;
  /// Candidates' nodes in ZooKeeper that no session owns, as of the last look.
  virtual std::vector<std::string> ownerless() const { return {}; }
  /// For good: the observer hears nothing more, and a lease is freed. A node in ZooKeeper is left to its
  /// session. Twice is fine.
  virtual void stop() = 0;
};

}  // namespace rota::master::cluster
