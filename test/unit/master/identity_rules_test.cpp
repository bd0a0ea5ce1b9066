#include "master/office/identity_rules.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::master;

namespace {

const zk::Identity kOne{"one", 10};

/// A cluster that was led through this ZooKeeper, up to epoch 5.
IdentityFacts led() {
  IdentityFacts facts;
  facts.identity = facts.known_identity = kOne;
  facts.uuid = facts.known_uuid = "u";
  facts.epoch = facts.known_epoch = Epoch{5};
  return facts;
}

OfficeFacts strange(Millis quiet, std::int64_t held) {
  OfficeFacts facts;
  facts.belonging = Belonging::Replaced;
  facts.quiet = quiet;
  facts.held = held;
  return facts;
}

}  // namespace

TEST_CASE("identity: the ZooKeeper that the database is led through is ours, also after takeovers that failed") {
  IdentityFacts facts = led();
  CHECK(belonging_of(facts) == Belonging::Ours);
  facts.epoch = Epoch{9};
  CHECK(belonging_of(facts) == Belonging::Ours);
}

TEST_CASE("identity: a fresh ZooKeeper is not ours, nor is a copy of its nodes, nor one marked otherwise") {
  IdentityFacts facts = led();
  facts.identity.reset();
  facts.uuid.reset();
  facts.epoch = Epoch{0};
  CHECK(belonging_of(facts) == Belonging::Replaced);
  facts = led();
  facts.identity->created_zxid = 11;
  CHECK(belonging_of(facts) == Belonging::Replaced);
  facts = led();
  facts.identity->value = "two";
  CHECK(belonging_of(facts) == Belonging::Replaced);
}

TEST_CASE("identity: an epoch in the database above ZooKeeper's is a foreign leader's, or ZooKeeper went back") {
  IdentityFacts facts = led();
  facts.known_epoch = Epoch{6};
  CHECK(belonging_of(facts) == Belonging::Behind);
}

TEST_CASE("identity: what older masters led without it is ours by the uuid, unless ZooKeeper is behind") {
  IdentityFacts facts = led();
  facts.identity.reset();
  facts.known_identity.reset();
  CHECK(belonging_of(facts) == Belonging::Unmarked);
  facts.identity = kOne;  // an earlier takeover came no further
  CHECK(belonging_of(facts) == Belonging::Unmarked);
  facts.epoch = Epoch{4};
  CHECK(belonging_of(facts) == Belonging::Behind);
  facts.uuid.reset();
  CHECK(belonging_of(facts) == Belonging::Replaced);
}

TEST_CASE("identity: nobody has ever led a new database") {
  IdentityFacts facts;
  CHECK(belonging_of(facts) == Belonging::Unmarked);
  facts = led();
  facts.known_identity.reset();
  facts.known_uuid.clear();
  facts.known_epoch = Epoch{0};
  CHECK(belonging_of(facts) == Belonging::Unmarked);
}

TEST_CASE("identity: a ZooKeeper that was used with another database is refused, whatever else holds") {
  IdentityFacts facts = led();
  facts.uuid = "v";
  CHECK(belonging_of(facts) == Belonging::Anothers);
  OfficeFacts office = strange(Millis{600'000}, 0);
  office.belonging = Belonging::Anothers;
  office.word = OperatorWord::Accepted;
  CHECK(rule_office(office) == OfficeRuling::Refuse);
}

TEST_CASE("identity: another ZooKeeper is adopted only when nobody leads and nothing runs") {
  CHECK(rule_office(strange(Millis{60'000}, 0)) == OfficeRuling::Adopt);
  CHECK(rule_office(strange(Millis{59'999}, 0)) == OfficeRuling::HoldLed);
  CHECK(rule_office(strange(Millis{59'999}, 3)) == OfficeRuling::HoldLed);
  CHECK(rule_office(strange(Millis{600'000}, 1)) == OfficeRuling::HoldUnfinished);
  OfficeFacts behind = strange(Millis{600'000}, 1);
  behind.belonging = Belonging::Behind;
  CHECK(rule_office(behind) == OfficeRuling::HoldUnfinished);
}

TEST_CASE("identity: the operator's word lets another ZooKeeper in at once") {
  for (const std::int64_t held : {0, 2}) {
    OfficeFacts facts = strange(Millis{0}, held);
    facts.word = OperatorWord::Accepted;
    CHECK(rule_office(facts) == OfficeRuling::TakeAccepted);
    facts.word = OperatorWord::WorkersGone;
    CHECK(rule_office(facts) == OfficeRuling::TakeWithoutWorkers);
  }
}

TEST_CASE("identity: each other ZooKeeper has a higher number, and workers seen before are waited for") {
  const zk::Identity two{"two", 20};
  const store::KnownZookeeper known{kOne, 3, 0};
  CHECK(zookeeper_after(OfficeRuling::TakeAndMark, two, {}) == store::KnownZookeeper{two, 0, 0});
  CHECK(zookeeper_after(OfficeRuling::Adopt, two, known) == store::KnownZookeeper{two, 4, 4});
  CHECK(zookeeper_after(OfficeRuling::TakeAccepted, two, known) == store::KnownZookeeper{two, 4, 4});
  CHECK(zookeeper_after(OfficeRuling::TakeWithoutWorkers, two, known) == store::KnownZookeeper{two, 4, 0});
}

TEST_CASE("identity: who is held off learns who leads, where, and the command") {
  store::Office::Marks marks;
  marks.epoch = Epoch{7};
  marks.holder = {"master-1", "db-host:7100"};
  for (const OfficeRuling ruling : {OfficeRuling::HoldLed, OfficeRuling::HoldUnfinished}) {
    const std::string words = words_of_hold(ruling, strange(Millis{0}, 2), marks, "/rota/c");
    CAPTURE(words);
    for (const char* part : {"master-1", "db-host:7100", "7", "/rota/c", "--accept-new-zookeeper"}) {
      CHECK(words.find(part) != std::string::npos);
    }
  }
}

TEST_CASE("quiet watch: any sign of a leader begins the time anew, however far apart the looks are") {
  QuietWatch watch;
  store::Office::Marks marks;
  MonoTime now{};
  CHECK(watch.look(marks, now) == Millis{0});
  CHECK(watch.look(marks, now += Millis{61'000}) == Millis{61'000});
  marks.beats = 1;
  CHECK(watch.look(marks, now += Millis{1}) == Millis{0});
  CHECK(watch.look(marks, now += Millis{10}) == Millis{10});
  marks.watermark = wall_from_ms(5);
  CHECK(watch.look(marks, now += Millis{1}) == Millis{0});
  marks.epoch = Epoch{1};
  CHECK(watch.look(marks, now += Millis{1}) == Millis{0});
}
