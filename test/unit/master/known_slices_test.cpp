#include "master/upkeep/known_slices.h"

#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "common/zk/cluster_nodes.h"
#include "master/office/master_node.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/fake_server.h"

using namespace rota;
using namespace rota::master;

TEST_CASE("slices: are begun only while every master that is registered could go on with them") {
  zk::FakeServer server;
  zk::EventLog log;
  const zk::Paths paths{"c"};
  const std::unique_ptr<zk::Client> client =
      std::move(*server.factory()(zk::ClientOptions{}, log.handler()));
  CHECK_FALSE(all_know_slices(*client, paths));
  REQUIRE(zk::ensure_cluster(*client, paths));
  const auto add = [&](const std::string& id, const std::string& text) {
    REQUIRE(client->create(paths.masters() + "/" + id, text, zk::CreateMode::Persistent));
  };
  api::MasterView self{"m1", {"10.0.0.1", 7700}};
  self.knows_slices = true;
  add("m1", node_text(self));
  CHECK(all_know_slices(*client, paths) == true);
  SUBCASE("one that says nothing of them is older") { add("m2", R"({"id": "m2", "host": "h", "port": 1})"); }
  SUBCASE("damage counts as older") { add("m2", "{"); }
  SUBCASE("another word does") { add("m2", R"({"id": "m2", "knows_slices": "yes"})"); }
  CHECK(all_know_slices(*client, paths) == false);
  REQUIRE(client->remove(paths.masters() + "/m2"));
  CHECK(all_know_slices(*client, paths) == true);
}

TEST_CASE("contents: are needed only when every master that is registered can read them") {
  zk::FakeServer server;
  zk::EventLog log;
  const zk::Paths paths{"c"};
  const std::unique_ptr<zk::Client> client =
      std::move(*server.factory()(zk::ClientOptions{}, log.handler()));
  REQUIRE(zk::ensure_cluster(*client, paths));
  api::MasterView self{"m1", {"10.0.0.1", 7700}};
  self.knows_contents = true;
  self.knows_late_rows = true;
  self.knows_worker_starts = true;
  self.knows_child_runs = true;
  REQUIRE(client->create(paths.masters() + "/m1", node_text(self), zk::CreateMode::Persistent));
  CHECK(all_masters(*client, paths, &api::MasterView::knows_contents) == true);
  CHECK(all_masters(*client, paths, &api::MasterView::knows_late_rows) == true);
  CHECK(all_masters(*client, paths, &api::MasterView::knows_worker_starts) == true);
  CHECK(all_masters(*client, paths, &api::MasterView::knows_child_runs) == true);
  REQUIRE(client->create(paths.masters() + "/m2", R"({"id": "m2", "knows_slices": true})",
                         zk::CreateMode::Persistent));
  CHECK(all_masters(*client, paths, &api::MasterView::knows_contents) == false);
  CHECK(all_masters(*client, paths, &api::MasterView::knows_late_rows) == false);
  CHECK(all_masters(*client, paths, &api::MasterView::knows_worker_starts) == false);
  CHECK(all_masters(*client, paths, &api::MasterView::knows_child_runs) == false);
}
