#include "worker/run/progress_collector.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <vector>

#include "test/unit/worker/temporary_folder.h"

namespace rota::worker::run {

namespace {

constexpr std::uint64_t kFirstTestToken = 100;
const model::AttemptKey kTestAttempt{RunId{7}, 2};

struct CollectorSetting {
  testing::TemporaryFolder folder;
  UniqueFd epoll{::epoll_create1(EPOLL_CLOEXEC)};
  std::vector<Said> heard;
  ProgressCollector collector{folder.path() + "/notes", epoll.get(), kFirstTestToken,
                      [this](model::AttemptKey, const Said& said) { heard.push_back(said); }};
  UniqueFd job;                        ///< the job's end
  MonoTime now{};

  CollectorSetting() { REQUIRE(collector.start()); }
  UniqueFd pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    REQUIRE(::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    job.reset(ends[1]);
    return UniqueFd(ends[0]);
  }
  void say(const std::string& text) const {
    REQUIRE(::write(job.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  /// True when epoll had something of the collector's.
  bool turn() {
    epoll_event event{};
    if (::epoll_wait(epoll.get(), &event, 1, 0) != 1) return false;
    collector.handle(event.data.u64, now);
    return true;
  }
};

}  // namespace

TEST_CASE("progress_collector: passes on what is new, and reads on after a pause") {
  CollectorSetting it;
  it.collector.watch(kTestAttempt, it.pipe());
  CHECK_FALSE(it.turn());
  it.say("progress 10 a\nresult r\n");
  REQUIRE(it.turn());
  REQUIRE(it.heard.size() == 1);
  CHECK(it.heard[0].percent == 10);
  it.say("progress 20\n");
  CHECK_FALSE(it.turn());
  REQUIRE(it.collector.next_due());
  it.now = *it.collector.next_due();
  it.collector.resume_due(it.now);
  CHECK(it.turn());
  CHECK(it.heard.back().percent == 20);
  it.say("nonsense\ncheckpoint c");
  const auto total = it.collector.finish(kTestAttempt);
  CHECK(total.said.percent == 20);
  CHECK(total.said.result == "r");
  CHECK(total.said.checkpoint == "c");
  CHECK(total.bad_lines == 1);
  CHECK(it.heard.back().checkpoint == "c");
  CHECK_FALSE(it.collector.next_due());
  CHECK(it.collector.finish(kTestAttempt).said.empty());
}

TEST_CASE("progress_collector: a closed pipe is not asked again") {
  CollectorSetting it;
  it.collector.watch(kTestAttempt, it.pipe());
  it.say("result early\n");
  it.job.reset();
  CHECK(it.turn());
  it.now += Millis{1000};
  it.collector.resume_due(it.now);
  CHECK_FALSE(it.turn());
  CHECK(it.collector.finish(kTestAttempt).said.result == "early");
}

TEST_CASE("progress_collector: what lasts is kept for the next life until it is forgotten") {
  CollectorSetting it;
  it.collector.watch(kTestAttempt, it.pipe());
  it.say("progress 30 x\ncheckpoint64 AAA=\nresult r\n");
  REQUIRE(it.turn());
  const auto nobody = [](model::AttemptKey, const Said&) {};
  {
    ProgressCollector next(it.folder.path() + "/notes", it.epoll.get(), 500, nobody);
    REQUIRE(next.start());
    const auto kept = next.kept(kTestAttempt);
    REQUIRE(kept);
    CHECK(kept->checkpoint == std::string(2, '\0'));
    CHECK(kept->percent == 30);
    next.watch(kTestAttempt, it.pipe());
    it.say("progress 31\n");
    CHECK(next.finish(kTestAttempt).said.result == "r");
    next.forget_all_but({kTestAttempt});
    CHECK(next.kept(kTestAttempt));
    next.forget(kTestAttempt);
  }
  ProgressCollector last(it.folder.path() + "/notes", it.epoll.get(), 900, nobody);
  REQUIRE(last.start());
  CHECK_FALSE(last.kept(kTestAttempt));
}

}  // namespace rota::worker::run
