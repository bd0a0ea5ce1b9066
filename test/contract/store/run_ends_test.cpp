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

TEST_CASE("apply: the first dispatch of many runs clears what they waited for") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a"), sent;
    std::vector<model::Run> expected;
    for (std::int64_t i = 0; i < 40; ++i) {
      model::Run run = a_tick_run(100 + i, 10, 1 + i);
      const model::RunProgress dispatched = run.progress;
      run.progress = {};
      run.progress.detail = i % 2 == 0 ? nasty_text() : "";
      if (i % 3 == 0) run.progress.not_before = wall_from_ms(kBase + i);
      changes.new_runs.push_back(run);
      run.progress = dispatched;
      run.progress.attempt = 1;
      run.progress.worker = {i % 2 == 0 ? "o'brien\\" : "w2", "i?"};
      expected.push_back(run);
      sent.updated_runs.push_back({run.id, run.progress});
    }
    store_ends(on, changes);
    for (int i = 0; i < 2; ++i) store_ends(on, sent);
    for (const auto& run : expected) CHECK(difference(on.reader->get_run(run.id)->run, run) == "");
  }
}

TEST_CASE("apply: many successes that share a worker are stored as each by itself") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a"), ends;
    std::vector<model::Run> expected;
    for (std::int64_t i = 0; i < 40; ++i) {
      model::Run run = a_tick_run(100 + i, 10, 1 + i);
      if (i % 3 == 0) run.progress = {};  // it waited
      if (i % 3 == 1) run.progress.outcome = full_outcome();
      if (i % 3 == 1) run.progress.detail = nasty_text();
      changes.new_runs.push_back(run);
      model::RunProgress& ended = run.progress;
      ended = succeeded(a_tick_run(run.id.value, 10, 1)).progress;
      ended.losses = i % 6 == 5 ? 1 : 0;  // a few: those are not stored with the others
      ended.outcome = {};
      ended.outcome.state = model::RunState::Succeeded;
      ended.dispatched = wall_from_ms(kBase + i);
      ended.started = wall_from_ms(kBase + 5 + i);
      ended.outcome.started = wall_from_ms(kBase + 5 + (i < 30 ? i : 0));  // of a few: not when the run began
      ended.outcome.ended = wall_from_ms(kBase + 9 + i);
      ended.outcome.exit_status = i % 5 == 0 ? 0 : -1;
      ended.outcome.stdout_bytes = i;
      if (i % 2 == 0) ended.outcome.cpu_us = 1000 + i;
      if (i % 7 == 0) ended.outcome.written_bytes = i;
      if (i < 10) ended.worker = {"o'brien\\", "i?"};
      expected.push_back(run);
      ends.updated_runs.push_back({run.id, ended});
    }
    store_ends(on, changes);
    for (int i = 0; i < 2; ++i) store_ends(on, ends);
    for (const auto& run : expected) CHECK(difference(on.reader->get_run(run.id)->run, run) == "");
  }
}

TEST_CASE("apply: many successes of runs that waited and cost the same are stored as each by itself") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a"), ends;
    std::vector<model::Run> expected;
    for (std::int64_t i = 0; i < 72; ++i) {
      model::Run run = a_tick_run(100 + i, 10, 1 + i);
      run.progress = {};                          // it waits, and has nothing of its own
      if (i % 4 == 1) run.parameters = std::make_shared<const model::Parameters>(model::Parameters{{"k", "v"}});
      if (i % 4 == 2) run.progress.epoch = Epoch{1};
      if (i % 4 == 3) run.progress.outcome = full_outcome();
      changes.new_runs.push_back(run);
      model::RunProgress& ended = run.progress;
      ended = succeeded(a_tick_run(run.id.value, 10, 1)).progress;
      ended.losses = i % 6 == 5 ? 1 : 0;  // a few: those are not stored with the others
      ended.outcome = {};
      ended.outcome.state = model::RunState::Succeeded;
      ended.dispatched = wall_from_ms(kBase + i);
      ended.started = ended.outcome.started = wall_from_ms(kBase + 5 + i);
      ended.ended = ended.outcome.ended = wall_from_ms(kBase + 9 + i);
      if (i < 24) ended.outcome.ended = wall_from_ms(kBase + 8 + i);  // the attempt, before its run
      ended.outcome.stdout_bytes = i / 12;        // twelve of each
      if (i >= 36) ended.outcome.stderr_bytes = 3;
      if (i >= 48) ended.outcome.cpu_us = 1000;
      if (i >= 60) ended.outcome.peak_memory_bytes = ended.outcome.read_bytes = 7;
      if (i >= 60) ended.outcome.written_bytes = 8;
      expected.push_back(run);
      ends.updated_runs.push_back({run.id, ended});
    }
    store_ends(on, changes);
    for (const auto& run : changes.new_runs) CHECK(difference(on.reader->get_run(run.id)->run, run) == "");
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

TEST_CASE("apply: a run that was out of time comes back as that, and a timed out attempt as one") {
  ON_EACH_STORE(on, led_backends()) {
    using enum model::Reason;
    const std::pair<model::Reason, const char*> ends_of[] = {
        {RunTimeout, "timeout.run: 1h"}, {QueueTimeout, "timeout.queue: 5m"}, {AttemptTimeout, ""},
        {AttemptTimeout, "no time for another attempt, timeout.run: 1h"}};
    core::Changes changes = new_job(10, "a");
    for (std::int64_t id = 100; id < 124; ++id) changes.new_runs.push_back(a_tick_run(id, 10, id));
    store_ends(on, changes);
    core::Changes ends;
    for (model::Run& run : changes.new_runs) {
      const auto& [reason, detail] = ends_of[run.id.value % 4];
      run.progress.state = model::RunState::TimedOut;
      run.progress.reason = reason;
      run.progress.detail = detail;
      run.progress.ended = wall_from_ms(kBase + 90);
      ends.updated_runs.push_back({run.id, run.progress});
    }
    store_ends(on, ends);
    const auto runs = on.reader->runs_after(RunId{0}, 100);
    REQUIRE(runs->size() == changes.new_runs.size());
    for (std::size_t i = 0; i < runs->size(); ++i) CHECK(difference((*runs)[i], changes.new_runs[i]) == "");
  }
}
