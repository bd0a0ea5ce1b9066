#include <doctest/doctest.h>

#include "master/office/master_node.h"
#include "master/pages.h"

using namespace rota;
using namespace rota::master;

namespace {

PageFacts leading_facts() {
  auto snapshot = std::make_shared<core::Snapshot>();
  snapshot->epoch = Epoch{7};
  snapshot->counters["ticks_skipped"] = 12;
  snapshot->tallies.runs_by_state["queued"] = 3;
  snapshot->tallies.batch_time = seconds_histogram();
  core::WorkerView worker;
  worker.info.change().key.id = "<w1>";
  worker.state = "draining";
  worker.drain = model::WorkerDrain{};
  worker.drain->principal = "ann";
  snapshot->workers.push_back(worker);
  core::GapView gap;
  gap.job = "nightly & co";
  gap.gap.count = 4;
  gap.gap.reason = model::Reason::LateSkipped;
  snapshot->newest_gaps.push_back(gap);
  PageFacts facts;
  facts.id = "master-1";
  facts.cluster = "c";
  facts.version = "1";
  facts.leading = Epoch{7};
  facts.snapshot = snapshot;
  facts.check.verdict = "degraded: disk: full";
  facts.check.words = {{"database", "ok"}, {"host", "degraded: disk: full"}};
  return facts;
}

bool has(const http::Response& response, const std::string& text) {
  return response.body.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("master pages: healthz says what the self check found") {
  const auto page = page_of({"/healthz"}, leading_facts());
  CHECK(page.status == 200);
  CHECK(page.body == "degraded: disk: full\n");
  CHECK(page_of({"/etc"}, leading_facts()).status == 404);
}

TEST_CASE("master pages: healthz answers 503 when the main loop or the self check stands still") {
  const Millis limit{30'000};
  const MonoTime now{Micros{10'000'000'000}};
  CHECK(standstill_of(now, now - limit, now - limit, limit).empty());
  CHECK(standstill_of(now, now - limit, MonoTime{}, limit).empty());
  CHECK(standstill_of(now, now - limit - Millis{1}, now, limit) ==
        "hangs: its main loop has not turned for 30001 ms");
  CHECK(standstill_of(now, now, now - Millis{40'001}, limit) ==
        "hangs: the last self check was 40001 ms ago");
  PageFacts facts = leading_facts();
  facts.standstill = "hangs: <since noon>";
  CHECK(page_of({"/healthz"}, facts).status == 503);
  CHECK(has(page_of({"/"}, facts), "hangs: &lt;since noon&gt;"));
}

TEST_CASE("master pages: nobody leads is told with its reason, and as numbers") {
  PageFacts facts = leading_facts();
  facts.leading.reset();
  facts.snapshot.reset();
  facts.now = MonoTime{std::chrono::seconds{50}};
  facts.office.since = MonoTime{std::chrono::seconds{38}};
  facts.office.troubles[Hurdle::Database] = {"no column <x>", "", facts.office.since, false};
  facts.check.words.emplace_back("office", "in steps");
  const auto page = page_of({"/"}, facts);
  CHECK(has(page, "no master leads for 12s: this master does not stand for election: no column &lt;x&gt;"));
  CHECK_FALSE(has(page, "in steps"));
  const auto metrics = page_of({"/metrics"}, facts);
  for (const char* line : {"rota_leader_known 0\n", "rota_seconds_without_leader 12\n",
                           "rota_kept_from_office{by=\"database\"} 1\n",
                           "rota_kept_from_office{by=\"takeover\"} 0\n", "rota_part_healthy{part=\"office\"} 0\n"}) {
    CAPTURE(line);
    CHECK(has(metrics, line));
  }
}

TEST_CASE("master pages: the status page names workers, runs and missed ticks, escaped") {
  const auto page = page_of({"/"}, leading_facts());
  CHECK(has(page, "&lt;w1&gt;"));
  CHECK_FALSE(has(page, "<w1>"));
  CHECK(has(page, "drained by ann"));
  CHECK(has(page, "nightly &amp; co"));
  CHECK(has(page, "late_skipped"));
  CHECK(has(page, "leading with epoch 7"));
  CHECK(has(page, "host: degraded: disk: full"));
}

TEST_CASE("master pages: the panel has heartbeats, shares, what workers did today, and this master's figures") {
  PageFacts facts = leading_facts();
  auto snapshot = std::make_shared<core::Snapshot>(*facts.snapshot);
  snapshot->taken = wall_from_ms(1'700'000'000'000);
  snapshot->workers[0].heard = snapshot->taken - Millis{3000};
  snapshot->workers[0].share = {250, 1000};
  facts.snapshot = snapshot;
  auto nodes = std::make_shared<core::NodeFacts>();
  nodes->today["<w1>"] = {9, 7, 1};
  nodes->shortages.push_back({"etl", snapshot->taken, "9 of 10 slots of pool <etl> are in use"});
  facts.nodes = nodes;
  facts.check.masters = {{"master-1", {"h", 7400}, true}, {"master-2", {"h", 7401}, false}};
  facts.figures.emplace();
  facts.figures->cpu_percent = 61;
  const auto page = page_of({"/"}, facts);
  CHECK(has(page, "<td>3 s</td><td>100</td><td>250 of 1000</td><td>9 / 7 / 1</td>"));
  CHECK(has(page, "<td>leader</td><td>61 %</td>"));
  CHECK(has(page, "<td>follower</td><td>-</td>"));
  CHECK(has(page, "pool &lt;etl&gt; are in use, since"));
}

TEST_CASE("master pages: the status page shows the newest runs and the jobs, and loads itself again") {
  PageFacts facts = leading_facts();
  CHECK(has(page_of({"/"}, facts), "http-equiv=\"refresh\" content=\"5\""));
  CHECK(has(page_of({"/"}, facts), "are being read"));
  auto read = std::make_shared<PageRowsRead>();
  store::RunRow run;
  run.run.id = RunId{77};
  run.run.job = JobId{5};
  run.run.progress.state = model::RunState::Failed;
  run.run.progress.started = wall_from_ms(1'700'000'000'000);
  run.run.progress.ended = wall_from_ms(1'700'000'001'500);
  run.job_name = "nightly & co";
  store::JobRow job;
  job.job.id = JobId{5};
  job.job.name = "nightly & co";
  read->runs = {run};
  read->jobs = {job};
  read->newest[JobId{5}] = run;
  facts.rows = read;
  const auto page = page_of({"/"}, facts);
  CHECK(has(page, "<td>77</td><td>nightly &amp; co</td><td>failed</td>"));
  CHECK(has(page, "<td>1.5 s</td>"));
  CHECK(has(page, "<td>nightly &amp; co</td><td>enabled</td><td>failed</td>"));
  facts.snapshot.reset();  // a follower shows them too
  CHECK(has(page_of({"/"}, facts), "<td>77</td>"));
  auto failed = std::make_shared<PageRowsRead>();
  failed->trouble = "no answer";
  facts.rows = failed;
  CHECK(has(page_of({"/"}, facts), "Runs and jobs cannot be read: no answer"));
}

TEST_CASE("master pages: a follower leads to the leader's page, or says why not") {
  PageFacts facts;
  facts.id = "m1";
  facts.host = "10.0.0.1";
  const auto shown = [&] { return page_of({"/"}, facts); };
  CHECK(has(shown(), "Who leads is not known here"));
  api::MasterView self{"m1", {"10.0.0.1", 7700}, true};
  self.page = {"10.0.0.1", 7702};
  facts.check.masters = {self};  // as of a moment ago
  CHECK(has(shown(), "Who leads is not known here"));
  facts.check.masters[0].leads = false;
  facts.check.masters.push_back(api::MasterView{"<m2>", {"10.0.0.2", 7700}, true});
  CHECK(has(shown(), "The leader, &lt;m2&gt;, has told of no page"));
  CHECK_FALSE(has(shown(), "<a "));
  facts.check.masters[1].page = {"10.0.0.2\"x", 7702};
  CHECK(has(shown(), "shows more: <a href=\"http://10.0.0.2&quot;x:7702/\">"));
  facts.check.masters[1].page = {"fd00::2", 7702};
  CHECK(has(shown(), "<a href=\"http://[fd00::2]:7702/\">"));
  facts.check.masters[1].page = {"127.0.0.1", 7702};
  CHECK(has(shown(), "opens on its own host alone (http.host): on 10.0.0.2, http://127.0.0.1:7702/"));
  CHECK_FALSE(has(shown(), "<a "));
  facts.host = "10.0.0.2";
  CHECK(has(shown(), "<a href=\"http://127.0.0.1:7702/\">"));
  facts.leading = Epoch{3};
  CHECK_FALSE(has(shown(), "<a "));
}

TEST_CASE("master node: tells of the master and its page, and damage harms nobody") {
  api::MasterView master{"m1", {"h", 7700}};
  master.health = "degraded: \xff";
  master.page = page_address({"0.0.0.0", 7702}, "h.example");
  const api::MasterView read = master_in(node_text(master));
  CHECK(read.id == "m1");
  CHECK(read.address == master.address);
  CHECK(read.health.starts_with("degraded: "));
  CHECK(read.page == model::Address{"h.example", 7702});
  CHECK(page_address({"::", 1}, "h") == model::Address{"h", 1});
  CHECK(page_address({"127.0.0.1", 1}, "h") == model::Address{"127.0.0.1", 1});
  CHECK(page_address({"127.0.0.1", 0}, "h") == model::Address{});
  master.page = {};
  CHECK(node_text(master).find("page") == std::string::npos);
  for (const char* text : {"", "[]", "{\"id\": 3, \"port\": \"x\", \"page_port\": 70000}", "{\"page_port\": -1}"}) {
    CAPTURE(text);
    const api::MasterView none = master_in(text);
    CHECK(none.id.empty());
    CHECK(none.address.port == 0);
    CHECK(none.page.port == 0);
  }
}

TEST_CASE("master pages: a leader's metrics tell the whole, a follower's what it knows") {
  const auto leader = page_of({"/metrics"}, leading_facts());
  for (const char* line : {"rota_master_leading 1\n", "rota_master_epoch 7\n", "rota_runs{state=\"queued\"} 3\n",
                           "rota_ticks_gapped_total 12\n", "rota_workers{state=\"draining\"} 1\n",
                           "rota_invariant_violations_total 0\n", "rota_healthy 0\n", "rota_part_healthy{part=\"database\"} 1\n"}) {
    CAPTURE(line);
    CHECK(has(leader, line));
  }
  PageFacts follower = leading_facts();
  follower.leading.reset();
  follower.snapshot.reset();
  const auto other = page_of({"/metrics"}, follower);
  CHECK(has(other, "rota_master_leading 0\n"));
  CHECK_FALSE(has(other, "rota_ticks_fired_total"));
  CHECK(has(page_of({"/"}, follower), "a follower"));
}

TEST_CASE("master self check: one word for each part, and the troubles together") {
  const HealthWords words = health_words({{"database", "ok"}, {"zookeeper", "not connected"}},
                                         {std::chrono::milliseconds{2500}, {}}, "backlog: inbox 90 % full (9 of 10)",
                                         {"disk: 1 MiB free (0 %) at /d"});
  REQUIRE(words.size() == 5);
  CHECK(words[2] == std::pair<std::string, std::string>{"clock", "2500 ms from the database's"});
  const std::string verdict = verdict_of(words, Millis{0});
  CHECK(verdict.starts_with("degraded: clock: 2500 ms"));
  CHECK(verdict.ends_with("; zookeeper: not connected"));
  CHECK(verdict_of(health_words({{"database", "ok"}}, {}, "", {}), Millis{0}) == "ok");
  const ClockHold step{Millis{3'600'000}, wall_from_ms(0), false, false};
  CHECK(health_words({}, {{}, step}, "", {}).front().second ==
        "3600000 ms from where it was before a step; nobody has confirmed it");
  const HealthWords early = health_words({{"database", "not asked yet"}}, {}, "", {});
  CHECK(verdict_of(early, Millis{0}) == "starting: database: not asked yet");
  CHECK(verdict_of(early, std::chrono::seconds{11}) == "degraded: database: not asked yet");
}
