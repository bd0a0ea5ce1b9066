#include "master/office/mysql_lease_board.h"

namespace rota::master {

MysqlLeaseBoard::MysqlLeaseBoard(store::MysqlOptions database, Millis lease)
    : lease_(lease), election_(std::move(database)) {}

Result<cluster::LeaseSight> MysqlLeaseBoard::hold(const std::string& tag, const std::string& words) {
  auto held = election_.hold(tag, words, lease_);
  if (!held) return fail(held.error());
  return cluster::LeaseSight{held->tag == tag, held->words};
}

Result<cluster::LeaseSight> MysqlLeaseBoard::look() {
  auto read = election_.read();
  if (!read) return fail(read.error());
  return cluster::LeaseSight{false, read->words};
}

Result<void> MysqlLeaseBoard::release(const std::string& tag) { return election_.release(tag); }

}  // namespace rota::master
