// P42: which runs were under way, beside the stored limits of their pool and namespace.
#include <doctest/doctest.h>

#include "history.h"
#include "master/verify/held_beside.h"

namespace rota::master::verify::test {
namespace {

model::QuotaRow a_quota(model::QuotaOf of, std::int32_t version, std::int64_t slots, WallTime changed) {
  model::QuotaRow row;
  row.of = of;
  row.name = "default";
  row.version = version;
  row.quota.slots = slots;
  row.changed = changed;
  row.number = run_id(1, version).value;
  return row;
}

/// Its job may run side by side as often as it likes.
History a_history_of_overlaps() {
  History out = a_true_history();
  out.rows.versions[0].definition =
      std::make_shared<const model::JobDefinition>(*every(Millis{1000}, model::Overlap::Allow));
  return out;
}

}  // namespace

TEST_CASE("verify: as many runs as a pool or a namespace may have are fine, one more is red") {
  for (const auto of : {model::QuotaOf::Pool, model::QuotaOf::Space}) {
    History history = a_history_of_overlaps();
    CHECK(check_of(look(history), "P42").planned == 0);
    history.rows.quotas.push_back(a_quota(of, 1, 2, at(0)));
    CHECK(look(history).ok);
    CHECK(check_of(look(history), "P42").planned == 16);
    history.run_of(at(5)).progress.outcome.ended = at(8);
    CHECK(red(look(history)) == "");  // beside each of the next two
    history.run_of(at(6)).progress.outcome.ended = at(8);
    const Report report = look(history);
    CHECK(red(report) == "P42");
    CHECK(check_of(report, "P42").examples[0].find("the runs of " + std::string(name_of(of)) + " default that lived took 1 more slots") !=
          std::string::npos);
    history.rows.quotas[0].quota.slots = model::kNoLimit;
    CHECK(look(history).ok);
  }
}

TEST_CASE("verify: a lower limit revokes nothing, and before the first there was none") {
  History history = a_history_of_overlaps();
  history.run_of(at(5)).progress.outcome.ended = at(8);
  history.run_of(at(6)).progress.outcome.ended = at(8);
  history.rows.quotas.push_back(a_quota(model::QuotaOf::Pool, 1, 1, at(9)));
  CHECK(look(history).ok);
}

TEST_CASE("verify: a run of a version that was stored later counts as one slot for P42, and in no pool") {
  for (const auto of : {model::QuotaOf::Pool, model::QuotaOf::Space}) {
    History history = a_history_of_overlaps();
    model::JobDefinition definition = *history.rows.versions[0].definition;
    definition.rules.slots = 2;
    history.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
    history.rows.quotas.push_back(a_quota(of, 1, 5, at(0)));
    history.run_of(at(5)).progress.outcome.ended = at(8);
    history.run_of(at(6)).progress.outcome.ended = at(8);
    CHECK(red(look(history)) == "P42");
    history.run_of(at(6)).version = 2;
    CHECK(red(look(history)).find("P42") == std::string::npos);
  }
}

}  // namespace rota::master::verify::test
