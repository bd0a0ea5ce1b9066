#include "worker/report/reporter.h"

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "test/unit/worker/fake_leader.h"
#include "test/unit/worker/temporary_folder.h"

namespace rota::worker::report {

namespace {

model::AttemptReport an_outcome(std::int64_t run) {
  model::AttemptReport report;
  report.key = {RunId{run}, 1};
  report.worker = {"w1", "aa"};
  report.what = model::AttemptReport::What::Finished;
  report.outcome.state = model::RunState::Succeeded;
  return report;
}

/// A reporter with its outbox, and a leader that names only the runs up to `known`.
struct ReporterRig {
  testing::TemporaryFolder folder;
  testing::Shared<int> requests;
  testing::Shared<std::int64_t> known;
  testing::Shared<std::size_t> written;
  testing::Shared<std::vector<model::AttemptKey>> acknowledged;
  testing::FakeLeader leader{{[this](const thrift::ReportRequest& request) { return receive(request); }, {}}};

  std::vector<thrift::AttemptKey> receive(const thrift::ReportRequest& request) {
    std::vector<thrift::AttemptKey> stored;
    std::vector<std::int64_t> runs;
    for (const thrift::Report& report : request.reports) runs.push_back(report.attempt.run);
    if (before_answer) before_answer(runs);
    const std::int64_t most = known.get();
    for (const thrift::Report& report : request.reports) {
      if (report.attempt.run <= most) stored.push_back(report.attempt);
    }
    requests.change([](int& count) { ++count; });
    return stored;
  }
  ReporterOptions options;
  /// Called for each request before it is answered, with its runs.
  std::function<void(const std::vector<std::int64_t>&)> before_answer;

  std::unique_ptr<Reporter> open() {
    options.outbox_file = folder.path() + "/outbox";
    auto reporter = std::make_unique<Reporter>(options, leader.address(),
                                               [] { return model::WorkerKey{"w1", "aa"}; });
    REQUIRE(reporter->open());
    return reporter;
  }
  std::unique_ptr<Reporter> start() {
    auto reporter = open();
    const auto count_written = [this](const std::vector<model::AttemptReport>& reports) {
      written.change([&](std::size_t& count) { count += reports.size(); });
    };
    reporter->start(count_written, [this](const std::vector<model::AttemptKey>& keys) {
      acknowledged.change([&](auto& all) { all.insert(all.end(), keys.begin(), keys.end()); });
    });
    return reporter;
  }
};

}  // namespace

TEST_CASE("reporter: an outcome is sent until the leader names it, and then forgotten") {
  ReporterRig rig;
  auto reporter = rig.start();
  reporter->finished(an_outcome(7));
  REQUIRE(rig.requests.becomes([](int count) { return count >= 2; }));
  CHECK(rig.acknowledged.get().empty());
  CHECK(reporter->waiting() == 1);
  rig.known.change([](std::int64_t& most) { most = 7; });
  CHECK(reporter->wait_home(testing::kPatience));
  // It is acknowledged before the observers have been told.
  CHECK(rig.acknowledged.becomes([](const auto& keys) { return keys == std::vector<model::AttemptKey>{{RunId{7}, 1}}; }));
  reporter.reset();
  CHECK(rig.open()->unreported().empty());
}

TEST_CASE("reporter: many outcomes go in a second call beside the first, none in both, and no third call") {
  ReporterRig rig;
  testing::Shared<std::vector<std::int64_t>> received;
  testing::Shared<int> under_way;
  testing::Shared<bool> may_answer;
  rig.known.change([](std::int64_t& most) { most = 1000; });
  rig.before_answer = [&](const std::vector<std::int64_t>& runs) {
    received.change([&](auto& all) { all.insert(all.end(), runs.begin(), runs.end()); });
    under_way.change([](int& count) { ++count; });
    may_answer.becomes([](bool may) { return may; });
    under_way.change([](int& count) { --count; });
  };
  auto reporter = rig.start();
  reporter->finished(an_outcome(1));
  REQUIRE(under_way.becomes([](int count) { return count == 1; }));
  for (std::int64_t run = 2; run <= 200; ++run) reporter->finished(an_outcome(run));
  REQUIRE(under_way.becomes([](int count) { return count == 2; }));
  CHECK(under_way.get() == 2);
  may_answer.change([](bool& may) { may = true; });
  REQUIRE(reporter->wait_home(testing::kPatience));
  const auto all = received.get();
  CHECK(all.size() == 200);
  CHECK(std::set(all.begin(), all.end()).size() == 200);
}

TEST_CASE("reporter: a few outcomes wait for the call that is under way") {
  ReporterRig rig;
  testing::Shared<int> under_way;
  testing::Shared<bool> may_answer;
  rig.known.change([](std::int64_t& most) { most = 1000; });
  rig.before_answer = [&](const std::vector<std::int64_t>&) {
    under_way.change([](int& count) { ++count; });
    may_answer.becomes([](bool may) { return may; });
  };
  auto reporter = rig.start();
  reporter->finished(an_outcome(1));
  REQUIRE(under_way.becomes([](int count) { return count == 1; }));
  for (std::size_t run = 2; run <= 20; ++run) {
    reporter->finished(an_outcome(static_cast<std::int64_t>(run)));
    REQUIRE(rig.written.becomes([&](std::size_t count) { return count == run; }));
  }
  may_answer.change([](bool& may) { may = true; });
  REQUIRE(reporter->wait_home(testing::kPatience));
  CHECK(rig.requests.get() == 2);
}

TEST_CASE("reporter: what a leader did not answer is told again, in its order") {
  ReporterRig rig;
  testing::Shared<std::vector<std::vector<std::int64_t>>> received;
  rig.options.rpc_deadline = Millis{100};
  rig.known.change([](std::int64_t& most) { most = 1000; });
  testing::Shared<bool> may_answer;
  rig.before_answer = [&](const std::vector<std::int64_t>& runs) {
    received.change([&](auto& all) { all.push_back(runs); });
    may_answer.becomes([](bool may) { return may; });
  };
  auto reporter = rig.start();
  for (std::int64_t run = 1; run <= 3; ++run) reporter->finished(an_outcome(run));
  REQUIRE(rig.written.becomes([](std::size_t count) { return count == 3; }));
  REQUIRE(received.becomes([](const auto& all) { return all.size() >= 2; }));
  may_answer.change([](bool& may) { may = true; });
  CHECK(reporter->wait_home(testing::kPatience));
  CHECK(received.get().at(1) == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("reporter: what the leader did not name is told by the next life") {
  ReporterRig rig;
  rig.known.change([](std::int64_t& most) { most = 7; });
  {
    auto reporter = rig.start();
    reporter->finished(an_outcome(7));
    reporter->finished(an_outcome(8));
    REQUIRE(rig.acknowledged.becomes([](const auto& keys) { return !keys.empty(); }));
    // Two more requests: the one that names run 7 may have been the first of both.
    const int so_far = rig.requests.get();
    REQUIRE(rig.requests.becomes([&](int count) { return count >= so_far + 2; }));
  }
  const auto left = rig.open()->unreported();
  REQUIRE(left.size() == 1);
  CHECK(left[0].key == model::AttemptKey{RunId{8}, 1});
  rig.known.change([](std::int64_t& most) { most = 8; });
  CHECK(rig.start()->wait_home(testing::kPatience));
}

}  // namespace rota::worker::report
