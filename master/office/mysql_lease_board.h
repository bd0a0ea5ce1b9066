// The lease in the database, for a LeaseElector.
#pragma once

#include "master/cluster/lease_board.h"
#include "master/store/mysql/mysql_election.h"

namespace rota::master {

/// Thread: one at a time.
class MysqlLeaseBoard final : public cluster::LeaseBoard {
 public:
  MysqlLeaseBoard(store::MysqlOptions database, Millis lease);

  Result<cluster::LeaseSight> hold(const std::string& tag, const std::string& words) override;
  Result<cluster::LeaseSight> look() override;
  Result<void> release(const std::string& tag) override;

 private:
  const Millis lease_;
  store::MysqlElection election_;
};

}  // namespace rota::master
