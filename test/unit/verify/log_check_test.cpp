// P13: what is stored of output against what outcomes name.
#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>

#include "history.h"

namespace rota::master::verify::test {

TEST_CASE("verify: a log shorter or longer than its outcome says is red") {
  History history = a_true_history();
  model::Run& run = history.run_of(at(5));
  run.progress.outcome.stdout_bytes = 5;
  store::LogChunk chunk;
  chunk.attempt = {run.id, 1};
  chunk.bytes = "hello";
  const auto seal = [&](const std::string& bytes) {
    chunk.bytes = bytes;
    chunk.crc32 = static_cast<std::uint32_t>(
        ::crc32(0, reinterpret_cast<const unsigned char*>(bytes.data()),
                static_cast<unsigned>(bytes.size())));
    history.logs = {chunk};
  };
  seal("hello");
  CHECK(look(history).ok);
  seal("hell");
  CHECK(red(look(history)) == "P13");
  seal("hello!");
  CHECK(red(look(history)) == "P13");
  history.logs.clear();
  CHECK(red(look(history)) == "P13");
  Request soon;
  soon.now = *run.progress.ended + Millis{100};
  history.rows.watermark = at(20) + Millis{500};
  CHECK(check_of(look(history, soon), "P13").ok);
}

namespace {

store::LogChunk printed(RunId run, AttemptNo attempt, std::int64_t offset, const std::string& bytes) {
  store::LogChunk chunk;
  chunk.attempt = {run, attempt};
  chunk.offset = offset;
  chunk.bytes = bytes;
  chunk.crc32 = static_cast<std::uint32_t>(::crc32(
      0, reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<unsigned>(bytes.size())));
  return chunk;
}

/// Its content cannot be read from a moment on, as that of a store whose bytes rotted.
class RottenStore final : public store::MemoryStore {
 public:
  Result<store::LogSlice> read(model::AttemptKey attempt, store::LogStream stream, std::int64_t offset,
                               std::int64_t limit) override {
    if (offset >= rotten_from) return store::LogSlice{.bytes = {}, .next_offset = offset, .stored_end = 5, .pieces = {}};
    return MemoryStore::read(attempt, stream, offset, std::min(limit, rotten_from - offset));
  }
  std::int64_t rotten_from = 3;
};

}  // namespace

TEST_CASE("verify: missing output of an earlier attempt is red, and so is output after a hole") {
  History history = a_true_history();
  model::Run& run = history.run_of(at(5));
  run.progress.attempt = 2;
  run.progress.outcome.stdout_bytes = 4;
  model::AttemptRow earlier;
  earlier.run = run.id;
  earlier.attempt = 1;
  earlier.worker = {"w", "i"};
  earlier.epoch = run.progress.epoch;
  earlier.outcome = run.progress.outcome;
  earlier.outcome.state = model::RunState::Failed;
  earlier.outcome.started = run.recorded;
  earlier.outcome.ended = run.recorded + Millis{2};
  earlier.outcome.stdout_bytes = 6;
  history.rows.attempts.push_back(earlier);
  const auto first = printed(run.id, 1, 0, "abc"), second = printed(run.id, 1, 3, "def");
  const auto last = printed(run.id, 2, 0, "fine");
  history.logs = {first, second, last};
  CHECK(red(look(history)) == "");
  history.logs = {second, last};
  CHECK(red(look(history)) == "P13");
  history.logs = {last};
  CHECK(red(look(history)) == "P13");
  history.logs = {first, second, last, printed(run.id, 2, std::int64_t{1} << 40, "forged")};
  CHECK(red(look(history)) == "P13");
}

TEST_CASE("verify: output of the oldest of many runs is looked at, not of the newest alone") {
  History history = a_true_history();
  history.rows.new_runs.clear();
  history.rows.gaps.clear();
  for (int s = 1; s <= 7000; ++s) history.rows.new_runs.push_back(a_run(run_id(1, s), at(s)));
  history.rows.watermark = at(7000);
  history.rows.new_runs.front().progress.outcome.stdout_bytes = 3;
  Request request;
  request.now = at(9000);
  history.logs = {printed(run_id(1, 1), 1, 0, "abc")};
  CHECK(look(history, request).ok);
  history.logs.clear();
  CHECK(red(look(history, request)) == "P13");
}

TEST_CASE("verify: stored bytes that cannot be read any more are red") {
  History history = a_true_history();
  history.run_of(at(5)).progress.outcome.stdout_bytes = 5;
  RottenStore memory;
  REQUIRE(memory.enter_office(Epoch{9}, "test"));
  REQUIRE(memory.apply(Epoch{9}, history.rows).outcome == store::ApplyOutcome::Applied);
  REQUIRE(memory.append({printed(history.run_of(at(5)).id, 1, 0, "hello")}));
  const Sources sources{memory, &memory, [](std::string_view) {
                          return Result<std::shared_ptr<const model::ZoneRules>>(
                              std::make_shared<const model::ZoneRules>());
                        }};
  Request request;
  request.now = at(100);
  const auto deadline = BootClock::now() + std::chrono::seconds{600};
  CHECK(red(*verify(sources, request, deadline)) == "P13");
  memory.rotten_from = 5;
  CHECK(red(*verify(sources, request, deadline)) == "");
}

TEST_CASE("verify: output that retention deleted is not missing, any other is") {
  History history = a_true_history();
  for (const int tick : {5, 6}) history.run_of(at(tick)).progress.outcome.stdout_bytes = 5;
  CHECK(check_of(look(history), "P13").missing == 2);
  history.pruned = {history.run_of(at(5)).id};
  CHECK(red(look(history)) == "P13");
  CHECK(check_of(look(history), "P13").missing == 1);
  CHECK(check_of(look(history), "P13").skipped == 1);
  history.pruned.push_back(history.run_of(at(6)).id);
  CHECK(look(history).ok);
}

}  // namespace rota::master::verify::test
