#include "master/electors.h"

#include <algorithm>

#include "common/base/file.h"
#include "common/base/log.h"
#include "master/cluster/etcd_board.h"
#include "master/cluster/posted_elector.h"
#include "master/office/mysql_lease_board.h"
#include "master/services.h"

namespace rota::master {
namespace {

using cluster::LeaseTimes;

constexpr std::size_t kTagLength = 32;

LeaseTimes times_of(const config::MasterOptions& options) {
  if (options.elector == "mysql") return {options.mysql_elector.lease, options.mysql_elector.beat};
  return {std::chrono::seconds{options.etcd.lease_s}, options.etcd.beat};
}

/// A call that takes longer could not renew the lease in time anyway.
Millis deadline_of(const LeaseTimes& times) {
  return std::clamp(times.lease / 4, Millis{300}, Millis{2000});
}

std::unique_ptr<cluster::LeaseBoard> board_of(const config::MasterOptions& options, const LeaseTimes& times,
                                              const std::string& database_password) {
  if (options.elector == "mysql") {
    return std::make_unique<MysqlLeaseBoard>(mysql_options(options.database, database_password), times.lease);
  }
  const cluster::EtcdServers servers{options.etcd.endpoints, deadline_of(times)};
  return std::make_unique<cluster::EtcdBoard>(servers, "/rota/" + options.cluster + "/leader",
                                              std::chrono::seconds{options.etcd.lease_s});
}

/// Kept in the state folder, which only one process has at a time. Without the file a lease of a process that
/// was killed lapses by itself, which only takes longer.
cluster::LeaseTag tag_in(const std::string& file) {
  cluster::LeaseTag tag;
  if (auto last = read_file(file); last && last->size() == kTagLength) tag.last = *last;
  tag.keep = [file](const std::string& next) {
    if (auto kept = write_file_synced(file, next); !kept) {
      log_warn("election", "could not note the lease's tag", {{"why", kept.error().message}});
    }
  };
  return tag;
}

}  // namespace

std::unique_ptr<cluster::Elector> make_elector(const config::MasterOptions& options,
                                               const ElectorParts& parts) {
  if (options.elector == "zookeeper") {
    return std::make_unique<cluster::ZkElector>(parts.session, parts.paths, options.id, parts.observer);
  }
  const LeaseTimes times = times_of(options);
  auto lease = std::make_unique<cluster::LeaseElector>(
      board_of(options, times, parts.database_password), options.id, times, parts.observer, parts.clock,
      tag_in(options.state_dir + "/election_tag"));
  lease->start();
  return std::make_unique<cluster::PostedElector>(std::move(lease), parts.session, parts.paths, options.id);
}

}  // namespace rota::master
