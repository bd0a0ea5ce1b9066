// What a worker keeps, on a disk that is really full (test/support/small_disk.h). Without the right to mount
// the cases with file size limits (outbox, spool) have to do.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <set>

#include "common/base/file.h"
#include "test/support/small_disk.h"
#include "test/unit/worker/temporary_folder.h"
#include "worker/report/outbox.h"
#include "worker/desk/epoch_keeper.h"
#include "worker/run/folder_pool.h"
#include "worker/run/spool.h"

namespace rota::worker {

using testing::DiskKind;
using testing::fill_disk;
using testing::on_small_disk;

namespace {

model::AttemptReport ended(std::int64_t run) {
  model::AttemptReport report;
  report.key = {RunId{run}, 1};
  report.what = model::AttemptReport::What::Finished;
  report.outcome.state = model::RunState::Succeeded;
  report.outcome.message = std::string(200, 'm');
  return report;
}

void feed(run::SpoolStream& stream, std::size_t bytes, MonoTime now) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  const UniqueFd out(ends[0]), in(ends[1]);
  ::fcntl(in.get(), F_SETPIPE_SZ, 1 << 20);
  const std::string block(64 << 10, 'b');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t put = ::write(in.get(), block.data(), std::min(block.size(), bytes - done));
    if (put > 0) done += static_cast<std::size_t>(put);
    stream.read_pipe(out.get(), 1 << 20, now);
  }
}

/// What was freed a moment ago is there once the file system's journal has it.
bool becomes_stocked(run::FolderPool& pool) {
  for (int tries = 0; tries < 20'000; ++tries) {
    if (pool.stock()) return true;
    ::poll(nullptr, 0, 1);
  }
  return false;
}

}  // namespace

TEST_CASE("full disk: results are accepted and kept, though nothing else can be written") {
  const testing::TemporaryFolder folder;
  on_small_disk(folder.path(), DiskKind::Memory, 24, [&] {
    const std::string path = folder.path() + "/outbox";
    auto outbox = report::Outbox::open(path).value();
    fill_disk(folder.path());
    std::size_t accepted = 0;
    while (accepted < 3000 && outbox->append({ended(static_cast<std::int64_t>(accepted) + 1)})) ++accepted;
    CHECK(accepted == 3000);
    std::vector<model::AttemptKey> told;
    for (std::int64_t run = 1; run <= 2990; ++run) told.push_back({RunId{run}, 1});
    CHECK(outbox->acknowledge(told));
    CHECK(report::Outbox::open(path).value()->unreported().size() == 10);
    MESSAGE("figure: outcomes accepted on a full disk: ", accepted);
  });
}

TEST_CASE("full disk: the oldest output gives way to the newest, and says how much of it is gone") {
  const testing::TemporaryFolder folder;
  const FakeClock clock;
  on_small_disk(folder.path(), DiskKind::Memory, 12, [&] {
    run::Spool spool(folder.path(), 1 << 30);
    const run::StreamKey old{{RunId{1}, 1}, 1}, fresh{{RunId{2}, 1}, 1};
    auto first = spool.open(old, {}).value();
    feed(*first, 8 << 20, clock.mono());
    REQUIRE(first->finish(clock.now()));
    spool.note(old, first->border_count(), first->kept_bytes());
    spool.closed(old);
    auto second = spool.open(fresh, {}).value();
    feed(*second, 8 << 20, clock.mono());
    CHECK(second->lost_bytes() == 0);
    CHECK(second->raw_bytes() == 8 << 20);
    const auto left = spool.pending(64 << 20);
    REQUIRE(left.size() == 1);
    CHECK(left[0].key == old);
    CHECK(left[0].chunk.border.dropped_before == (8 << 20) - 65'536);
    MESSAGE("figure: old output told as dropped: ", left[0].chunk.border.dropped_before);
  });
}

TEST_CASE("full disk: a new leader's epoch is kept, so that it can greet the worker, and none is forgotten") {
  const testing::TemporaryFolder folder;
  on_small_disk(folder.path(), DiskKind::Ext4, 8, [&] {
    const std::string path = folder.path() + "/epoch";
    REQUIRE(write_file_synced(path, "one 5\n"));  // as an earlier version left it
    {
      desk::EpochKeeper keeper(path);
      REQUIRE(keeper.load());
      CHECK(keeper.highest("one") == Epoch{5});
    }
    fill_disk(folder.path());
    for (std::int64_t epoch = 6; epoch < 26; ++epoch) {
      desk::EpochKeeper keeper(path);
      REQUIRE(keeper.load());
      CHECK(keeper.highest("one") == Epoch{epoch - 1});
      CHECK(keeper.raise("one", Epoch{epoch}).has_value());
      CHECK(keeper.raise("two", Epoch{1}).has_value());
    }
    desk::EpochKeeper last(path);
    REQUIRE(last.load());
    CHECK(last.highest("one") == Epoch{25});
    CHECK(last.highest("two") == Epoch{1});
  });
}

TEST_CASE("full disk: a worker starts there, again and again, and has work folders made in advance") {
  constexpr std::size_t kStock = 5;
  const testing::TemporaryFolder folder;
  on_small_disk(folder.path(), DiskKind::Ext4, 8, [&] {
    const std::string work = folder.path() + "/work";
    {
      run::FolderPool pool(work, kStock);
      REQUIRE(pool.start());
      REQUIRE(becomes_stocked(pool));
    }
    for (int life = 0; life < 3; ++life) {
      CAPTURE(life);
      fill_disk(folder.path());
      run::FolderPool pool(work, kStock);
      REQUIRE(pool.start());
      std::set<std::string> folders;
      for (std::size_t i = 0; i < kStock; ++i) {
        const auto one = pool.acquire(::geteuid());
        REQUIRE_MESSAGE(one.has_value(), one.error().message);
        folders.insert(*one);
      }
      CHECK(folders.size() == kStock);
      const auto one_more = pool.acquire(::geteuid());
      REQUIRE_FALSE(one_more);
      CHECK(one_more.error().message.find("No space left") != std::string::npos);
      pool.release(*folders.begin());
      CHECK(pool.acquire(::geteuid()).value_or("none") == *folders.begin());
      pool.remove_earlier();
      REQUIRE(::unlink((folder.path() + "/filler").c_str()) == 0);
      REQUIRE(becomes_stocked(pool));
    }
  });
}

TEST_CASE("full disk: without a single folder in advance a worker starts, and refuses what needs one") {
  const testing::TemporaryFolder folder;
  on_small_disk(folder.path(), DiskKind::Ext4, 8, [&] {
    const std::string work = folder.path() + "/work";
    REQUIRE(make_folders(work));
    fill_disk(folder.path());
    run::FolderPool pool(work, 2);
    REQUIRE(pool.start());
    CHECK_FALSE(pool.acquire(::geteuid()));
    REQUIRE(::unlink((folder.path() + "/filler").c_str()) == 0);
    REQUIRE(becomes_stocked(pool));
    CHECK(pool.acquire(::geteuid()).has_value());
  });
}

}  // namespace rota::worker
