#include "worker/report/log_shipper.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/rpc/error_wire.h"
#include "test/unit/worker/fake_leader.h"
#include "test/unit/worker/temporary_folder.h"

namespace rota::worker::report {

namespace {

/// A spool with the closed output of some runs, and a master that refuses those of run 1.
struct ShipperRig {
  testing::TemporaryFolder folder;
  testing::Shared<int> refused;
  ErrorCode code = ErrorCode::InvalidArgument;
  testing::FakeLeader leader{
      {{}, {}, [this](const std::vector<thrift::LogChunk>& chunks) { return receive(chunks); }}};
  run::Spool spool{folder.path(), 1 << 30};

  std::vector<std::int64_t> receive(const std::vector<thrift::LogChunk>& chunks) {
    std::vector<std::int64_t> ends;
    for (const thrift::LogChunk& chunk : chunks) {
      if (chunk.attempt.run == 1) {
        refused.change([](int& count) { ++count; });
        throw rpc::to_wire(Error(code, "there is no such run"));
      }
      ends.push_back(chunk.offset + static_cast<std::int64_t>(chunk.bytes.size()));
    }
    return ends;
  }
  void print(std::int64_t run, const std::string& text) {
    const run::StreamKey key{{RunId{run}, 1}, 1};
    auto stream = spool.open(key, run::StreamLimits{});
    REQUIRE(stream);
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    (void)(*stream)->read_pipe(ends[0], 1 << 20, BootClock::now());
    ::close(ends[0]);
    REQUIRE((*stream)->finish(SystemClock().now()));
    spool.note(key, (*stream)->border_count(), (*stream)->kept_bytes());
    spool.closed(key);
    spool.outcome_acknowledged(key.attempt);
  }
};

}  // namespace

TEST_CASE("log shipper: a stream that is refused for good is given up and counted, the others are sent on") {
  ShipperRig rig;
  SUBCASE("no such run") {}
  SUBCASE("not found") { rig.code = ErrorCode::NotFound; }
  SUBCASE("other content") { rig.code = ErrorCode::Conflict; }
  SUBCASE("denied") { rig.code = ErrorCode::Denied; }
  for (const std::int64_t run : {1, 2, 3}) rig.print(run, "some lines of output");
  LogShipper shipper({.backoff_first = Millis{1}, .backoff_most = Millis{5}}, rig.spool, rig.leader.address());
  shipper.start();
  CHECK(rig.spool.wait_home(testing::kPatience));
  shipper.stop();
  CHECK(shipper.streams_given_up() == 1);
  CHECK(shipper.acknowledged_bytes() == 40);
  CHECK(rig.refused.get() <= 4);
}

}  // namespace rota::worker::report
