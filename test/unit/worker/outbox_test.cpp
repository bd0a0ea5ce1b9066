#include "worker/report/outbox.h"

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "test/unit/worker/temporary_folder.h"

namespace rota::worker::report {

namespace {

model::AttemptReport an_end(std::int64_t run, std::int32_t status = 0) {
  model::AttemptReport report;
  report.key = {RunId{run}, 1};
  report.worker = {"w1", "aa"};
  report.what = model::AttemptReport::What::Finished;
  report.outcome.state = status == 0 ? model::RunState::Succeeded : model::RunState::Failed;
  report.outcome.reason = status == 0 ? model::Reason::None : model::Reason::ExitStatus;
  report.outcome.exit_status = status;
  report.outcome.message = "message " + std::to_string(run);
  report.outcome.result = std::string("a\0b", 3);
  report.outcome.started = report.started = wall_from_ms(1000);
  report.outcome.ended = wall_from_ms(2000);
  report.outcome.stdout_bytes = 5;
  report.outcome.cpu_us = 6;
  report.outcome.peak_memory_bytes = 7;
  report.outcome.read_bytes = 8;
  report.outcome.written_bytes = 9;
  return report;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::vector<std::int64_t> runs_in(const Outbox& outbox) {
  std::vector<std::int64_t> runs;
  for (const auto& [key, report] : outbox.unreported()) runs.push_back(key.run.value);
  return runs;
}

}  // namespace

TEST_CASE("outbox: results are synced, many at once; acknowledgements are not") {
  const testing::TemporaryFolder folder;
  const auto outbox = Outbox::open(folder.path() + "/outbox").value();
  REQUIRE(outbox->append({an_end(1), an_end(2)}));
  CHECK(outbox->syncs() == 1);
  REQUIRE(outbox->acknowledge({an_end(1).key}));
  CHECK(outbox->syncs() == 1);
}

TEST_CASE("outbox: a cost that is not known stays so") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/outbox";
  model::AttemptReport of_handler = an_end(1);
  of_handler.outcome.peak_memory_bytes.reset();
  of_handler.outcome.stood_still = model::StoodStill{wall_from_ms(1500), wall_from_ms(4500)};
  model::AttemptReport of_nobody = an_end(2);
  of_nobody.outcome.cpu_us = of_nobody.outcome.read_bytes = of_nobody.outcome.written_bytes = std::nullopt;
  REQUIRE(Outbox::open(path).value()->append({of_handler, of_nobody, an_end(3)}));
  const auto again = Outbox::open(path).value();
  for (const auto& report : {of_handler, of_nobody, an_end(3)}) {
    CHECK(again->unreported().at(report.key).outcome == report.outcome);
  }
}

TEST_CASE("outbox: gives back after a restart what was not acknowledged, unaltered") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/outbox";
  {
    auto outbox = Outbox::open(path).value();
    REQUIRE(outbox->append({an_end(1), an_end(2, 3)}));
    REQUIRE(outbox->append({an_end(3)}));
    REQUIRE(outbox->acknowledge({{RunId{1}, 1}}));
    CHECK(runs_in(*outbox) == std::vector<std::int64_t>{2, 3});
  }
  auto outbox = Outbox::open(path).value();
  CHECK(runs_in(*outbox) == std::vector<std::int64_t>{2, 3});
  const auto& report = outbox->unreported().at({RunId{2}, 1});
  CHECK(report.outcome == an_end(2, 3).outcome);
  CHECK(report.worker == model::WorkerKey{"w1", "aa"});
  CHECK(outbox->damaged_bytes() == 0);
}

TEST_CASE("outbox: a torn tail costs the last record only, wherever it was torn") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/outbox";
  const std::string whole = encode(an_end(1)) + encode(an_end(2));
  const std::size_t first = encode(an_end(1)).size();
  for (std::size_t length = first; length < whole.size(); ++length) {
    write_text(path, whole.substr(0, length));
    auto outbox = Outbox::open(path).value();
    REQUIRE(runs_in(*outbox) == std::vector<std::int64_t>{1});
    // Zeros at the torn record's end look like what was never written.
    const auto last = whole.substr(0, length).find_last_not_of('\0');
    REQUIRE(outbox->torn_bytes() == (last >= first ? last + 1 - first : 0));
    REQUIRE(outbox->append({an_end(9)}));
    auto again = Outbox::open(path).value();
    REQUIRE(runs_in(*again) == std::vector<std::int64_t>{1, 9});
    REQUIRE(again->damaged_bytes() == 0);
  }
}

