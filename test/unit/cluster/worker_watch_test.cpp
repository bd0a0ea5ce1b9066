#include "master/cluster/worker_watch.h"

#include <doctest/doctest.h>

#include "common/model/worker_json.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/test_session.h"

using namespace rota;
using namespace rota::zk;
using namespace rota::master::cluster;

namespace {

model::WorkerInfo a_worker(const std::string& id, const std::string& incarnation) {
  model::WorkerInfo info;
  info.key = {id, incarnation};
  info.address = {"127.0.0.1", 7201};
  info.labels = {{"zone", "a"}};
  info.slots = 4;
  info.handlers = {"command"};
  info.kernel_limits = {"memory", "cpus"};
  info.started = wall_from_ms(1'700'000'000'123);
  return info;
}

struct Seen {
  std::vector<std::string> words;
  model::WorkerInfo last;
};

struct Fixture {
  FakeServer server;
  Session session{server.factory(), quick_session()};
  EventLog log;
  Paths paths{"c"};
  std::unique_ptr<Client> workers = std::move(*server.factory()(ClientOptions{}, log.handler()));
  Watched<Seen> seen;
  std::unique_ptr<WorkerWatch> watch;

  Fixture() { REQUIRE(ensure_cluster(*workers, paths).has_value()); }
  void note(const std::string& word) {
    seen.change([&](Seen& all) { all.words.push_back(word); });
  }
  void begin() {
    WorkerWatchCallbacks callbacks;
    callbacks.appeared = [this](const model::WorkerInfo& info) {
      seen.change([&](Seen& all) { all.last = info; });
      note("+" + model::node_name(info.key));
    };
    callbacks.changed = [this](const model::WorkerInfo& info) {
      note((info.draining ? "draining " : "changed ") + model::node_name(info.key));
    };
    callbacks.vanished = [this](const model::WorkerKey& key) { note("-" + model::node_name(key)); };
    callbacks.synced = [this] { note("synced"); };
    watch = std::make_unique<WorkerWatch>(session, paths, callbacks);
    session.start();
  }
  void registers(const model::WorkerInfo& info) {
    REQUIRE(workers->create(path(info), *model::to_json(info), CreateMode::Ephemeral).has_value());
  }
  std::string path(const model::WorkerInfo& info) const {
    return paths.workers() + "/" + model::node_name(info.key);
  }
  bool says(const std::vector<std::string>& words) {
    return seen.becomes([&](const Seen& all) { return all.words == words; });
  }
};

}  // namespace

TEST_CASE("worker watch: present workers are reported before the listing counts as synced") {
  Fixture f;
  f.registers(a_worker("w1", "aa"));
  f.registers(a_worker("w2", "bb"));
  f.begin();
  CHECK(f.says({"+w1@aa", "+w2@bb", "synced"}));
  CHECK(f.seen.get().last == a_worker("w2", "bb"));
}

TEST_CASE("worker watch: a draining flag is a change") {
  Fixture f;
  auto info = a_worker("w1", "aa");
  f.registers(info);
  f.begin();
  REQUIRE(f.says({"+w1@aa", "synced"}));
  info.draining = true;
  REQUIRE(f.workers->set(f.path(info), *model::to_json(info)).has_value());
  CHECK(f.says({"+w1@aa", "synced", "draining w1@aa"}));
}

TEST_CASE("worker watch: a new life appears before the old one vanishes") {
  Fixture f;
  f.registers(a_worker("w1", "bb"));
  f.begin();
  REQUIRE(f.says({"+w1@bb", "synced"}));
  f.session.tasks().run(testing::kPatience, [&] {
    f.registers(a_worker("w1", "aa"));
    f.server.delete_by_hand(f.path(a_worker("w1", "bb")));
  });
  CHECK(f.says({"+w1@bb", "synced", "+w1@aa", "-w1@bb"}));
}

