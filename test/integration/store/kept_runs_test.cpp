// The lists of open and of unsuccessful runs: made whole from the history of a master that did not know them,
// carried on, and made whole again after such a master has led once more.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>

#include "master/store/mysql/mysql_history.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/mysql_store.h"
#include "master/verify/verify.h"
#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

constexpr int kFailed = 12'000;  // more than one step fills

void must_run(const Fixture& fixture, const std::string& sql) {
  const auto done = fixture.server.sql(sql, fixture.options.database);
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
}

std::string take_office_as_before(int epoch) {
  return fmt::format("UPDATE epoch SET value = {} WHERE partition_no = 1", epoch);
}

/// No master of this version has led yet.
void forget_new_masters(const Fixture& fixture) {
  must_run(fixture, "UPDATE epoch SET dispatch_apart_for = NULL");
}

/// As a master of the version before writes and takes office: it knows `run` and the epoch's value alone.
void lead_as_before(const Fixture& fixture, int epoch, int first) {
  forget_new_masters(fixture);
  must_run(fixture, take_office_as_before(epoch));
  must_run(fixture, fmt::format(
      "INSERT INTO run (run_id, namespace, job_id, kind, state, reason, epoch) SELECT {0} + seq, 'default', 10, "
      "'manual', IF(seq <= {1}, 'failed', 'succeeded'), 'none', {2} FROM seq_1_to_20000;"
      "UPDATE run SET state = 'running' WHERE run_id IN ({0} + 3, {0} + 19999);"
      "UPDATE run SET state = 'lost', outcome_reason = 'worker_lost', outcome_started_ms = 0, attempt = 1 "
      "WHERE run_id = {0} + 5;",
      first, kFailed, epoch));
}

std::vector<std::int64_t> found(MysqlReader& reader, model::RunState state, std::int32_t limit = 3) {
  RunQuery query;
  query.states = {state};
  query.limit = limit;
  const auto rows = reader.list_runs(query);
  REQUIRE_MESSAGE(rows.has_value(), (rows ? "" : rows.error().message));
  std::vector<std::int64_t> ids;
  for (const RunRow& row : *rows) ids.push_back(row.run.id.value);
  return ids;
}

std::vector<std::int64_t> recovered(MysqlOffice& office) {
  const auto all = office.recover();
  REQUIRE_MESSAGE(all.has_value(), (all ? "" : all.error().message));
  std::vector<std::int64_t> ids;
  for (const model::Run& run : all->runs) ids.push_back(run.id.value);
  return ids;
}

bool has_index(const Fixture& fixture) {
  return fixture.number("SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE() "
                        "AND table_name = 'run' AND index_name = 'run_by_state'") > 0;
}

std::int64_t kept(const Fixture& fixture) {
  return fixture.number("SELECT (open_kept_for = value) + 2 * (ended_kept_for = value) FROM epoch");
}

