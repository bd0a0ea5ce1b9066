#include "master/upkeep/database_watch.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace rota;
using namespace rota::master;

namespace {

const MonoTime kStart{std::chrono::seconds{100}};

struct Verdict {
  DatabaseVerdict verdict{DatabaseWatchOptions{}};
  MonoTime now = kStart;
  bool after(Millis pause, bool good) {
    now += pause;
    return verdict.take(good, now);
  }
};

}  // namespace

TEST_CASE("database_watch: the first good answer makes a candidate") {
  Verdict v;
  CHECK_FALSE(v.after(Millis{0}, false));
  CHECK(v.after(Millis{500}, true));
}

TEST_CASE("database_watch: bad answers count after six seconds, good ones again after three") {
  Verdict v;
  v.after(Millis{0}, true);
  CHECK(v.after(Millis{500}, false));
  CHECK(v.after(Millis{5999}, false));
  CHECK_FALSE(v.after(Millis{1}, false));
  CHECK_FALSE(v.after(Millis{500}, true));
  CHECK_FALSE(v.after(Millis{2999}, true));
  CHECK(v.after(Millis{1}, true));
}

TEST_CASE("database_watch: one good answer forgives the bad ones before it") {
  Verdict v;
  v.after(Millis{0}, true);
  v.after(Millis{500}, false);
  v.after(Millis{5500}, true);
  CHECK(v.after(Millis{500}, false));
  CHECK(v.after(Millis{5500}, false));
}

TEST_CASE("database_watch: what a Term found lost is lost at once") {
  Verdict v;
  v.after(Millis{0}, true);
  v.verdict.lose(v.now);
  CHECK_FALSE(v.verdict.is_good());
  CHECK_FALSE(v.after(Millis{500}, true));
  CHECK(v.after(Millis{3000}, true));
}

TEST_CASE("database_watch: after a bad answer the schema is looked at again before a good one counts") {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> calls;
  const auto note = [&](const char* what) {
    std::scoped_lock lock(mutex);
    calls.emplace_back(what);
    changed.notify_all();
  };
  int probes = 0;  // the watch's thread only
  DatabaseWatchOptions options;
  options.every = Millis{1};
  DatabaseWatch watch(
      options,
      [&]() -> Result<void> {
        note("prepare");
        return {};
      },
      [&]() -> Result<void> {
        note("probe");
        if (++probes == 2) return fail(ErrorCode::Unavailable, "gone");
        return {};
      },
      [](bool) {});
  std::unique_lock lock(mutex);
  REQUIRE(changed.wait_for(lock, std::chrono::seconds{120}, [&] { return calls.size() >= 6; }));
  calls.resize(6);
  CHECK(calls == std::vector<std::string>{"prepare", "probe", "probe", "prepare", "probe", "probe"});
  lock.unlock();
  watch.stop();
}

TEST_CASE("database_watch: a silent database is told with the moment of the first question") {
  DatabaseSilence silence;
  const WallTime wall = wall_from_ms(1'700'000'000'000);
  const auto ask = [&](const Result<void>& answer, Millis after) {
    silence.take(answer, Now{wall + after, kStart + after});
  };
  const auto word = [&](Millis after) { return silence.word(kStart + after, Millis{2000}); };
  ask({}, Millis{0});
  CHECK(word(Millis{9000}).empty());
  ask(fail(ErrorCode::Unavailable, "database: no route"), Millis{500});
  ask(fail(ErrorCode::Unavailable, "database: refused"), Millis{1000});
  CHECK(word(Millis{2499}).empty());  // one lost connection is no silence
  CHECK(word(Millis{2500}) == "the database does not answer since 2023-11-14T22:13:20.500Z: refused");
  ask(fail(ErrorCode::Denied, "database: no privilege"), Millis{3000});  // an answer
  CHECK(word(Millis{9000}).empty());
  ask(fail(ErrorCode::TimedOut, "database: slow"), Millis{4000});
  CHECK(word(Millis{6000}) == "the database does not answer since 2023-11-14T22:13:24.000Z: slow");
  ask({}, Millis{6000});
  CHECK(word(Millis{9000}).empty());
}
