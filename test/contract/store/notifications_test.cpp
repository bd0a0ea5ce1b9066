// Notifications: read back as they were, what a new Term goes on with, and what is forgotten.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using model::Delivery;
using model::Happening;

namespace {

model::Notification a_notification(std::int64_t id, Delivery state = Delivery::Open) {
  model::Notification row;
  row.id = id;
  row.receiver = "ops";
  row.what = Happening::Failed;
  row.job = JobId{12};
  row.space = "default";
  row.job_name = "job";
  row.run = RunId{id - 1};
  row.worker = "w1";
  row.moment = wall_from_ms(kBase + id);
  row.text = "run ended as failed: \u00fc";
  row.made = wall_from_ms(kBase + id * 1000);
  row.state = state;
  if (state != Delivery::Open) row.settled = wall_from_ms(kBase + id * 1000 + 7);
  return row;
}

void apply_told(const Backend& on, const core::Changes& changes) {
  const auto result = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
}

core::Changes told(std::vector<model::Notification> rows) {
  core::Changes changes;
  changes.notifications = std::move(rows);
  return changes;
}

std::vector<std::int64_t> ids_of(const std::vector<model::Notification>& rows) {
  std::vector<std::int64_t> out;
  for (const auto& row : rows) out.push_back(row.id);
  return out;
}
using Ids = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("notifications: a row comes back as it went in, and as it was changed") {
  ON_EACH_STORE(on, led_backends()) {
    model::Notification row = a_notification(100);
    for (int i = 0; i < 2; ++i) apply_told(on, told({row}));
    REQUIRE(on.reader->list_notifications(false, 10)->size() == 1);
    CHECK(on.reader->list_notifications(false, 10)->front() == row);
    row.state = Delivery::Delivered;
    row.attempts = 3;
    row.settled = wall_from_ms(kBase + 9);
    row.last_error = "status 503";
    row.count = 4;
    apply_told(on, told({row}));
    CHECK(on.reader->list_notifications(false, 10)->front() == row);
  }
}

TEST_CASE("notifications: one that is made and changed in the same batch stands as it was last") {
  ON_EACH_STORE(on, led_backends()) {
    model::Notification row = a_notification(100), later = row;
    later.count = 2;
    apply_told(on, told({row, later}));
    CHECK(on.reader->list_notifications(false, 10)->front() == later);
  }
}

TEST_CASE("notifications: a new Term goes on with what is open, in order") {
  ON_EACH_STORE(on, led_backends()) {
    apply_told(on, told({a_notification(103), a_notification(101), a_notification(102, Delivery::Delivered),
                         a_notification(104, Delivery::GivenUp)}));
    const auto all = on.office->recover();
    REQUIRE(all);
    CHECK(ids_of(all->notifications) == Ids{101, 103});
    CHECK(ids_of(*on.reader->list_notifications(true, 10)) == Ids{103, 101});
    CHECK(ids_of(*on.reader->list_notifications(false, 3)) == Ids{104, 103, 102});
    CHECK(ids_of(*on.reader->notifications_after(102, 10)) == Ids{103, 104});
    CHECK(ids_of(*on.reader->notifications_after(100, 2)) == Ids{101, 102});
  }
}

TEST_CASE("notifications: what is settled and old is forgotten, what is open never") {
  ON_EACH_STORE(on, led_backends()) {
    apply_told(on,
               told({a_notification(101), a_notification(102, Delivery::Delivered),
                     a_notification(103, Delivery::GivenUp), a_notification(104, Delivery::Delivered)}));
    core::Changes forget;
    forget.forget_notifications = wall_from_ms(kBase + 104'000);
    for (int i = 0; i < 2; ++i) apply_told(on, forget);
    CHECK(ids_of(*on.reader->list_notifications(false, 10)) == Ids{104, 101});
  }
}

TEST_CASE("notifications: what each Term knew of receivers") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes;
    changes.receivers = {{Epoch{1}, {"ops", {Happening::Failed, Happening::NoLeader}, true}},
                         {Epoch{1}, {"dba", {}, false}}};
    for (int i = 0; i < 2; ++i) apply_told(on, changes);
    const auto rows = on.reader->receivers();
    REQUIRE(rows);
    REQUIRE(rows->size() == 2);
    CHECK(rows->at(0) == changes.receivers[1]);
    CHECK(rows->at(1) == changes.receivers[0]);
  }
}
