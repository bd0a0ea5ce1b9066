// A disk that is really full: a small file system in memory, in a mount namespace of this test's own. It
// needs the right to mount; without it the cases with file size limits (outbox, spool) have to do.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "test/unit/worker/temporary_folder.h"
#include "worker/report/outbox.h"
#include "worker/run/spool.h"

namespace rota::worker {

namespace {

/// Runs `body` where `folder` has so much room; false when that can not be had. The namespace, and the
/// mount with it, goes with the thread.
bool on_small_disk(const std::string& folder, const char* options, const std::function<void()>& body) {
  bool may = false;
  std::thread([&] {
    may = ::unshare(CLONE_FS | CLONE_NEWNS) == 0 &&
          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
          ::mount("none", folder.c_str(), "tmpfs", 0, options) == 0;
    if (may) body();
  }).join();
  if (!may) MESSAGE("not run: no right to mount");
  return may;
}

/// Takes all room that is left.
void fill_disk(const std::string& folder) {
  const UniqueFd file(::open((folder + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string block(4096, 'x');
  while (::write(file.get(), block.data(), block.size()) > 0) {
  }
  CHECK(errno == ENOSPC);
}

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
    stream.take(out.get(), 1 << 20, now);
  }
}

}  // namespace

TEST_CASE("full disk: results are taken and kept, though nothing else can be written") {
  const testing::TemporaryFolder folder;
  on_small_disk(folder.path(), "size=24m", [&] {
    const std::string path = folder.path() + "/outbox";
    auto outbox = report::Outbox::open(path).value();
    fill_disk(folder.path());
    std::size_t taken = 0;
    while (taken < 3000 && outbox->append({ended(static_cast<std::int64_t>(taken) + 1)})) ++taken;
    CHECK(taken == 3000);
    std::vector<model::AttemptKey> told;
    for (std::int64_t run = 1; run <= 2990; ++run) told.push_back({RunId{run}, 1});
    CHECK(outbox->acknowledge(told));
    CHECK(report::Outbox::open(path).value()->unreported().size() == 10);
    MESSAGE("figure: outcomes taken on a full disk: ", taken);
  });
}

TEST_CASE("full disk: the oldest output gives way to the newest, and says how much of it is gone") {
  const testing::TemporaryFolder folder;
  const FakeClock clock;
  on_small_disk(folder.path(), "size=12m", [&] {
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

}  // namespace rota::worker