TEST_CASE("worker watch: a node that is no worker's is left out") {
  Fixture f;
  REQUIRE(f.workers->create(f.paths.workers() + "/w1@aa", "not json", CreateMode::Ephemeral));
  REQUIRE(f.workers->create(f.paths.workers() + "/odd", "{}", CreateMode::Ephemeral));
  f.registers(a_worker("w2", "bb"));
  f.begin();
  CHECK(f.says({"+w2@bb", "synced"}));
}

TEST_CASE("worker watch: a worker whose life could not be stored is left out") {
  Fixture f;
  f.registers(a_worker(std::string(65, 'x'), "aa"));
  f.registers(a_worker("w 1", "aa"));
  auto long_pool = a_worker("w2", "bb");
  long_pool.pool = std::string(65, 'p');
  f.registers(long_pool);
  auto long_host = a_worker("w3", "cc");
  long_host.address.host = std::string(256, 'h');
  f.registers(long_host);
  f.registers(a_worker("w4", "dd"));
  f.begin();
  CHECK(f.says({"+w4@dd", "synced"}));
}

TEST_CASE("worker watch: after an outage only the difference is reported") {
  Fixture f;
  f.registers(a_worker("w1", "aa"));
  f.begin();
  REQUIRE(f.says({"+w1@aa", "synced"}));
  f.server.expire(f.session.client()->session_id());
  CHECK(f.says({"+w1@aa", "synced", "synced"}));
}

TEST_CASE("worker json: comes back as it was") {
  const auto info = a_worker("w1", "aa");
  CHECK(*model::worker_from_json(info.key, *model::to_json(info)) == info);
}

TEST_CASE("worker json: vitals and drain commands are read back; damaged vitals count as missing") {
  auto info = a_worker("w1", "aa");
  info.drain_told = true;
  info.drain_order = std::int64_t{7} << 40;
  model::WorkerVitals vitals;
  vitals.cpu_percent = 7;
  vitals.disk_free_bytes = 1ll << 40;
  vitals.health = "degraded: disk";
  vitals.sampled = wall_from_ms(9);
  info.vitals = vitals;
  CHECK(*model::worker_from_json(info.key, *model::to_json(info)) == info);
  const auto other = model::worker_from_json(info.key, R"({"host":"h","port":1,"vitals":{"cpu_percent":"x"}})");
  REQUIRE(other.has_value());
  CHECK_FALSE(other->vitals.has_value());
}

TEST_CASE("worker json: when the labels leave no room, the vitals are left out") {
  auto info = a_worker("w1", "aa");
  info.labels["long"] = std::string(3700, 'x');
  info.vitals = model::WorkerVitals{};
  info.vitals->health = std::string(300, 'y');
  const auto json = model::to_json(info);
  REQUIRE(json.has_value());
  CHECK_FALSE(model::worker_from_json(info.key, *json)->vitals.has_value());
}

TEST_CASE("worker json: too long is refused, wrong kinds are corrupt") {
  auto info = a_worker("w1", "aa");
  info.labels["long"] = std::string(5000, 'x');
  CHECK(model::to_json(info).error().code == ErrorCode::InvalidArgument);
  for (const char* text : {"", "[]", "{}", R"({"host":"h","port":0})", R"({"host":1,"port":1})",
                           R"({"host":"h","port":99999})", R"({"host":"h","port":1,"slots":"4"})",
                           R"({"host":"h","port":1,"slots":-4})",
                           R"({"host":"h","port":1,"labels":{"a":1}})",
                           R"({"host":"h","port":1,"handlers":[1]})",
                           R"({"host":"h","port":1,"draining":1})"}) {
    CAPTURE(text);
    CHECK_FALSE(model::worker_from_json(info.key, text).has_value());
  }
}

TEST_CASE("worker json: node names") {
  CHECK(model::worker_key_in("w1@aa") == model::WorkerKey{"w1", "aa"});
  for (const char* name : {"", "w1", "@aa", "w1@", "w1@a@b"}) {
    CAPTURE(name);
    CHECK_FALSE(model::worker_key_in(name).has_value());
  }
}
