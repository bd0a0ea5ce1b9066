// Log chunks: kept once, unaltered, with their holes told.
#include <doctest/doctest.h>

#include <thread>

#include "master/store/logs/log_rules.h"
#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
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

LogSlice slice(const LogBackend& on, std::int64_t offset, std::int64_t limit = 1 << 20) {
  auto read = on.logs->read(kAttempt, LogStream::Out, offset, limit);
  REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
  return *read;
}

}  // namespace

TEST_CASE("logs: bytes of any kind come back, and a chunk sent again changes nothing") {
  ON_EACH_STORE(on, fresh_log_backends()) {
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

TEST_CASE("logs: returns nothing beyond the end, and nothing for a missing stream") {
  ON_EACH_STORE(on, fresh_log_backends()) {
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
  ON_EACH_STORE(on, fresh_log_backends()) {
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

TEST_CASE("logs: bytes that the cap removed are counted and are no hole") {
  ON_EACH_STORE(on, fresh_log_backends()) {
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
  ON_EACH_STORE(on, fresh_log_backends()) {
    auto damaged = chunk(0, "abc");
    damaged.bytes[1] = 'x';
    CHECK(on.logs->append({damaged}).error().code == ErrorCode::Corrupt);
    CHECK(slice(on, 0).bytes == "");
    REQUIRE(on.logs->append({chunk(0, "abc")}));
    CHECK(on.logs->append({chunk(0, "abd")}).error().code == ErrorCode::Conflict);
    CHECK(on.logs->append({chunk(0, "ab")}).error().code == ErrorCode::Conflict);
    CHECK(on.logs->append({chunk(3, "def"), chunk(0, "xyz")}).error().code == ErrorCode::Conflict);
    CHECK(slice(on, 0).bytes == "abc");
    CHECK(on.logs->append({chunk(-1, "abc")}).error().code == ErrorCode::InvalidArgument);
    CHECK(on.logs->append({chunk(3, std::string(65537, 'x'))}).error().code ==
          ErrorCode::InvalidArgument);
  }
}

TEST_CASE("logs: one call may carry several streams") {
  ON_EACH_STORE(on, fresh_log_backends()) {
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
  ON_EACH_STORE(on, fresh_log_backends()) {
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

TEST_CASE("logs: the moment at which each piece came is kept") {
  ON_EACH_STORE(on, fresh_log_backends()) {
    auto first = chunk(0, "abc"), second = chunk(3, "defgh");
    first.received = wall_from_ms(kBase + 1);
    second.received = wall_from_ms(kBase + 777);
    REQUIRE(on.logs->append({first, second}));
    const auto both = slice(on, 1);
    REQUIRE(both.pieces.size() == 2);
    CHECK(both.pieces[0].offset == 1);
    CHECK(both.pieces[0].length == 2);
    CHECK(both.pieces[0].received == first.received);
    CHECK(both.pieces[1].offset == 3);
    CHECK(both.pieces[1].received == second.received);
  }
}

TEST_CASE("logs: text that packs well and noise that does not come back alike") {
  ON_EACH_STORE(on, fresh_log_backends()) {
    std::string text, noise;
    for (int i = 0; text.size() < 60'000; ++i) text += "line " + std::to_string(i % 40) + " of much the same\n";
    std::uint32_t seed = 1;
    for (int i = 0; i < 60'000; ++i) {
      seed = seed * 1'664'525 + 1'013'904'223;
      noise += static_cast<char>(seed >> 24);
    }
    const auto size = static_cast<std::int64_t>(text.size());
    REQUIRE(on.logs->append({chunk(0, text), chunk(size, noise)}));
    REQUIRE(on.logs->append({chunk(0, text)}));  // through a master that packs otherwise, too
    REQUIRE(on.logs->append({chunk(0, text), chunk(size, noise)}));
    CHECK(slice(on, 0).bytes == text + noise);
    CHECK(slice(on, size - 5, 10).bytes == text.substr(text.size() - 5) + noise.substr(0, 5));
  }
}

TEST_CASE("logs: odd questions have bounded answers") {
  ON_EACH_STORE(on, fresh_log_backends()) {
    REQUIRE(on.logs->append({chunk(0, std::string(1000, 'a'))}));
    CHECK(slice(on, -5).bytes.size() == 1000);
    CHECK(slice(on, INT64_MIN, 3).bytes == "aaa");
    CHECK(slice(on, 0, -1).bytes.empty());
    CHECK(slice(on, 0, INT64_MAX).bytes.size() == 1000);
    CHECK(slice(on, INT64_MAX).bytes.empty());
    CHECK(slice(on, INT64_MAX).stored_end == 1000);
    CHECK(on.logs->read({RunId{-7}, -1}, LogStream::Out, 0, 10)->bytes.empty());
    CHECK(on.logs->read({RunId{INT64_MAX}, INT32_MAX}, LogStream::Err, 0, 10)->stored_end == 0);
  }
}

TEST_CASE("logs: head and tail are kept, the middle is counted, also where slices end in it") {
  ON_EACH_STORE(on, fresh_log_backends()) {
    const std::string head(65'536, 'h'), tail(1000, 't');
    REQUIRE(on.logs->append({chunk(0, head), chunk(10'000'000, tail, 10'000'000 - 65'536)}));
    const auto first = slice(on, 0, 65'536);
    CHECK(first.bytes == head);
    CHECK(first.dropped == 0);
    const auto rest = slice(on, first.next_offset, 65'536);
    CHECK(rest.bytes == tail);
    CHECK(rest.dropped == 10'000'000 - 65'536);
    CHECK(rest.stored_end == 10'001'000);
  }
}

TEST_CASE("logs: are erased run by run, a few at a time, and no others") {
  ON_EACH_STORE(on, fresh_log_backends()) {
    for (const std::int64_t run : std::vector<std::int64_t>{5, 2000, 3'000'000'000'000}) {
      for (int at = 0; at < 3; ++at) {
        auto one = chunk(at * 3, "abc");
        one.attempt = {RunId{run}, 1};
        auto two = one;
        two.attempt.attempt = 2;
        REQUIRE(on.logs->append({one, two}));
      }
    }
    using Runs = std::vector<RunId>;
    CHECK(*on.logs->runs_with_logs(RunId{0}, 10) == Runs{RunId{5}, RunId{2000}, RunId{3'000'000'000'000}});
    CHECK(*on.logs->runs_with_logs(RunId{5}, 1) == Runs{RunId{2000}});
    const auto bytes = *on.logs->bytes_of({RunId{3'000'000'000'000}, RunId{77}, RunId{5}});
    REQUIRE(bytes.size() == 3);
    CHECK(bytes[0] >= 18);  // a store may count its own marks
    CHECK(bytes[0] < 2000);
    CHECK(bytes[1] == 0);
    CHECK(bytes[2] == bytes[0]);
    CHECK(on.logs->bytes_of({})->empty());
    int calls = 0;
    while (*on.logs->erase({RunId{2000}}, 2)) REQUIRE(++calls < 10);
    CHECK(calls >= 2);
    CHECK(*on.logs->runs_with_logs(RunId{0}, 10) == Runs{RunId{5}, RunId{3'000'000'000'000}});
    for (int master = 0; master < 3; ++master) {
      CHECK(on.logs->read({RunId{2000}, 1}, LogStream::Out, 0, 100)->bytes == "");
      CHECK(on.logs->read({RunId{5}, 2}, LogStream::Out, 0, 100)->bytes == "abcabcabc");
    }
    CHECK_FALSE(*on.logs->erase({RunId{2000}}, 2));
    CHECK_FALSE(*on.logs->erase({RunId{77}}, 2));
  }
}

TEST_CASE("logs: a chunk at a place that no stream can reach is refused, and nothing of its call stored") {
  ON_EACH_STORE(on, fresh_log_backends()) {
    for (const std::int64_t offset : {INT64_MAX, INT64_MAX - 2, std::int64_t{1} << 62, kMostStreamBytes - 2}) {
      for (const std::int64_t dropped : {std::int64_t{0}, offset}) {
        const auto refused = on.logs->append({chunk(0, "abc"), chunk(offset, "xyz", dropped)});
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::InvalidArgument);
        CHECK(refused.error().message.find(std::to_string(offset)) != std::string::npos);
      }
    }
    CHECK(on.logs->stored_of({kAttempt.run})->empty());
    CHECK(on.logs->append({chunk(kMostStreamBytes - 3, "xyz", kMostStreamBytes - 3)})->back() == kMostStreamBytes);
  }
}

TEST_CASE("logs: the stored end comes from the store, not from a master's memory") {
  ON_EACH_STORE(on, fresh_log_backends()) {
    auto err = chunk(0, "oops");
    err.stream = LogStream::Err;
    auto second = chunk(0, "again");
    second.attempt.attempt = 2;
    for (int master = 0; master < 3; ++master) {
      REQUIRE(on.logs->append({chunk(0, "abc"), chunk(1003, "end", 1000), err, second, chunk(2000, "far")}));
    }
    const auto all = on.logs->stored_of({RunId{9}, kAttempt.run});
    REQUIRE_MESSAGE(all.has_value(), (all ? "" : all.error().message));
    REQUIRE(all->size() == 3);
    CHECK(all->at(0).attempt == kAttempt);
    CHECK(all->at(0).stream == LogStream::Out);
    CHECK(all->at(0).end == 1006);
    CHECK(all->at(0).last == 2003);
    CHECK(all->at(1).stream == LogStream::Err);
    CHECK(all->at(1).end == 4);
    CHECK(all->at(2).attempt.attempt == 2);
    CHECK(all->at(2).last == 5);
    CHECK(on.logs->stored_of({})->empty());
    CHECK(on.logs->stored_of({RunId{8}})->empty());
    while (*on.other->erase({kAttempt.run}, 100)) {}
    for (int master = 0; master < 3; ++master) CHECK(on.logs->stored_of({kAttempt.run})->empty());
  }
}

TEST_CASE("logs: output that a database lost when it went back is not acknowledged again") {
  ON_EACH_STORE(on, fresh_log_backends()) {
    for (int master = 0; master < 3; ++master) {
      CHECK(on.logs->append({chunk(0, "abc"), chunk(3, "def")})->back() == 6);
    }
    while (*on.other->erase({kAttempt.run}, 100)) {}
    for (int master = 0; master < 3; ++master) {
      CHECK(on.logs->append({chunk(6, "ghi")})->back() == 0);
      CHECK(slice(on, 0).stored_end == 0);
    }
    CHECK(on.logs->append({chunk(0, "abc"), chunk(3, "def")})->back() == 9);
  }
}

TEST_CASE("logs: two masters at once store each chunk once") {
  ON_EACH_STORE(on, fresh_log_backends()) {
    std::vector<LogChunk> chunks;
    std::string whole;
    for (int i = 0; i < 40; ++i) {
      chunks.push_back(chunk(static_cast<std::int64_t>(whole.size()), "part " + std::to_string(i)));
      whole += chunks.back().bytes;
    }
    for (std::size_t from = 0; from < 40; from += 5) {
      const std::vector<LogChunk> batch(chunks.begin() + static_cast<std::ptrdiff_t>(from), chunks.end());
      std::thread other([&] { CHECK(on.other->append(batch)); });
      const auto mine = on.logs->append(batch);
      other.join();
      REQUIRE(mine);
      CHECK(mine->front() == static_cast<std::int64_t>(whole.size()));
    }
    CHECK(slice(on, 0).bytes == whole);
  }
}

TEST_CASE("logs: retention sees ended runs, and the setting of their job's newest version") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes;
    for (const std::int64_t version : {1, 2}) {
      model::JobDefinition definition;
      definition.name = "kept";
      definition.rules.keep_logs = Millis{60'000 * version};
      model::JobVersionRow row;
      row.job = JobId{5};
      row.version = static_cast<JobVersion>(version);
      row.definition = std::make_shared<const model::JobDefinition>(definition);
      changes.versions.push_back(row);
    }
    model::Job job;
    job.id = JobId{5};
    job.name = "kept";
    job.version = 2;
    changes.jobs.push_back(job);
    for (const std::int64_t id : {10, 11, 12}) {
      model::Run run;
      run.id = RunId{id};
      run.job = JobId{id == 12 ? 99 : 5};
      run.version = 1;
      run.recorded = wall_from_ms(kBase + id);
      changes.new_runs.push_back(run);
    }
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    core::Changes ends;
    core::RunUpdate update;
    update.id = RunId{10};
    update.progress.state = model::RunState::Succeeded;
    update.progress.ended = wall_from_ms(kBase + 500);
    ends.updated_runs.push_back(update);
    REQUIRE(on.store->apply(Epoch{1}, ends).outcome == ApplyOutcome::Applied);

    const auto runs = on.retention->logged_runs({RunId{12}, RunId{10}, RunId{77}, RunId{11}});
    REQUIRE_MESSAGE(runs.has_value(), (runs ? "" : runs.error().message));
    REQUIRE(runs->size() == 3);
    CHECK(runs->at(0).is_final);
    CHECK(runs->at(0).ended == wall_from_ms(kBase + 500));
    CHECK(runs->at(0).keep_logs == Millis{120'000});
    CHECK_FALSE(runs->at(1).is_final);
    CHECK(runs->at(2).keep_logs == Millis{0});  // its job is not known
    CHECK(on.retention->logged_runs({})->empty());

    CHECK(on.reader->pruned_among({RunId{10}})->empty());
    REQUIRE(on.retention->note_pruned({RunId{10}, RunId{12}}, wall_from_ms(kBase + 600)));
    REQUIRE(on.retention->note_pruned({RunId{10}}, wall_from_ms(kBase + 700)));
    const auto pruned = on.reader->pruned_among({RunId{10}, RunId{11}, RunId{12}});
    REQUIRE(pruned);
    CHECK(pruned->size() == 2);
    CHECK(pruned->at(RunId{10}) == wall_from_ms(kBase + 600));
    CHECK(on.reader->pruned_among({})->empty());
  }
}
