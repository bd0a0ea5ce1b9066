#include "master/office/takeover.h"

#include <doctest/doctest.h>

#include <functional>
#include <utility>

#include "common/zk/paths.h"
#include "master/store/memory/memory_store.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/fake_server.h"

using namespace rota;
using namespace rota::master;

namespace {

struct TakeoverFixture {
  zk::FakeServer server;
  zk::EventLog log;
  zk::Paths paths{"c"};
  std::unique_ptr<zk::Client> client =
      std::move(*server.factory()(zk::ClientOptions{}, log.handler()));
  std::unique_ptr<store::MemoryStore> database = std::make_unique<store::MemoryStore>();
  Millis grant{5000};

  StoredMark seen;  ///< by the candidate itself

  Result<Office> take() { return enter_office(*client, paths, *database, {"m", grant, seen}); }
  Office lead() {
    auto office = take();
    REQUIRE(office);
    REQUIRE(note_stored(*client, paths, {office->epoch, {}}));
    return std::move(*office);
  }
  /// ZooKeeper knows of whoever took office in the database.
  void note_other() {
    REQUIRE(client->set(paths.epoch(), std::to_string(database->read_marks()->epoch.value), zk::kAnyVersion));
  }
  /// From a copy that was made when this cluster was new.
  void restore_old_copy() {
    const std::string uuid = database->read_marks()->cluster_uuid;
    database = std::make_unique<store::MemoryStore>();
    REQUIRE(database->settle_uuid(uuid));
  }
  void store_up_to(Epoch epoch, std::int64_t watermark_ms) {
    core::Changes batch;
    batch.watermark = wall_from_ms(watermark_ms);
    REQUIRE(database->apply(epoch, batch).outcome == store::ApplyOutcome::Applied);
  }
  /// From a replica under the same leader, which has everything up to that watermark.
  void promote_replica(Epoch epoch, std::int64_t watermark_ms) {
    restore_old_copy();
    REQUIRE(database->enter_office(epoch, "m"));
    store_up_to(epoch, watermark_ms);
  }
};

TEST_CASE("takeover: a candidate whose elector is not in force writes nothing") {
  TakeoverFixture f;
  f.lead();
  const Epoch before = f.database->read_marks()->epoch;
  Candidate other{"m2", Millis{5000}};
  other.may_lead = [] { return Result<void>(fail(ErrorCode::Fenced, "another elector is in force")); };
  const auto refused = enter_office(*f.client, f.paths, *f.database, other);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::Fenced);
  CHECK(f.database->read_marks()->epoch == before);
}

TEST_CASE("takeover: an elector that was changed after the first look is noticed before office is held") {
  TakeoverFixture f;
  f.lead();
  Candidate other{"m2", Millis{5000}};
  int asked = 0;
  other.may_lead = [&asked] {
    return ++asked == 1 ? Result<void>() : Result<void>(fail(ErrorCode::Fenced, "another elector is in force"));
  };
  const auto refused = enter_office(*f.client, f.paths, *f.database, other);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::Fenced);
  CHECK(asked == 2);
}

/// Somebody else takes office while this one reads what it starts from. `meanwhile`: what others do once
/// it has read the database's marks.
class OvertakenOffice final : public store::Office {
 public:
  explicit OvertakenOffice(store::Office& real, std::function<void()> meanwhile = {})
      : real_(real), meanwhile_(std::move(meanwhile)) {}
  Result<Marks> read_marks() override {
    auto marks = real_.read_marks();
    if (meanwhile_) std::exchange(meanwhile_, {})();
    return marks;
  }
  Result<std::string> settle_uuid(const std::string& proposed) override {
    return real_.settle_uuid(proposed);
  }
  Result<Millis> settle_grant(Millis own) override { return real_.settle_grant(own); }
  Result<void> claim(const store::Claim& claim) override {
    epoch_ = claim.epoch;
    return real_.claim(claim);
  }
  Result<void> settle_zookeeper(Epoch epoch, const store::KnownZookeeper& zookeeper) override {
    return real_.settle_zookeeper(epoch, zookeeper);
  }
  Result<void> beat(Epoch epoch) override { return real_.beat(epoch); }
  Result<std::int64_t> count_held() override { return real_.count_held(); }
  Result<core::Recovered> recover() override {
    auto recovered = real_.recover();
    REQUIRE(real_.enter_office(Epoch{epoch_.value + 1}, "other"));
    return recovered;
  }
  Result<std::vector<model::Gap>> gaps_beyond(WallTime moment) override { return real_.gaps_beyond(moment); }
  Result<void> rewind(const store::Rewind& rewind) override { return real_.rewind(rewind); }
  Result<void> probe() override { return real_.probe(); }

