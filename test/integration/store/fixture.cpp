#include "test/integration/store/fixture.h"

#include <doctest/doctest.h>

#include "master/store/mysql/schema.h"
#include "test/support/mariadb/patient_options.h"

namespace rota::master::store::testing {

ZoneSource utc_only() {
  return [](std::string_view) -> Result<std::shared_ptr<const model::ZoneRules>> {
    static const auto utc = std::make_shared<const model::ZoneRules>();
    return utc;
  };
}

Fixture::Fixture() : server(rota::testing::MariadbServer::shared()), options(rota::testing::patient_options()) {
  const auto upgraded = upgrade_schema(options);
  REQUIRE_MESSAGE(upgraded.has_value(), (upgraded ? "" : upgraded.error().message));
  REQUIRE(MysqlOffice(options, utc_only()).enter_office(Epoch{1}, "first"));
}

MysqlOptions Fixture::plain() const {
  MysqlOptions plain;
  plain.port = options.port;
  plain.user = options.user;
  plain.database = options.database;
  return plain;
}

MysqlOptions Fixture::through(std::uint16_t port) const {
  MysqlOptions other = options;
  other.port = port;
  return other;
}

std::int64_t Fixture::number(const std::string& query) const {
  const auto answer = server.sql(query, options.database);
  REQUIRE_MESSAGE(answer.has_value(), (answer ? "" : answer.error().message));
  return std::stoll(*answer);
}

core::Changes new_runs(std::int64_t first, int count) {
  core::Changes changes;
  for (int i = 0; i < count; ++i) {
    model::Run run;
    run.id = RunId{first + i};
    run.job = JobId{10};
    run.version = 1;
    run.tick = wall_from_ms(1'700'000'000'000 + (first + i) * 1000);
    run.scheduled = *run.tick;
    run.recorded = *run.tick;
    run.progress.state = model::RunState::Dispatched;
    run.progress.attempt = 1;
    run.progress.worker = {"worker-1", "0123456789abcdef"};
    run.progress.epoch = Epoch{1};
    run.progress.dispatched = run.recorded;
    changes.new_runs.push_back(run);
  }
  if (count > 0) changes.watermark = changes.new_runs.back().tick;
  return changes;
}

core::Changes final_updates(const core::Changes& born) {
  core::Changes changes;
  for (const model::Run& run : born.new_runs) {
    core::RunUpdate update{run.id, run.progress};
    update.progress.state = model::RunState::Succeeded;
    update.progress.ended = run.recorded;
    update.progress.outcome.state = model::RunState::Succeeded;
    update.progress.outcome.exit_status = 0;
    update.progress.outcome.stdout_bytes = 100;
    changes.updated_runs.push_back(std::move(update));
  }
  return changes;
}

std::unique_ptr<Connection> connect(const MysqlOptions& options) {
  auto opened = Connection::open(options);
  REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().message));
  return std::move(*opened);
}

}  // namespace rota::master::store::testing
