// Masters with their figures, what workers did, and capacity, as clients get them.
#include "api_setup.h"
#include "master/api/node_words.h"

namespace rota::master::api::test {
namespace {

core::Snapshot one_worker() {
  core::Snapshot snapshot;
  core::WorkerView view;
  view.info.change().key = {"w1", "i1"};
  view.state = "online";
  view.heard = kNow - Millis{1500};
  view.share = {250, 1000};
  model::AttemptUsage usage;
  usage.key = {RunId{7}, 2};
  usage.memory_bytes = 4096;
  usage.cpu_percent = 98;
  usage.sampled = kNow - Millis{2000};
  view.usage = std::make_shared<const std::vector<model::AttemptUsage>>(1, usage);
  snapshot.workers.push_back(view);
  return snapshot;
}

template <typename Out, typename Use>
Out asked(TestMaster& master, const Use& use) {
  const auto out = master.ask([&](auto& client) {
    Out answer;
    use(client, answer);
    return answer;
  });
  REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().error.message));
  return *out;
}

model::PoolMinute pool_minute(const std::string& pool, int ago, std::int64_t used) {
  model::PoolMinute row;
  row.pool = pool;
  row.minute = kNow - ago * model::kMinute;
  row.looks = 12;
  row.workers = 1;
  row.slots_hundredths = 400;
  row.used_hundredths = used;
  return row;
}

}  // namespace

TEST_CASE("nodes: a worker is told with its heartbeat, its share, and what it did today") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.view = std::make_shared<const core::Snapshot>(one_worker());
  const auto list = [&] {
    return asked<std::vector<thrift::WorkerInfo>>(
        master, [](auto& client, auto& out) { client.list_workers(out, {}); });
  };
  CHECK(list().at(0).heartbeat_age_ms == 1500);
  CHECK(list().at(0).share_given == 250);
  CHECK(list().at(0).share_of == 1000);
  CHECK_FALSE(bool{list().at(0).__isset.today});
  core::NodeFacts facts;
  facts.day = kNow - Millis{1000};
  facts.today["w1"] = {9, 7, 1};
  master.leader.facts = std::make_shared<const core::NodeFacts>(facts);
  CHECK(list().at(0).today.succeeded == 7);
  CHECK(list().at(0).today.since_ms == to_ms(kNow) - 1000);
}

TEST_CASE("nodes: what runs on a worker is told with its figures and their age") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.view = std::make_shared<const core::Snapshot>(one_worker());
  const auto usage = [&](const std::string& worker) {
    return asked<std::vector<thrift::RunUsage>>(
        master, [&](auto& client, auto& out) { client.worker_usage(out, {}, worker); });
  };
  REQUIRE(usage("w1").size() == 1);
  CHECK(usage("w1")[0].run == 7);
  CHECK(usage("w1")[0].usage.cpu_percent == 98);
  CHECK(usage("w1")[0].usage.age_ms == 2000);
  CHECK(usage("w2").empty());
}

TEST_CASE("nodes: a master tells its own figures with their age, and without a look it tells none") {
  Stored stored;
  TestMaster master(stored.memory);
  const auto list = [&] {
    return asked<std::vector<thrift::MasterNode>>(
        master, [](auto& client, auto& out) { client.list_masters(out, {}); });
  };
  REQUIRE(list().size() == 1);
  CHECK(list()[0].id == "m1");
  CHECK_FALSE(bool{list()[0].__isset.cpu_percent});
  MasterFigures figures;
  figures.version = "9";
  figures.cpu_percent = 61;
  figures.sampled = BootClock::now();
  master.leader.own_figures = figures;
  CHECK(list()[0].cpu_percent == 61);
  CHECK(list()[0].version == "9");
  CHECK(list()[0].state == "leader");
  CHECK(list()[0].figures_age_ms >= 0);
}