 private:
  store::Office& real_;
  std::function<void()> meanwhile_;
  Epoch epoch_;
};

}  // namespace

TEST_CASE("takeover: epochs grow, and ticks are not held") {
  TakeoverFixture f;
  const Office first = f.lead();
  const Office second = f.lead();
  CHECK(second.epoch > first.epoch);
  CHECK(second.cluster_uuid == first.cluster_uuid);
  CHECK_FALSE(second.recovered.database_went_back);
}

TEST_CASE("takeover: a shorter grant than an older leader's does not shorten the fence") {
  TakeoverFixture f;
  f.grant = Millis{20'000};
  CHECK(f.lead().longest_grant == Millis{20'000});
  f.grant = Millis{2000};
  CHECK(f.lead().longest_grant == Millis{20'000});
}

TEST_CASE("takeover: one that fails on the way does not hide that ZooKeeper was new") {
  TakeoverFixture f;
  f.lead();
  f.server.delete_by_hand(f.paths.cluster_uuid());
  f.database->set_down(true);
  REQUIRE_FALSE(f.take());
  f.database->set_down(false);
  OvertakenOffice overtaken(*f.database);
  REQUIRE_FALSE(enter_office(*f.client, f.paths, overtaken, {"m", f.grant}));
  f.note_other();
  CHECK(f.take()->zookeeper_is_new);
  CHECK_FALSE(f.take()->zookeeper_is_new);
}

TEST_CASE("takeover: a database that went back holds the ticks of every Term until it is accepted") {
  TakeoverFixture f;
  f.lead();
  const Office before = f.lead();
  f.restore_old_copy();
  const Office first = f.lead();
  CHECK(first.epoch > before.epoch);
  CHECK(first.recovered.database_went_back);
  CHECK(f.lead().recovered.database_went_back);  // the epoch alone does not tell any more
  CHECK(*is_restore_held(*f.client, f.paths));

  REQUIRE(accept_restore(*f.client, f.paths));
  REQUIRE(accept_restore(*f.client, f.paths));
  CHECK_FALSE(*is_restore_held(*f.client, f.paths));
  CHECK_FALSE(f.lead().recovered.database_went_back);
}

TEST_CASE("takeover: a replica without the last transactions of the same epoch is one that went back") {
  TakeoverFixture f;
  const Office before = f.lead();
  f.store_up_to(before.epoch, 5000);
  REQUIRE(note_stored(*f.client, f.paths, {before.epoch, wall_from_ms(5000)}));
  f.promote_replica(before.epoch, 4999);
  CHECK(f.lead().recovered.database_went_back);
  REQUIRE(accept_restore(*f.client, f.paths));
  CHECK_FALSE(f.lead().recovered.database_went_back);
}

TEST_CASE("takeover: a slice of ticks under way is no database that went back, a part of it that is gone is") {
  TakeoverFixture f;
  const Office before = f.lead();
  const auto slice = [](std::int64_t job) {
    return core::Watermark(wall_from_ms(5000), wall_from_ms(6000), JobId{job});
  };
  core::Changes batch;
  batch.watermark = slice(70);
  REQUIRE(f.database->apply(before.epoch, batch).outcome == store::ApplyOutcome::Applied);
  REQUIRE(note_stored(*f.client, f.paths, {before.epoch, slice(70)}));
  CHECK(f.client->get(f.paths.root() + "/epoch_stored", zk::Watch::No)->data ==
        std::to_string(before.epoch.value) + " 5000 6000 70");
  SUBCASE("as it was noted") { CHECK_FALSE(f.lead().recovered.database_went_back); }
  SUBCASE("further, and over") {
    f.store_up_to(before.epoch, 6000);
    CHECK_FALSE(f.lead().recovered.database_went_back);
  }
  SUBCASE("not so far") {
    f.restore_old_copy();
    REQUIRE(f.database->enter_office(before.epoch, "m"));
    batch.watermark = slice(69);
    REQUIRE(f.database->apply(before.epoch, batch).outcome == store::ApplyOutcome::Applied);
    CHECK(f.lead().recovered.database_went_back);
  }
}

TEST_CASE("takeover: what the candidate saw stored counts, although ZooKeeper was told less") {
  TakeoverFixture f;
  const Office before = f.lead();
  f.store_up_to(before.epoch, 5000);
  f.seen = {before.epoch, wall_from_ms(5000)};
  f.promote_replica(before.epoch, 4999);
  CHECK(f.lead().recovered.database_went_back);
}

TEST_CASE("takeover: a database that knows more than ZooKeeper was told did not go back") {
  TakeoverFixture f;
  const Office before = f.lead();
  f.store_up_to(before.epoch, 5000);
  REQUIRE(note_stored(*f.client, f.paths, {before.epoch, wall_from_ms(4000)}));
  f.seen = {before.epoch, wall_from_ms(4500)};
  CHECK_FALSE(f.lead().recovered.database_went_back);
}

TEST_CASE("takeover: what others store while a candidate reads is no sign of a database that went back") {
  TakeoverFixture f;
  const Office before = f.lead();
  OvertakenOffice overtaken(*f.database, [&] {
    f.store_up_to(before.epoch, 5000);
    REQUIRE(note_stored(*f.client, f.paths, {before.epoch, wall_from_ms(5000)}));
  });
  CHECK_FALSE(enter_office(*f.client, f.paths, overtaken, {"m", f.grant}));
  f.note_other();
  OvertakenOffice overtaken_wholly(*f.database, [&f] { f.lead(); });
  CHECK_FALSE(enter_office(*f.client, f.paths, overtaken_wholly, {"m", f.grant}));
  CHECK_FALSE(*is_restore_held(*f.client, f.paths));
}

TEST_CASE("takeover: the alarm that a leader raised holds the ticks of the next Term") {
  TakeoverFixture f;
  const Office before = f.lead();
  REQUIRE(raise_restore_alarm(*f.client, f.paths, before.epoch));
  REQUIRE(raise_restore_alarm(*f.client, f.paths, before.epoch));
  CHECK(f.lead().recovered.database_went_back);
}

TEST_CASE("takeover: tries that failed are no sign of a database that went back") {
  TakeoverFixture f;
  f.lead();
  f.database->set_down(true);
  CHECK_FALSE(f.take());
  f.database->set_down(false);
  CHECK_FALSE(f.lead().recovered.database_went_back);
}

TEST_CASE("takeover: the note of an older leader does not lower what stands") {
  TakeoverFixture f;
  f.lead();
  const Office newest = f.lead();
  REQUIRE(note_stored(*f.client, f.paths, {Epoch{1}, {}}));
  f.restore_old_copy();
  REQUIRE(f.database->enter_office(Epoch{1}, "an old copy"));
  CHECK(newest.epoch > Epoch{1});
  CHECK(f.take()->recovered.database_went_back);
}

TEST_CASE("takeover: who was overtaken while reading does not lead") {
  TakeoverFixture f;
  OvertakenOffice overtaken(*f.database);
  const auto office = enter_office(*f.client, f.paths, overtaken, {"m", Millis{5000}});
  REQUIRE_FALSE(office);
  CHECK(office.error().code == ErrorCode::Conflict);
}