using Ids = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("kept runs: an upgrade fills them, is broken off and goes on, also around a master of before") {
  const Fixture fixture;
  lead_as_before(fixture, 5, 0);
  MysqlReader reader(fixture.options);
  CHECK(kept(fixture) == 0);
  CHECK(found(reader, model::RunState::Running) == Ids{19999, 3});  // as long as nobody has filled them
  CHECK(found(reader, model::RunState::Failed) == Ids{12000, 11999, 11998});

  {  // the first that knows them is killed before all is done
    MysqlOffice office(fixture.options, utc_only());
    REQUIRE(office.enter_office(Epoch{6}, "first"));
    CHECK(recovered(office) == Ids{3, 19999});
    CHECK(office.recover()->given_up == std::vector<model::AttemptKey>{{RunId{5}, 1}});
    CHECK(kept(fixture) == 1);
    UnsuccessfulFill fill;
    const auto connection = connect(fixture.options);
    for (int i = 0; i < 2; ++i) REQUIRE(fill.step(*connection, Epoch{6}));
    CHECK(fixture.number("SELECT COUNT(*) FROM run_unsuccessful") == 10'000);
    CHECK(has_index(fixture));
  }
  MysqlStore store(fixture.options);
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.enter_office(Epoch{7}, "second"));
  CHECK(kept(fixture) == 1);  // carried on
  core::Changes born = new_runs(50'000, 2);
  REQUIRE(store.apply(Epoch{7}, born).outcome == ApplyOutcome::Applied);
  CHECK(recovered(office) == Ids{3, 19999, 50'000, 50'001});
  for (int i = 0; i < 30; ++i) REQUIRE(office.beat(Epoch{7}));
  CHECK(kept(fixture) == 3);
  CHECK_FALSE(has_index(fixture));
  CHECK(fixture.number("SELECT COUNT(*) FROM run_unsuccessful WHERE state = 'failed'") == kFailed - 2);
  CHECK(found(reader, model::RunState::Failed) == Ids{12000, 11999, 11998});
  CHECK(found(reader, model::RunState::Lost) == Ids{5});
  CHECK(found(reader, model::RunState::Running) == Ids{19999, 3});
  CHECK(found(reader, model::RunState::Dispatched) == Ids{50'001, 50'000});

  lead_as_before(fixture, 8, 100'000);  // without the index, and without the lists
  CHECK(kept(fixture) == 0);
  CHECK(found(reader, model::RunState::Running) == Ids{119'999, 100'003, 19999});
  REQUIRE(office.enter_office(Epoch{9}, "third"));
  CHECK(recovered(office) == Ids{3, 19999, 50'000, 50'001, 100'003, 119'999});
  CHECK(kept(fixture) == 3);
  CHECK(office.recover()->given_up == std::vector<model::AttemptKey>{{RunId{5}, 1}, {RunId{100'005}, 1}});
  CHECK(found(reader, model::RunState::Failed) == Ids{112'000, 111'999, 111'998});
}

TEST_CASE("kept runs: one that was emptied, or made anew, is filled again at the next takeover") {
  const Fixture fixture;
  lead_as_before(fixture, 5, 0);
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.enter_office(Epoch{6}, "first"));
  CHECK(recovered(office) == Ids{3, 19999});
  must_run(fixture, "DELETE FROM run_open");
  REQUIRE(office.enter_office(Epoch{7}, "second"));
  const auto first = office.recover();
  REQUIRE(first);
  CHECK(first->database_went_back);  // dispatches that stood there alone are forgotten
  CHECK(recovered(office) == Ids{3, 19999});
}

TEST_CASE("kept runs: after the first takeover a master of before is refused by name, and can not lead") {
  const Fixture fixture;
  lead_as_before(fixture, 5, 0);  // until then it may
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.enter_office(Epoch{6}, "first"));
  const std::string with_lists = "UPDATE epoch SET open_kept_for = IF(open_kept_for = value, 7, open_kept_for), "
                                 "value = 7, holder = 'before', taken_ms = 1 WHERE partition_no = 1 AND value < 7";
  for (const std::string& sql : {take_office_as_before(7), with_lists}) {
    const auto refused = fixture.server.sql(sql, fixture.options.database);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find("this_rota_master_is_too_old_upgrade_it") != std::string::npos);
  }
  CHECK(fixture.number("SELECT value FROM epoch") == 6);
  REQUIRE(office.beat(Epoch{6}));
  REQUIRE(office.enter_office(Epoch{7}, "second"));
}

TEST_CASE("kept runs: a dispatch of a run that is not in the list stands in the run's own row") {
  const Fixture fixture;
  lead_as_before(fixture, 5, 0);
  must_run(fixture, "UPDATE run SET state = 'queued', epoch = 0 WHERE run_id <= 20");
  MysqlStore store(fixture.options);
  core::Changes sent;
  const model::RunProgress dispatched = new_runs(1, 1).new_runs[0].progress;
  for (std::int64_t id = 1; id <= 20; ++id) sent.updated_runs.push_back({RunId{id}, dispatched});
  for (int i = 0; i < 2; ++i) REQUIRE(store.apply(Epoch{5}, sent).outcome == ApplyOutcome::Applied);
  CHECK(fixture.number("SELECT COUNT(*) FROM run WHERE state = 'dispatched' AND worker_id = 'worker-1'") == 20);
  CHECK(fixture.number("SELECT COUNT(*) FROM run_open WHERE run_id BETWEEN 1 AND 20") == 20);
  MysqlReader reader(fixture.options);
  CHECK(found(reader, model::RunState::Dispatched) == Ids{20, 19, 18});
}

TEST_CASE("kept runs: verify names an unfinished run that is not in the list") {
  const Fixture fixture;
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.enter_office(Epoch{2}, "first"));
  (void)recovered(office);
  MysqlStore store(fixture.options);
  REQUIRE(store.apply(Epoch{2}, new_runs(100, 3)).outcome == ApplyOutcome::Applied);
  MysqlReader reader(fixture.options);
  const auto p10 = [&] {
    const auto report = verify::verify({reader, nullptr, utc_only()}, {}, BootClock::now() + Millis{60'000});
    REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
    return *std::ranges::find(report->checks, "P10", &verify::Check::promise);
  };
  CHECK(p10().planned == 3);
  CHECK(p10().ok);
  must_run(fixture, "DELETE FROM run_open WHERE run_id = 101");
  CHECK_FALSE(p10().ok);
  CHECK(p10().missing == 1);
  CHECK(p10().examples.at(0).starts_with("run 101:"));
  forget_new_masters(fixture);
  must_run(fixture, take_office_as_before(3));
  CHECK(p10().ok);
}

TEST_CASE("kept runs: a leader that was deposed before it began to fill them changes nothing") {
  const Fixture fixture;
  lead_as_before(fixture, 5, 0);
  MysqlOffice slow(fixture.options, utc_only());
  REQUIRE(slow.enter_office(Epoch{6}, "slow"));
  forget_new_masters(fixture);
  must_run(fixture, take_office_as_before(7));
  CHECK(recovered(slow) == Ids{3, 19999});
  REQUIRE(slow.beat(Epoch{6}));
  CHECK(kept(fixture) == 0);
}

TEST_CASE("kept runs: retention takes runs out of the list of unsuccessful ones") {
  const Fixture fixture;
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.enter_office(Epoch{2}, "first"));
  (void)recovered(office);
  MysqlStore store(fixture.options);
  core::Changes born = new_runs(100, 1);
  REQUIRE(store.apply(Epoch{2}, born).outcome == ApplyOutcome::Applied);
  core::Changes ends = final_updates(born);
  ends.updated_runs[0].progress.state = model::RunState::Failed;
  REQUIRE(store.apply(Epoch{2}, ends).outcome == ApplyOutcome::Applied);
  CHECK(fixture.number("SELECT COUNT(*) FROM run_unsuccessful WHERE run_id = 100 AND state = 'failed'") == 1);
  CHECK(fixture.number("SELECT COUNT(*) FROM run_open WHERE run_id = 100") == 0);
  PastRun past;
  past.run = RunId{100};
  past.is_final = true;
  REQUIRE(MysqlHistory(fixture.options).erase_runs({past}));
  CHECK(fixture.number("SELECT COUNT(*) FROM run_unsuccessful WHERE run_id = 100") == 0);
}
