// The row of the election: which elector is in force, and the lease of the elector that is the database.
#pragma once

#include <memory>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "master/store/mysql/mysql_options.h"

namespace rota::master::store {

class Connection;

/// Holds one connection, opened when needed and again after any error. Thread: one at a time.
class MysqlElection {
 public:
  explicit MysqlElection(MysqlOptions options);
  ~MysqlElection();
  MysqlElection(const MysqlElection&) = delete;
  MysqlElection& operator=(const MysqlElection&) = delete;

  /// The name of the elector in force; empty: none was named.
  Result<std::string> elector();
  /// In one transaction under that epoch. Fenced when another one is in force. After UnknownOutcome elector()
  /// tells; the same again is harmless.
  Result<void> set_elector(Epoch epoch, const std::string& name);

  /// Who holds the lease; an empty tag: nobody.
  struct Lease {
    std::string tag{};
    std::string words{};
  };
  Result<Lease> read();
  /// In one statement, by the database's clock: the lease is this tag's for so long if it is free or has this
  /// tag already. Gives who holds it then. An answer that was lost: ask again with the same tag.
  Result<Lease> hold(const std::string& tag, const std::string& words, Millis lease);
  /// Frees it if it has this tag. Twice is fine.
  Result<void> release(const std::string& tag);

 private:
  Result<Connection*> connection();
  template <typename Value>
  Result<Value> kept(Result<Value> answer);
  Result<void> try_set(Connection& connection, Epoch epoch, const std::string& name);
  Result<void> try_hold(Connection& connection, const std::string& tag, const std::string& words,
                        Millis lease);
  Result<void> make_row(Connection& connection);
  Result<Lease> read_with(Connection& connection, bool& has_row);

  const MysqlOptions options_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace rota::master::store
