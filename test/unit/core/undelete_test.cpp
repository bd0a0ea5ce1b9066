// A deleted job comes back, as it was and from now on.
#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::JobState;

namespace {

struct Deleted {
  Harness h;
  JobId job;

  explicit Deleted(const JobBuilder& definition, bool paused = false) {
    h.join(a_worker("w1", 4));
    job = h.apply(definition);
    h.advance(12s);
    if (paused) h.pause("j");
    h.remove("j");
  }
  /// As the API reads it.
  UndeleteJob request() {
    UndeleteJob event;
    event.token = Token{55};
    event.principal = "me";
    event.job = h.jobs.at(job);
    event.version = h.versions.at({job, event.job.version});
    auto definition = event.version;
    for (JobVersion v = event.job.version; !definition.definition; --v) definition = h.versions.at({job, v - 1});
    event.version.definition = definition.definition;
    event.zone = std::make_shared<const model::ZoneRules>();
    return event;
  }
  const Error* undelete(const UndeleteJob& event) {
    h.handle(event);
    REQUIRE(h.last.replies.size() == 1);
    return std::get_if<Error>(&h.last.replies[0].body);
  }
};

}  // namespace

TEST_CASE("undelete: the job fires again, on its old grid, and nothing of the time between") {
  Deleted d(a_job().every(5s).overlap(model::Overlap::Allow));
  const std::size_t before = d.h.runs_of(d.job).size();
  d.h.advance(60s);
  REQUIRE(d.undelete(d.request()) == nullptr);
  CHECK(d.h.notices.back().sentence == "job undeleted");
  CHECK(d.h.jobs.at(d.job).state == JobState::Enabled);
  CHECK(d.h.jobs.at(d.job).version == 2);
  CHECK(d.h.runs_of(d.job).size() == before);
  CHECK(d.h.gaps_of(d.job).empty());
  const WallTime back = d.h.now.wall;
  d.h.advance(5s);
  const auto runs = d.h.runs_of(d.job);
  REQUIRE(runs.size() == before + 1);
  CHECK(*d.h.run(runs.back()).tick > back);
  CHECK((*d.h.run(runs.back()).tick - *d.h.run(runs.front()).tick) % Millis{5000} == Millis{0});
  CHECK(d.h.apply(a_job().every(5s).overlap(model::Overlap::Allow)) == d.job);
  CHECK(d.h.jobs.at(d.job).version == 2);  // known as unchanged
}

TEST_CASE("undelete: one that was paused is paused again") {
  Deleted d(a_job().every(5s).overlap(model::Overlap::Allow), true);
  REQUIRE(d.undelete(d.request()) == nullptr);
  CHECK(d.h.jobs.at(d.job).state == JobState::Paused);
  CHECK(d.h.jobs.at(d.job).state_by == "me");
  const std::size_t before = d.h.runs_of(d.job).size();
  d.h.advance(60s);
  CHECK(d.h.runs_of(d.job).size() == before);
  d.h.pause("j", false);
  d.h.advance(6s);
  CHECK(d.h.runs_of(d.job).size() > before);
}

TEST_CASE("undelete: refused beside another job of that name, and from rows that are old") {
  Deleted d(a_job().every(5s));
  const UndeleteJob old = d.request();
  SUBCASE("another") {
    d.h.apply(a_job().every(7s));
    const Error* error = d.undelete(old);
    REQUIRE(error != nullptr);
    CHECK(error->code == ErrorCode::Conflict);
  }
  SUBCASE("brought back, and deleted again meanwhile") {
    REQUIRE(d.undelete(old) == nullptr);
    d.h.remove("j");
    const Error* error = d.undelete(old);
    REQUIRE(error != nullptr);
    CHECK(error->code == ErrorCode::Conflict);
    CHECK(d.undelete(d.request()) == nullptr);
    CHECK(d.h.jobs.at(d.job).version == 3);
  }
}

TEST_CASE("undelete: not before the moment of its deletion, by whichever clock that was") {
  Deleted d(a_job().every(5s));
  UndeleteJob event = d.request();
  event.version.valid_to = d.h.now.wall + 1s;
  const Error* error = d.undelete(event);
  REQUIRE(error != nullptr);
  CHECK(error->code == ErrorCode::Unavailable);
  d.h.advance(1s);
  CHECK(d.undelete(event) == nullptr);
}

TEST_CASE("undelete: while a run of it is unfinished") {
  Deleted d(a_job().every(5s));  // its run of 5 s is still under way
  REQUIRE(!d.h.runs_of(d.job).empty());
  REQUIRE(d.undelete(d.request()) == nullptr);
  d.h.advance(5s);
  CHECK(d.h.gaps_of(d.job).size() + d.h.runs_of(d.job).size() >= 2);
}

TEST_CASE("undelete: a leader that follows knows it as any other") {
  Deleted d(a_job().every(5s).overlap(model::Overlap::Allow));
  REQUIRE(d.undelete(d.request()) == nullptr);
  Harness next(d.h.recovered(), {}, Epoch{8});
  next.now = d.h.now;
  next.advance(6s);
  CHECK(next.runs_of(d.job).size() >= 1);
}

TEST_CASE("undelete: a job with unfinished runs comes back by its calendar as it stands, or not at all") {
  Harness h;
  h.join(a_worker("w1", 4));
  model::Calendar calendar;
  calendar.name = "de";
  REQUIRE(h.apply_calendar(calendar));
  const JobId job = h.apply(a_job().entries({"every 5s; calendars de"}).overlap(model::Overlap::Allow));
  h.advance(6s);
  REQUIRE(h.runs_of(job).size() == 1);  // it does not end
  h.remove("j");
  UndeleteJob event;
  event.token = Token{55};
  event.principal = "me";
  event.job = h.jobs.at(job);
  event.version = h.versions.at({job, event.job.version});
  event.zone = std::make_shared<const model::ZoneRules>();
  SUBCASE("edited meanwhile") {
    calendar.exclude = {"2023-11-14"};
    const WallTime closed = h.apply_calendar(calendar)->from;
    h.advance(15s);
    CHECK(h.now.wall > closed);
    h.handle(event);
    REQUIRE(std::holds_alternative<JobApplied>(h.last.replies.at(0).body));
    h.advance(15s);
    CHECK(h.runs_of(job).size() == 1);
  }
  SUBCASE("deleted meanwhile") {
    REQUIRE(h.delete_calendar("de"));
    h.handle(event);
    const auto* refused = std::get_if<Error>(&h.last.replies.at(0).body);
    REQUIRE(refused != nullptr);
    CHECK(refused->message == "there is no calendar de");
  }
}

TEST_CASE("undelete: a fixed delay counts from then on, for ends meanwhile were not counted") {
  Deleted d(a_job().entries({"after_end 60s"}));
  REQUIRE(d.h.jobs.at(d.job).memory.due);
  d.h.advance(3s);
  const WallTime back = d.h.now.wall;
  REQUIRE(d.undelete(d.request()) == nullptr);
  CHECK(d.h.jobs.at(d.job).memory.due == back + 60s);
}
