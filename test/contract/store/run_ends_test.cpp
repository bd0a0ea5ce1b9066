// How runs end, as the store keeps it.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

void store_ends(const Backend& on, const core::Changes& changes) {
  const auto done = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(done.outcome == ApplyOutcome::Applied, done.detail);
}

}  // namespace

TEST_CASE("apply: a success with nothing to say leaves nothing of what stood before it") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    changes.new_runs = {a_tick_run(100, 10, 1), a_tick_run(101, 10, 2)};
    model::RunProgress& before = changes.new_runs[0].progress;
    before.detail = nasty_text();
    before.reason = model::Reason::RetryDelay;
    before.not_before = wall_from_ms(kBase + 77);
    before.cancel_asked = true;
    before.losses = 2;
    before.outcome = full_outcome();
    store_ends(on, changes);
    core::Changes ends;
    auto expected = changes.new_runs;
    for (auto& run : expected) {
      run.progress = succeeded(a_tick_run(run.id.value, 10, 1)).progress;
      run.progress.losses = 0;
      run.progress.outcome = {};
      run.progress.outcome.state = model::RunState::Succeeded;
      run.progress.outcome.started = wall_from_ms(kBase + 5);
      run.progress.outcome.cpu_us = 7;
      ends.updated_runs.push_back({run.id, run.progress});
    }
    for (int i = 0; i < 2; ++i) store_ends(on, ends);
    for (const auto& run : expected) CHECK(difference(on.reader->get_run(run.id)->run, run) == "");
  }
}

TEST_CASE("apply: a clash is named also when the run was to be final at once") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes first = new_job(10, "a");
    first.new_runs = {a_tick_run(100, 10, 1)};
    REQUIRE(on.store->apply(Epoch{1}, first).outcome == ApplyOutcome::Applied);
    core::Changes second;
    second.new_runs = {a_tick_run(201, 10, 1)};
    second.new_runs[0].progress.state = model::RunState::Failed;
    second.new_runs[0].progress.outcome = full_outcome();
    const auto result = on.store->apply(Epoch{1}, second);
    CHECK(result.outcome == ApplyOutcome::Failed);
    CHECK(result.permanent);
    CHECK(result.detail.find("run 201 can not be stored: run 100 has its job and tick") != std::string::npos);
    CHECK(on.reader->runs_after(RunId{0}, 100)->size() == 1);
  }
}
