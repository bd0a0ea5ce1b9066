// Whether this master's elector is the one that the database names. Two electors would choose two leaders,
// who would take office from each other without end: so only masters of the elector in force stand for
// election, and a takeover asks once more, after its epoch is written.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "common/base/result.h"

namespace rota::master {

inline constexpr const char* kZookeeperElector = "zookeeper";

/// Why a master of elector `own` stands by, and what to do; empty: it may stand. `named`: what the database
/// says; empty: ZooKeeper's. Pure.
std::string why_stand_by(const std::string& own, const std::string& named);

/// Owner: Master. Thread: any; a look blocks for the database's deadlines.
class ElectorInForce {
 public:
  /// `read` gives what the database says; it is called by one thread at a time.
  ElectorInForce(std::string own, std::function<Result<std::string>()> read);

  /// Reads it, and remembers.
  Result<void> look();
  /// For a takeover: Fenced when another elector is in force. A database that cannot be read is no yes.
  Result<void> check();
  /// As of the last look. Before the first one nobody stands.
  std::string why_stand_by() const;

 private:
  const std::string own_;
  const std::function<Result<std::string>()> read_;
  mutable std::mutex mutex_;
  std::mutex reading_;
  std::string why_ = "the database has not said yet which elector is in force";
};

}  // namespace rota::master
