#include "worker/run/spool.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <memory>

#include "test/unit/worker/temporary_folder.h"
#include "worker/run/chunk_index.h"

namespace rota::worker::run {

namespace {

const model::AttemptKey kAttempt{RunId{1}, 1};
const StreamKey kOut{kAttempt, 1};

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
    ::fcntl(write.get(), F_SETPIPE_SZ, 1 << 20);
  }
  void put(const std::string& text) {
    REQUIRE(::write(write.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  UniqueFd read, write;
};

std::string pattern(std::size_t length) {
  std::string text(length, '\0');
  for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

struct SpoolSetting {
  testing::TemporaryFolder folder;
  StreamPath path{folder.path() + "/s.data", folder.path() + "/s.index"};
  FakeClock clock;
  Pipe pipe;

  std::unique_ptr<SpoolStream> open(StreamLimits limits = {}) {
    return SpoolStream::open(path, limits).value();
  }
  void write(SpoolStream& stream, const std::string& text) {
    pipe.put(text);
    CHECK(stream.read_pipe(pipe.read.get(), 1 << 20, clock.mono()).is_empty);
  }
  /// All chunks but the marks, and that their log offsets follow one another.
  std::vector<ReadChunk> chunks() const {
    std::vector<ReadChunk> all;
    std::int64_t end = 0;
    const auto read = read_chunks(path, 0, 1 << 30);
    REQUIRE(read);
    for (const ReadChunk& chunk : *read) {
      if (is_head_end(chunk.border)) continue;
      CHECK(chunk.border.log_offset == end);
      end += chunk.border.length;
      all.push_back(chunk);
    }
    return all;
  }
  std::string text() const {
    std::string all;
    for (const ReadChunk& chunk : chunks()) all += chunk.bytes;
    return all;
  }
};

}  // namespace

TEST_CASE("spool_stream: closes a chunk when it is full, or old enough, and not before") {
  SpoolSetting it;
  auto stream = it.open({.chunk_bytes = 100});
  it.write(*stream, std::string(250, 'a'));
  CHECK(stream->fix_borders(it.clock.now()).value() == 2);
  CHECK(stream->border_due() == it.clock.mono() + Millis{200});
  it.clock.advance(Millis{199});
  CHECK(stream->fix_borders(it.clock.now()).value() == 0);
  it.clock.advance(Millis{1});
  CHECK(stream->fix_borders(it.clock.now()).value() == 1);
  CHECK_FALSE(stream->border_due());
  it.write(*stream, "b");
  CHECK(stream->finish(it.clock.now()).value() == 1);
  CHECK(stream->finish(it.clock.now()).value() == 0);
  const auto chunks = it.chunks();
  REQUIRE(chunks.size() == 4);
  CHECK(chunks[2].bytes == std::string(50, 'a'));
  CHECK(chunks[3].border.log_offset == 250);
}

TEST_CASE("spool_stream: says when every writer has gone") {
  SpoolSetting it;
  auto stream = it.open();
  it.pipe.put("last");
  it.pipe.write.reset();
  const auto read = stream->read_pipe(it.pipe.read.get(), 1 << 20, it.clock.mono());
  CHECK(read.bytes == 4);
  CHECK(read.at_end);
}

TEST_CASE("spool_stream: an earlier life's borders stay, its last bytes too") {
  SpoolSetting it;
  {
    auto stream = it.open({.chunk_bytes = 100});
    it.write(*stream, pattern(150));
    CHECK(stream->fix_borders(it.clock.now()).value() == 1);
  }  // killed: 50 bytes are in the file and not in the index
  auto stream = it.open({.chunk_bytes = 100});
  CHECK(stream->raw_bytes() == 150);
  CHECK(stream->border_due().has_value());
  it.write(*stream, "more");
  CHECK(stream->finish(it.clock.now()));
  CHECK(it.text() == pattern(150) + "more");
  CHECK(it.chunks()[0].border.length == 100);
}

TEST_CASE("spool_stream: a torn line of the index is written anew") {
  SpoolSetting it;
  {
    auto stream = it.open({.chunk_bytes = 100});
    it.write(*stream, pattern(200));
    CHECK(stream->fix_borders(it.clock.now()).value() == 2);
  }
  REQUIRE(::truncate(it.path.index.c_str(), 3 * kBorderBytes - 5) == 0);
  auto stream = it.open({.chunk_bytes = 100});
  CHECK(stream->border_count() == 2);  // the mark and one chunk
  CHECK(stream->finish(it.clock.now()).value() == 1);
  CHECK(it.text() == pattern(200));
}

TEST_CASE("spool_stream: beyond the cap keeps head and tail and counts the middle") {
  SpoolSetting it;
  const StreamLimits limits{.cap_bytes = 8000, .chunk_bytes = 1000};
  REQUIRE(limits.tail_bytes() == 1000);
  auto stream = it.open(limits);
  SUBCASE("just at the cap nothing is lost") {
    it.write(*stream, pattern(8000));
    CHECK(stream->fix_borders(it.clock.now()).value() == 7);
    CHECK(stream->finish(it.clock.now()).value() == 1);
    CHECK(it.text() == pattern(8000));
  }
  SUBCASE("one byte more") {
    it.write(*stream, pattern(8001));
    CHECK(stream->finish(it.clock.now()));
    CHECK(it.text() == pattern(8001).substr(0, 7000) + pattern(8001).substr(7001));
    CHECK(it.chunks().back().border.dropped_before == 1);
  }
  SUBCASE("much more, in pieces, with a restart in the middle") {
    const std::string all = pattern(6 << 20);
    for (std::size_t at = 0; at < all.size(); at += 1 << 19) {
      it.write(*stream, all.substr(at, 1 << 19));
      CHECK(stream->fix_borders(it.clock.now()));
      if (at == 3 << 20) stream = it.open();  // the limits come from the file
    }
    CHECK(stream->finish(it.clock.now()));
    CHECK(stream->log_bytes() == 8000);
    CHECK(it.text() == all.substr(0, 7000) + all.substr(all.size() - 1000));
    CHECK(it.chunks().back().border.dropped_before == (6 << 20) - 8000);
  }
}

TEST_CASE("spool_stream: told to stop keeping, it keeps the tail") {
  SpoolSetting it;
  auto stream = it.open({.cap_bytes = 8000, .chunk_bytes = 1000});
  it.write(*stream, pattern(2000));
  stream->stop_keeping();
  it.pipe.put(std::string(3000, 'x') + std::string(1000, 'y'));
  stream->read_pipe(it.pipe.read.get(), 1 << 20, it.clock.mono());
  CHECK(stream->finish(it.clock.now()));
  CHECK(it.text() == pattern(2000) + std::string(1000, 'y'));
}

TEST_CASE("spool_stream: a full disk stops no job") {
  SpoolSetting it;
  auto stream = it.open({.chunk_bytes = 1000});
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_action = ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit tight = before;
  tight.rlim_cur = 100'000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const std::string all = pattern(300'000);
  it.pipe.put(all);
  const auto read = stream->read_pipe(it.pipe.read.get(), 1 << 20, it.clock.mono());
  const auto fixed = stream->finish(it.clock.now());
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  ::signal(SIGXFSZ, old_action);
  CHECK(read.bytes == 300'000);
  CHECK(read.is_empty);
  CHECK(fixed.has_value());
  CHECK(stream->raw_bytes() == 100'000);
  CHECK(stream->lost_bytes() == 200'000);
  CHECK(it.text() == all.substr(0, 100'000));
}

TEST_CASE("spool_stream: a disk too full to begin with leaves no file behind") {
  SpoolSetting it;
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10, before.rlim_max};  // less than a line of the index
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto refused = SpoolStream::open(it.path, {});
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(!refused);
  CHECK(::access(it.path.data.c_str(), F_OK) != 0);
  CHECK(::access(it.path.index.c_str(), F_OK) != 0);
}

TEST_CASE("chunk_index: damage is seen") {
  const std::string line = encode_border({1, 2, 3, 4, 5, 6});
  REQUIRE(line.size() == kBorderBytes);
  CHECK(decode_border(line)->log_offset == 2);
  for (std::size_t at = 0; at < line.size(); ++at) {
    std::string flipped = line;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    CHECK_FALSE(decode_border(flipped));
  }
  CHECK_FALSE(decode_border(line.substr(1)));
  SpoolSetting it;
  auto stream = it.open();
  it.write(*stream, "hello");
  CHECK(stream->finish(it.clock.now()));
  UniqueFd data(::open(it.path.data.c_str(), O_WRONLY));
  REQUIRE(::pwrite(data.get(), "J", 1, 0) == 1);
  CHECK(read_chunks(it.path, 0, 1000)->back().is_damaged);
  CHECK(read_chunks(it.path, 0, 1000)->back().bytes.empty());
}

TEST_CASE("spool: a stream goes when its chunks and its attempt's outcome are acknowledged") {
  const testing::TemporaryFolder folder;
  Spool spool(folder.path(), 1 << 30);
  FakeClock clock;
  Pipe pipe;
  auto stream = spool.open(kOut, {.chunk_bytes = 100}).value();
  pipe.put(std::string(250, 'a'));
  stream->read_pipe(pipe.read.get(), 1 << 20, clock.mono());
  REQUIRE(stream->finish(clock.now()));
  spool.note(kOut, stream->border_count(), stream->kept_bytes());
  spool.closed(kOut);
  CHECK(spool.wait_pending(Millis{0}, {}));
  auto pending = spool.pending(1000);
  REQUIRE(pending.size() == 3);
  SUBCASE("chunks first") {
    spool.stored(kOut, 200);
    REQUIRE(spool.pending(1000).size() == 1);
    spool.stored(kOut, 250);
    CHECK_FALSE(spool.has_pending());
    CHECK(spool.streams() == 1);
    spool.outcome_acknowledged(kAttempt);
  }
  SUBCASE("the outcome first") {
    spool.outcome_acknowledged(kAttempt);
    CHECK(spool.streams() == 1);
    spool.stored(kOut, 250);
  }
  SUBCASE("the database went back and lacks what it acknowledged") {
    spool.stored(kOut, 200);
    REQUIRE(spool.pending(1000).size() == 1);
    spool.stored(kOut, 100);
    CHECK(spool.pending(1000).size() == 2);
    spool.stored(kOut, 0);
    REQUIRE(spool.pending(1000).size() == 3);
    CHECK(spool.pending(1000)[0].chunk.border.raw_offset == 0);
    spool.stored(kOut, 250);
    spool.outcome_acknowledged(kAttempt);
  }
  SUBCASE("given up") {
    spool.abandon(kOut);
    spool.outcome_acknowledged(kAttempt);
  }
  CHECK(spool.streams() == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("spool: after a restart ships what is left, also of attempts that nobody holds") {
  const testing::TemporaryFolder folder;
  FakeClock clock;
  const StreamKey other{{RunId{2}, 1}, 2};
  {
    Spool spool(folder.path(), 1 << 30);
    Pipe pipe;
    for (const StreamKey& key : {kOut, other}) {
      auto stream = spool.open(key, {}).value();
      pipe.put("text");
      stream->read_pipe(pipe.read.get(), 1 << 20, clock.mono());
    }
  }  // killed before a border was fixed
  Spool spool(folder.path(), 1 << 30);
  REQUIRE(spool.recover());
  CHECK(spool.has(kOut));
  spool.release_all_but({kAttempt});
  const auto pending = spool.pending(1000);
  REQUIRE(pending.size() == 1);  // the held one goes on, its chunk is not fixed yet
  CHECK(pending[0].key == other);
  CHECK(pending[0].chunk.bytes == "text");
  spool.stored(other, 4);
  CHECK(spool.streams() == 1);
}

TEST_CASE("spool: a stream that cannot be read stops no start, and stays") {
  const testing::TemporaryFolder folder;
  const std::string unreadable = folder.path() + "/1.1.1.index";
  FakeClock clock;
  const StreamKey other{{RunId{2}, 1}, 1};
  {
    Spool spool(folder.path(), 1 << 30);
    Pipe pipe;
    auto stream = spool.open(other, {}).value();
    pipe.put("text");
    stream->read_pipe(pipe.read.get(), 1 << 20, clock.mono());
  }
  REQUIRE(::mkdir(unreadable.c_str(), 0700) == 0);
  Spool spool(folder.path(), 1 << 30);
  REQUIRE(spool.recover());
  CHECK_FALSE(spool.has(kOut));
  spool.release_all_but({});
  const auto pending = spool.pending(1000);
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].chunk.bytes == "text");
  CHECK(::access(unreadable.c_str(), F_OK) == 0);
}

namespace {

/// A finished stream of `chunks` chunks of 100 bytes.
void spool_finished(Spool& spool, const StreamKey& key, int chunks, const FakeClock& clock) {
  Pipe pipe;
  auto stream = spool.open(key, {.chunk_bytes = 100}).value();
  pipe.put(pattern(static_cast<std::size_t>(chunks) * 100));
  stream->read_pipe(pipe.read.get(), 1 << 20, clock.mono());
  REQUIRE(stream->finish(clock.now()));
  spool.note(key, stream->border_count(), stream->kept_bytes());
  spool.closed(key);
}

/// What a store would hold: bytes by offset, and the end without a hole.
struct Received {
  std::map<std::int64_t, PendingChunk> chunks;
  std::int64_t dropped = 0;

  std::int64_t end() {
    std::int64_t at = 0;
    dropped = 0;
    for (const auto& [offset, chunk] : chunks) {
      if (offset - chunk.chunk.border.dropped_before > at) break;
      dropped += offset - at;
      at = offset + static_cast<std::int64_t>(chunk.chunk.bytes.size());
    }
    return at;
  }
  void write(Spool& spool, std::int64_t most_bytes) {
    for (PendingChunk& one : spool.pending(most_bytes)) {
      CHECK(crc_of(one.chunk.bytes) == one.chunk.border.crc32);
      if (one.key != kOut) continue;
      chunks.insert_or_assign(one.chunk.border.raw_offset, std::move(one));
    }
    spool.stored(kOut, end());
  }
};

void flip_byte(const std::string& path, off_t at) {
  const UniqueFd file(::open(path.c_str(), O_RDWR));
  char byte = 0;
  REQUIRE(::pread(file.get(), &byte, 1, at) == 1);
  byte = static_cast<char>(byte ^ 0x10);
  REQUIRE(::pwrite(file.get(), &byte, 1, at) == 1);
}

}  // namespace

TEST_CASE("spool: a flipped bit in the data costs its chunk, which the next one tells as dropped") {
  const testing::TemporaryFolder folder;
  FakeClock clock;
  Spool spool(folder.path(), 1 << 30);
  spool_finished(spool, kOut, 5, clock);
  Received store;
  SUBCASE("in the middle") {
    flip_byte(folder.path() + "/1.1.1.data", 250);
    store.write(spool, 10'000);
    CHECK(store.chunks.size() == 4);
    CHECK_FALSE(store.chunks.contains(200));
    CHECK(store.end() == 500);
    CHECK(store.dropped == 100);
  }
  SUBCASE("two in a row, sent one by one") {
    flip_byte(folder.path() + "/1.1.1.data", 0);
    flip_byte(folder.path() + "/1.1.1.data", 199);
    for (int i = 0; i < 9; ++i) store.write(spool, 300);
    CHECK(store.end() == 500);
    CHECK(store.dropped == 200);
  }
  SUBCASE("the last one: the rest is given up, what came before is not") {
    flip_byte(folder.path() + "/1.1.1.data", 499);
    for (int i = 0; i < 3; ++i) store.write(spool, 10'000);
    CHECK(store.end() == 400);
  }
  CHECK_FALSE(spool.has_pending());
  spool.outcome_acknowledged(kAttempt);
  CHECK(spool.streams() == 0);
}

TEST_CASE("spool: a damaged index loses no byte of the data") {
  const testing::TemporaryFolder folder;
  FakeClock clock;
  {
    Spool spool(folder.path(), 1 << 30);
    spool_finished(spool, kOut, 5, clock);
  }
  flip_byte(folder.path() + "/1.1.1.index", 3 * static_cast<off_t>(kBorderBytes) + 7);
  CHECK(SpoolStream::open({folder.path() + "/1.1.1.data", folder.path() + "/1.1.1.index"}, {})
            .value()
            ->damaged_index_bytes() == 3 * static_cast<std::int64_t>(kBorderBytes));
  Spool spool(folder.path(), 1 << 30);
  REQUIRE(spool.recover());
  spool.release_all_but({});
  Received store;
  store.write(spool, 10'000);
  CHECK(store.end() == 500);
  CHECK(store.dropped == 0);
}

TEST_CASE("spool: the oldest output gives way, except for its end and what was sent, and says so") {
  const testing::TemporaryFolder folder;
  FakeClock clock;
  const StreamKey younger{{RunId{2}, 1}, 1};
  auto spool = std::make_unique<Spool>(folder.path(), 1 << 30);
  spool_finished(*spool, younger, 50, clock);
  spool_finished(*spool, kOut, 400, clock);
  Received store;
  SUBCASE("nothing sent") {
    REQUIRE(spool->make_room());
    REQUIRE(spool->make_room());        // the younger one is the oldest now
    CHECK_FALSE(spool->make_room());    // all have given what they had
    store.write(*spool, 100'000);
    CHECK(store.chunks.contains(39'900));
    CHECK(store.dropped == 39'900);
  }
  SUBCASE("some sent, not answered") {
    const auto sent = spool->pending(1000);
    REQUIRE(sent.size() >= 10);
    REQUIRE(spool->make_room());
    for (int i = 0; i < 3; ++i) store.write(*spool, 100'000);
    CHECK(store.dropped == 39'900 - 1000);
  }
  SUBCASE("in the next life") {
    REQUIRE(spool->make_room());
    spool = std::make_unique<Spool>(folder.path(), 1 << 30);
    REQUIRE(spool->recover());
    spool->release_all_but({});
    store.write(*spool, 100'000);
    CHECK(store.dropped == 39'900);
  }
  CHECK(store.end() == 40'000);
}

TEST_CASE("spool: an attempt that runs gives nothing away") {
  const testing::TemporaryFolder folder;
  FakeClock clock;
  Spool spool(folder.path(), 1 << 30);
  Pipe pipe;
  auto stream = spool.open(kOut, {.chunk_bytes = 100}).value();
  pipe.put(pattern(5000));
  stream->read_pipe(pipe.read.get(), 1 << 20, clock.mono());
  REQUIRE(stream->fix_borders(clock.now()));
  spool.note(kOut, stream->border_count(), stream->kept_bytes());
  CHECK_FALSE(spool.make_room());
}

TEST_CASE("spool: streams are sent in turn") {
  const testing::TemporaryFolder folder;
  Spool spool(folder.path(), 1 << 30);
  FakeClock clock;
  for (std::int64_t run = 1; run <= 3; ++run) {
    Pipe pipe;
    const StreamKey key{{RunId{run}, 1}, 1};
    auto stream = spool.open(key, {.chunk_bytes = 100}).value();
    pipe.put(std::string(1000, 'a'));
    stream->read_pipe(pipe.read.get(), 1 << 20, clock.mono());
    REQUIRE(stream->finish(clock.now()));
    spool.note(key, stream->border_count(), stream->kept_bytes());
  }
  std::set<std::int64_t> seen;
  for (int i = 0; i < 3; ++i) seen.insert(spool.pending(50).front().key.attempt.run.value);
  CHECK(seen.size() == 3);
}

}  // namespace rota::worker::run
