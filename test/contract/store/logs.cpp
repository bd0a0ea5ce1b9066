// Log chunks: kept once, unaltered, with their holes told.
#include <doctest/doctest.h>

#include "master/store/log_rules.h"
#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

const model::AttemptKey kAttempt{RunId{7}, 1};
using Ends = std::vector<std::int64_t>;

LogChunk chunk(std::int64_t offset, std::string bytes, std::int64_t dropped_before = 0) {
  LogChunk made;
  made.attempt = kAttempt;
  made.offset = offset;
  made.crc32 = crc_of(bytes);
  made.bytes = std::move(bytes);
  made.received = wall_from_ms(kBase);
  made.dropped_before = dropped_before;
  return made;
}

LogSlice slice(const Backend& on, std::int64_t offset, std::int64_t limit = 1 << 20) {
  auto read = on.logs->read(kAttempt, LogStream::Out, offset, limit);
  REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
  return *read;
}

}  // namespace

TEST_CASE("logs: bytes of any kind come back, and a chunk sent again changes nothing") {
  ON_EACH_STORE(on, fresh_backends()) {
    const std::string big = binary_bytes(64 * 1024);
    for (int i = 0; i < 2; ++i) {
      const auto ends = on.logs->append({chunk(0, big), chunk(65536, "tail")});
      REQUIRE_MESSAGE(ends.has_value(), (ends ? "" : ends.error().message));
      CHECK(*ends == Ends{65540, 65540});
    }
    const auto all = slice(on, 0);
    CHECK(all.bytes == big + "tail");
    CHECK(all.next_offset == 65540);
    CHECK(all.stored_end == 65540);
    CHECK_FALSE(all.gap);
    CHECK(slice(on, 65530).bytes == big.substr(65530) + "tail");
    CHECK(slice(on, 100, 5).bytes == big.substr(100, 5));
    CHECK(slice(on, 100, 5).next_offset == 105);
  }
}

TEST_CASE("logs: nothing beyond the end, nothing of a stream that is not there") {
  ON_EACH_STORE(on, fresh_backends()) {
    CHECK(slice(on, 0).bytes == "");
    CHECK(slice(on, 0).stored_end == 0);
    REQUIRE(on.logs->append({chunk(0, "abc")}));
    const auto beyond = slice(on, 3);
    CHECK(beyond.bytes == "");
    CHECK(beyond.next_offset == 3);
    CHECK_FALSE(beyond.gap);
    CHECK(slice(on, 900).next_offset == 900);
    CHECK(on.logs->read(kAttempt, LogStream::Err, 0, 10)->bytes == "");
    CHECK(on.logs->read({RunId{7}, 2}, LogStream::Out, 0, 10)->bytes == "");
  }
}

TEST_CASE("logs: the stored end stops before a hole and moves on when it is filled") {
  ON_EACH_STORE(on, fresh_backends()) {
    CHECK(*on.logs->append({chunk(0, "abc"), chunk(6, "ghi")}) == Ends{3, 3});
    auto before = slice(on, 0);
    CHECK(before.bytes == "abc");
    CHECK(before.next_offset == 3);
    CHECK(before.gap);
    const auto inside = slice(on, 4);
    CHECK(inside.bytes == "");
    CHECK(inside.gap);
    CHECK(inside.next_offset == 6);
    CHECK(slice(on, 6).bytes == "ghi");
    CHECK(*on.logs->append({chunk(3, "def")}) == Ends{9});
    CHECK(slice(on, 0).bytes == "abcdefghi");
    CHECK_FALSE(slice(on, 0).gap);
  }
}

TEST_CASE("logs: what the cap cut off is counted and is no hole") {
  ON_EACH_STORE(on, fresh_backends()) {
    CHECK(*on.logs->append({chunk(0, "abc"), chunk(1003, "end", 1000)}) == Ends{1006, 1006});
    const auto all = slice(on, 0);
    CHECK(all.bytes == "abcend");
    CHECK(all.dropped == 1000);
    CHECK(all.next_offset == 1006);
    CHECK_FALSE(all.gap);
    CHECK(slice(on, 503).dropped == 500);
    CHECK(slice(on, 503).bytes == "end");
  }
}

TEST_CASE("logs: damaged bytes and other bytes at a stored place are refused") {
  ON_EACH_STORE(on, fresh_backends()) {
    auto damaged = chunk(0, "abc");
    damaged.bytes[1] = 'x';
    CHECK(on.logs->append({damaged}).error().code == ErrorCode::Corrupt);
    CHECK(slice(on, 0).bytes == "");
    REQUIRE(on.logs->append({chunk(0, "abc")}));
    CHECK(on.logs->append({chunk(0, "abd")}).error().code == ErrorCode::Corrupt);
    CHECK(on.logs->append({chunk(0, "ab")}).error().code == ErrorCode::Corrupt);
    CHECK(on.logs->append({chunk(3, "def"), chunk(0, "xyz")}).error().code == ErrorCode::Corrupt);
    CHECK(slice(on, 0).bytes == "abc");
    CHECK(on.logs->append({chunk(-1, "abc")}).error().code == ErrorCode::InvalidArgument);
    CHECK(on.logs->append({chunk(3, std::string(65537, 'x'))}).error().code ==
          ErrorCode::InvalidArgument);
  }
}

TEST_CASE("logs: one call may carry several streams") {
  ON_EACH_STORE(on, fresh_backends()) {
    auto err = chunk(0, "oops");
    err.stream = LogStream::Err;
    auto other = chunk(0, "elsewhere");
    other.attempt = {RunId{8}, 2};
    CHECK(*on.logs->append({chunk(0, "abc"), err, other, chunk(3, "def")}) == Ends{6, 4, 9, 6});
    CHECK(on.logs->read(kAttempt, LogStream::Err, 0, 10)->bytes == "oops");
    CHECK(on.logs->read({RunId{8}, 2}, LogStream::Out, 4, 100)->bytes == "where");
    CHECK(on.logs->append({})->empty());
  }
}

TEST_CASE("logs: many small chunks are read in several slices") {
  ON_EACH_STORE(on, fresh_backends()) {
    std::vector<LogChunk> chunks;
    std::string whole;
    for (int i = 0; i < 300; ++i) {
      const std::string line = "line " + std::to_string(i) + "\n";
      chunks.push_back(chunk(static_cast<std::int64_t>(whole.size()), line));
      whole += line;
    }
    REQUIRE(on.logs->append(chunks));
    std::string read;
    for (std::int64_t offset = 0;;) {
      const auto part = slice(on, offset);
      if (part.bytes.empty()) break;
      read += part.bytes;
      offset = part.next_offset;
    }
    CHECK(read == whole);
  }
}
