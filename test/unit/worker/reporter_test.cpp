#include "worker/report/reporter.h"

#include <doctest/doctest.h>

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
  testing::Shared<std::vector<model::AttemptKey>> acknowledged;
  testing::FakeLeader leader{{[this](const thrift::ReportRequest& request) { return receive(request); }, {}}};

  std::vector<thrift::AttemptKey> receive(const thrift::ReportRequest& request) {
    std::vector<thrift::AttemptKey> stored;
    const std::int64_t most = known.get();
    for (const thrift::Report& report : request.reports) {
      if (report.attempt.run <= most) stored.push_back(report.attempt);
    }
    requests.change([](int& count) { ++count; });
    return stored;
  }
  std::unique_ptr<Reporter> open() {
    ReporterOptions options;
    options.outbox_file = folder.path() + "/outbox";
    auto reporter = std::make_unique<Reporter>(options, leader.address(),
                                               [] { return model::WorkerKey{"w1", "aa"}; });
    REQUIRE(reporter->open());
    return reporter;
  }
  std::unique_ptr<Reporter> start() {
    auto reporter = open();
    reporter->start([](const auto&) {}, [this](const std::vector<model::AttemptKey>& keys) {
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
