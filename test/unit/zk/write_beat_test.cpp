#include "common/zk/write_beat.h"

#include <doctest/doctest.h>

#include <atomic>

#include "test/support/zk/test_session.h"

using namespace rota;
using namespace rota::zk;
using Op = FakeServer::Op;
using Loss = FakeServer::Loss;

namespace {

struct Fixture {
  FakeServer server;
  Session session;
  Watched<std::vector<Beat>> beats;
  std::atomic<bool> may_beat = true;
  std::unique_ptr<WriteBeat> write_beat;

  Fixture() : session(server.factory(), options()) {
    WriteBeatOptions beat_options;
    beat_options.folder = "/b";
    beat_options.server_tick = Millis{10};
    beat_options.name = [](SessionId id) { return "w1@" + std::to_string(id); };
    beat_options.may_beat = [this] { return may_beat.load(); };
    beat_options.answered = [this](const Beat& beat) {
      beats.change([&](auto& all) { all.push_back(beat); });
    };
    write_beat = std::make_unique<WriteBeat>(session, std::move(beat_options));
  }
  static SessionOptions options() {
    SessionOptions quick = quick_session();
    quick.client.session_timeout = Millis{660};  // a beat every 110 ms
    return quick;
  }
  bool counts(std::size_t number) {
    return beats.becomes([&](const auto& all) { return all.size() >= number; });
  }
};

}  // namespace

TEST_CASE("write beat: each answered write extends the lease, counted from its sending") {
  Fixture f;
  const MonoTime before = BootClock::now();
  f.session.start();
  REQUIRE(f.counts(3));
  const MonoTime after = BootClock::now();
  const auto beats = f.beats.get();
  const Millis length = lease_length({Millis{660}, Millis{10}});
  CHECK(length == Millis{240});
  CHECK(beats[0].lease_end >= before + length);
  CHECK(beats[2].lease_end <= after + length);
  CHECK(beats[0].lease_end < beats[1].lease_end);
  CHECK(beats[1].lease_end - beats[0].lease_end >= Millis{100});
  CHECK(f.server.children("/b").size() == 1);
}

TEST_CASE("write beat: the lease is counted from before the request, however late the answer is") {
  Watched<MonoTime> asked;
  FakeServer server;
  Session session(server.factory(), Fixture::options());
  Watched<std::optional<Beat>> first;
  WriteBeatOptions options;
  options.folder = "/b";
  options.server_tick = Millis{10};
  options.name = [](SessionId id) { return "w1@" + std::to_string(id); };
  options.may_beat = [&] {  // the sending has begun; the clock moves before the answer comes
    const MonoTime now = BootClock::now();
    if (!first.get()) asked.change([&](MonoTime& at) { at = now; });
    while (BootClock::now() - now < Millis{1}) continue;
    return true;
  };
  options.answered = [&](const Beat& beat) {
    first.change([&](auto& one) { one = one.value_or(beat); });
  };
  WriteBeat write_beat(session, std::move(options));
  session.start();
  REQUIRE(first.becomes([](const auto& one) { return one.has_value(); }));
  CHECK(first.get()->lease_end <= asked.get() + lease_length({Millis{660}, Millis{10}}));
}

TEST_CASE("write beat: an unanswered write extends nothing") {
  Fixture f;
  f.session.start();
  REQUIRE(f.counts(1));
  std::vector<Beat> before;
  f.session.tasks().run(testing::kPatience, [&] {  // no beat is under way
    before = f.beats.get();
    f.server.lose_next(Op::Set, Loss::Answer);
  });
  REQUIRE(f.counts(before.size() + 1));
  // The next answered write is at least one beat and one retry later than the one before.
  CHECK(f.beats.get()[before.size()].lease_end - before.back().lease_end >= Millis{110 + 90});
}

TEST_CASE("write beat: a new session gets a node and a lease of its own") {
  Fixture f;
  f.session.start();
  REQUIRE(f.counts(1));
  const SessionId first = f.beats.get().front().session;
  f.server.expire(first);
  REQUIRE(f.beats.becomes([&](const auto& all) { return all.back().session != first; }));
  CHECK(f.server.children("/b").size() == 1);
}

TEST_CASE("write beat: creates a deleted beat node again") {
  Fixture f;
  f.session.start();
  REQUIRE(f.counts(1));
  f.server.delete_by_hand("/b/" + f.server.children("/b").front());
  const std::size_t so_far = f.beats.get().size();
  REQUIRE(f.counts(so_far + 2));
  CHECK(f.server.children("/b").size() == 1);
}

TEST_CASE("write beat: when it may not beat, nothing is written") {
  Fixture f;
  f.session.start();
  REQUIRE(f.counts(1));
  f.may_beat = false;
  settle(f.session);
  const std::size_t so_far = f.beats.get().size();
  const int written = f.server.operations(Op::Set);
  Watched<int> waited;
  f.session.tasks().post_after(nullptr, Millis{250}, [&] { waited.change([](int& v) { v = 1; }); });
  REQUIRE(waited.becomes([](int v) { return v == 1; }));
  CHECK(f.beats.get().size() == so_far);
  CHECK(f.server.operations(Op::Set) == written);
  f.may_beat = true;
  CHECK(f.counts(so_far + 1));
}