TEST_CASE("nodes: a master asks each other one for itself alone; one that does not answer is silent") {
  Stored stored;
  TestMaster one(stored.memory), other(stored.memory, false);
  MasterFigures figures;
  figures.cpu_percent = 33;
  figures.sampled = BootClock::now();
  other.leader.own_figures = figures;
  other.leader.others = {{"m9", {"127.0.0.1", 1}, false}};
  // Behind that address another master answers than the one that is meant.
  one.leader.others = {{"m2", {"127.0.0.1", other.endpoint().port}, false}, {"m3", {"127.0.0.1", 1}, false}};
  const auto masters = asked<std::vector<thrift::MasterNode>>(
      one, [](auto& client, auto& out) { client.list_masters(out, {}); });
  REQUIRE(masters.size() == 3);
  CHECK(masters[1].state == "silent");
  CHECK(masters[1].why == "another master answers at its address");
  CHECK(masters[2].state == "silent");
  CHECK(masters[2].why.find("not reachable") != std::string::npos);
  thrift::RequestHead forwarded;
  forwarded.__set_forwarded(true);
  const auto itself = asked<std::vector<thrift::MasterNode>>(
      other, [&](auto& client, auto& out) { client.list_masters(out, forwarded); });
  REQUIRE(itself.size() == 1);
  CHECK(itself[0].id == "m1");
  CHECK(itself[0].cpu_percent == 33);
}

TEST_CASE("nodes: what another master says of itself is taken within bounds") {
  thrift::MasterNode node = master_told({"m2", {"h", 7400}, false, "ok"});
  CHECK(node.why.empty());
  thrift::MasterNode said = node;
  said.__set_cpu_percent(700);
  said.__set_threads(-1);
  said.__set_figures_age_ms(1000);
  add_answer(node, {said}, Millis{20});
  CHECK(node.cpu_percent == 100);
  CHECK(node.threads == 0);
  CHECK(node.figures_age_ms == 1020);
  CHECK(node.answered_in_ms == 20);
  CHECK_FALSE(bool{node.__isset.memory_percent});
}

TEST_CASE("nodes: minutes of a worker are told as stored, without figures where it told none") {
  Stored stored;
  model::WorkerMinute with, without;
  with.worker = without.worker = "w1";
  with.minute = kNow - 2 * model::kMinute;
  with.samples = with.looks = 12;
  with.cpu_percent = 40;
  with.running_hundredths = 150;
  without.minute = kNow - model::kMinute;
  without.looks = 12;
  REQUIRE(stored.memory.keep_minutes({{with, without}, {}}));
  TestMaster master(stored.memory, false);
  const auto history = [&](std::int64_t since_ms) {
    return asked<thrift::NodeHistory>(master, [&](auto& client, auto& out) {
      thrift::HistoryQuery query;
      query.worker = "w1";
      query.since_ms = since_ms;
      client.worker_history(out, {}, query);
    });
  };
  REQUIRE(history(0).minutes.size() == 2);
  CHECK(history(0).minutes[0].cpu_percent == 40);
  CHECK(history(0).minutes[0].running == 1.5);
  CHECK_FALSE(bool{history(0).minutes[1].__isset.cpu_percent});
  CHECK(history(to_ms(without.minute)).minutes.size() == 1);
}

TEST_CASE("nodes: capacity says that there is not enough history, and which pool is short since when") {
  Stored stored;
  REQUIRE(stored.memory.keep_minutes({{}, {pool_minute("", 1, 300), pool_minute("etl", 1, 390)}}));
  TestMaster master(stored.memory);
  core::NodeFacts facts;
  facts.shortages.push_back({"etl", kNow - Millis{900'000}, "words"});
  master.leader.facts = std::make_shared<const core::NodeFacts>(facts);
  const auto report =
      asked<thrift::CapacityReport>(master, [](auto& client, auto& out) { client.capacity(out, {}); });
  REQUIRE(report.pools.size() == 2);
  CHECK(report.reserve_percent == 30);
  CHECK(report.pools[0].pool.empty());
  CHECK_FALSE(bool{report.pools[0].__isset.growth_per_day});
  CHECK(report.pools[1].below_reserve);
  CHECK(report.pools[1].short_since_ms == to_ms(kNow) - 900'000);
  CHECK(report.least_minutes == 60);
}

TEST_CASE("nodes: a follower without a leader tells capacity from what is stored") {
  Stored stored;
  REQUIRE(stored.memory.keep_minutes({{}, {pool_minute("", 1, 100)}}));
  TestMaster master(stored.memory, false);
  const auto report =
      asked<thrift::CapacityReport>(master, [](auto& client, auto& out) { client.capacity(out, {}); });
  CHECK(report.pools.size() == 1);
}

}  // namespace rota::master::api::test
