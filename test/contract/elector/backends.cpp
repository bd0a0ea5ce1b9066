#include "test/contract/elector/backends.h"

#include <doctest/doctest.h>

#include "common/base/random.h"
#include "common/zk/real_client.h"
#include "master/cluster/etcd_board.h"
#include "master/cluster/lease_elector.h"
#include "master/cluster/zk_elector.h"
#include "master/office/mysql_lease_board.h"
#include "master/store/mysql/schema.h"
#include "test/support/etcd_server.h"
#include "test/support/mariadb/patient_options.h"
#include "test/support/zookeeper_server.h"

namespace rota::master::cluster::testing {
namespace {

using rota::testing::TcpProxy;

constexpr LeaseTimes kTimes{Millis{2000}, Millis{100}};
const SystemClock kClock;

std::unique_ptr<Contender> on_line_to(std::uint16_t port) {
  auto contender = std::make_unique<Contender>();
  contender->line = std::make_unique<TcpProxy>(port);
  return contender;
}

void join_with(Contender& contender, std::unique_ptr<LeaseBoard> board, const std::string& id) {
  auto elector = std::make_unique<LeaseElector>(std::move(board), id, kTimes, contender, kClock);
  elector->start();
  contender.elector = std::move(elector);
  contender.elector->campaign();
}

Backend on_zookeeper() {
  static rota::testing::ZookeeperServer server(Millis{200});
  static const bool is_up = server.start().has_value();
  REQUIRE(is_up);
  const zk::Paths paths{"c" + random_hex(4)};
  return {"zookeeper", false, [paths](const std::string& id) {
            auto contender = on_line_to(server.port());
            zk::SessionOptions options = zk::quick_session("127.0.0.1:" + std::to_string(contender->line->port()));
            options.client.session_timeout = Millis{2000};
            contender->session = std::make_unique<zk::Session>(zk::make_real_client, options);
            contender->elector = std::make_unique<ZkElector>(*contender->session, paths, id, *contender);
            contender->session->start();
            contender->elector->campaign();
            return contender;
          }};
}

Backend on_mysql() {
  store::MysqlOptions options = rota::testing::patient_options();
  REQUIRE(store::upgrade_schema(options));
  options.connect_timeout = options.read_timeout = options.write_timeout = Millis{1000};
  return {"mysql", true, [options](const std::string& id) {
            auto contender = on_line_to(options.port);
            store::MysqlOptions own = options;
            own.port = contender->line->port();
            join_with(*contender, std::make_unique<MysqlLeaseBoard>(own, kTimes.lease), id);
            return contender;
          }};
}

Backend on_etcd() {
  static rota::testing::EtcdServer server;
  static const bool is_up = server.start().has_value();
  REQUIRE(is_up);
  const std::string key = "/rota/" + random_hex(4) + "/leader";
  return {"etcd", true, [key](const std::string& id) {
            auto contender = on_line_to(server.port());
            const EtcdServers servers{{rota::testing::EtcdServer::endpoint(contender->line->port())}, Millis{500}};
            const auto lease = std::chrono::duration_cast<std::chrono::seconds>(kTimes.lease);
            join_with(*contender, std::make_unique<EtcdBoard>(servers, key, lease), id);
            return contender;
          }};
}

}  // namespace

std::vector<Backend> fresh_electors() {
  std::vector<Backend> backends;
  if (rota::testing::has_zookeeper()) backends.push_back(on_zookeeper());
  else MESSAGE("SKIPPED: ZooKeeper is not installed; its elector is not tested");
  backends.push_back(on_mysql());
  if (rota::testing::has_etcd()) backends.push_back(on_etcd());
  else MESSAGE("SKIPPED: etcd-server is not installed; etcd's elector is not tested");
  return backends;
}

}  // namespace rota::master::cluster::testing
