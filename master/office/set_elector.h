// Changes the elector in force, when an operator asks for it.
//
// Like rewind.h this is a Term of its own: the command takes office, so that the leader is refused from then
// on, writes the name under its epoch, and ends. Masters of the old elector then stand by, and those of the
// new one take office. So two electors are never in force at once, whether masters run or not.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/zk/client.h"
#include "common/zk/paths.h"
#include "master/office/takeover.h"
#include "master/store/mysql/mysql_election.h"
#include "master/store/store.h"

namespace rota::master {

/// What it works with; all outlive the call.
struct SetElectorParts {
  zk::Client& client;
  const zk::Paths& paths;
  store::Office& office;
  store::MysqlElection& election;
};

/// What a change finds.
struct ElectorChange {
  std::string from;
  std::string to;
  std::vector<std::string> ready;     ///< registered masters that are configured for `to`
  std::vector<std::string> others;    ///< registered masters that are configured for another
  std::vector<std::string> too_old;   ///< registered masters of a version that knows ZooKeeper's alone
};

/// Reads what stands. Conflict: masters that are too old are registered: they would not stand by.
Result<ElectorChange> plan_elector(const SetElectorParts& parts, const std::string& to);
/// What the change does, and what happens next, for people. Pure.
std::string words_before(const ElectorChange& change);
std::string words_after(const ElectorChange& change);

/// Fenced, Conflict: others took office over and over, or the database is led through another ZooKeeper.
/// UnknownOutcome: ask again; twice is fine. Thread: blocks for the deadlines of the client and the store.
Result<void> set_elector(const SetElectorParts& parts, const Candidate& candidate, const std::string& to);

}  // namespace rota::master