TEST_CASE("outbox: a flipped bit costs one record, and is counted") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/outbox";
  const std::string one = encode(an_end(1)), two = encode(an_end(2)), three = encode(an_end(3));
  for (std::size_t at = 0; at < two.size(); at += 3) {
    std::string flipped = two;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    write_text(path, one + flipped + three);
    auto outbox = Outbox::open(path).value();
    REQUIRE(runs_in(*outbox) == std::vector<std::int64_t>{1, 3});
    REQUIRE(outbox->damaged_bytes() == two.size());
  }
}

TEST_CASE("outbox: stays small when everything is acknowledged") {
  const testing::TemporaryFolder folder;
  auto outbox = Outbox::open(folder.path() + "/outbox").value();
  for (std::int64_t batch = 0; batch < 100; ++batch) {
    std::vector<model::AttemptReport> reports;
    std::vector<model::AttemptKey> keys;
    for (std::int64_t i = 0; i < 500; ++i) {
      reports.push_back(an_end(batch * 500 + i + 1));
      keys.push_back(reports.back().key);
    }
    REQUIRE(outbox->append(reports));
    if (batch != 7) REQUIRE(outbox->acknowledge(keys));
  }
  CHECK(outbox->file_bytes() < 6 << 20);
  CHECK(outbox->unreported().size() == 500);
  CHECK(Outbox::open(folder.path() + "/outbox").value()->unreported().size() == 500);
}

TEST_CASE("outbox: an outcome that cannot be written does not count") {
  const testing::TemporaryFolder folder;
  CHECK_FALSE(Outbox::open(folder.path() + "/none/outbox"));
}

namespace {

/// From now on no file grows beyond `bytes`: a disk that has no room except for what is there already.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : old_action_(::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    struct rlimit tight = before_;
    tight.rlim_cur = bytes;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, old_action_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  struct rlimit before_ {};
  sighandler_t old_action_;
};

/// Appends until the disk refuses; the runs that were accepted.
std::vector<std::int64_t> append_until_refused(Outbox& outbox, std::int64_t first) {
  std::vector<std::int64_t> accepted;
  for (std::int64_t run = first; run < first + 100'000; ++run) {
    if (!outbox.append({an_end(run)})) break;
    accepted.push_back(run);
  }
  return accepted;
}

}  // namespace

TEST_CASE("outbox: on a full disk accepts as much as was reserved, and keeps all of it") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/outbox";
  std::vector<std::int64_t> accepted, again;
  {
    auto outbox = Outbox::open(path, 256 << 10).value();
    CHECK(outbox->reserved_bytes() == 256 << 10);
    {
      const FullDisk full(256 << 10);
      accepted = append_until_refused(*outbox, 1);
      CHECK(accepted.size() > 1000);
      CHECK(outbox->reserved_bytes() < 1000);
      CHECK_FALSE(outbox->append({an_end(500'000)}));
      CHECK(runs_in(*outbox) == accepted);
    }
    REQUIRE(outbox->append({an_end(600'000)}));  // there is room again
    CHECK(outbox->reserved_bytes() >= 128 << 10);
    accepted.push_back(600'000);
  }
  CHECK(runs_in(*Outbox::open(path).value()) == accepted);
}

TEST_CASE("outbox: on a full disk it is compacted into the spare file, so that results go on") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/outbox";
  auto outbox = Outbox::open(path, 5 << 20).value();
  const FullDisk full(5 << 20);
  std::vector<std::int64_t> live;
  for (std::int64_t batch = 0; batch < 100; ++batch) {
    std::vector<model::AttemptReport> reports;
    std::vector<model::AttemptKey> keys;
    for (std::int64_t i = 0; i < 500; ++i) {
      reports.push_back(an_end(batch * 500 + i + 1));
      keys.push_back(reports.back().key);
    }
    REQUIRE(outbox->append(reports));
    live.push_back(keys.back().run.value);
    keys.pop_back();
    REQUIRE(outbox->acknowledge(keys));
  }
  CHECK(runs_in(*outbox) == live);
  CHECK(runs_in(*Outbox::open(path).value()) == live);
}

}  // namespace rota::worker::report
