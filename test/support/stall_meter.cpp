#include "test/support/stall_meter.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace rota::testing {

namespace {

constexpr int kPauseMs = 5, kBetweenSyncsMs = 20;
constexpr Micros kPauseDue{7'000};
constexpr Micros kSyncDue{10'000};

UniqueFd nameless_file() {
  std::string name = (std::filesystem::temp_directory_path() / "rota-stalls-XXXXXX").string();
  UniqueFd file(::mkstemp(name.data()));
  ::unlink(name.c_str());
  return file;
}

}  // namespace

StallMeter::StallMeter() : file_(nameless_file()) {
  clock_thread_ = std::thread([this] { look_at_clock(); });
  disk_thread_ = std::thread([this] { look_at_disk(); });
}

StallMeter::~StallMeter() {
  stopping_ = true;
  clock_thread_.join();
  disk_thread_.join();
}

void StallMeter::begin(Witness& witness, Micros due_in) {
  const std::scoped_lock lock(mutex_);
  witness.due = BootClock::now() + due_in;
}

void StallMeter::end(Witness& witness) {
  const std::scoped_lock lock(mutex_);
  const MonoTime now = BootClock::now();
  if (now > witness.due) witness.stalls.emplace_back(witness.due, now);
  witness.due = MonoTime::max();
}

void StallMeter::look_at_clock() {
  while (!stopping_) {
    begin(clock_, kPauseDue);
    ::poll(nullptr, 0, kPauseMs);
    end(clock_);
  }
}

void StallMeter::look_at_disk() {
  while (!stopping_) {
    begin(disk_, kSyncDue);
    (void)!::pwrite(file_.get(), "x", 1, 0);
    ::fdatasync(file_.get());
    end(disk_);
    ::poll(nullptr, 0, kBetweenSyncsMs);
  }
}

Micros StallMeter::within(MonoTime from, MonoTime to) const {
  std::vector<std::pair<MonoTime, MonoTime>> all;
  {
    const std::scoped_lock lock(mutex_);
    for (const Witness* witness : {&clock_, &disk_}) {
      all.insert(all.end(), witness->stalls.begin(), witness->stalls.end());
      if (witness->due < to) all.emplace_back(witness->due, to);
    }
  }
  std::ranges::sort(all);
  Micros sum{0};
  for (const auto& [begun, ended] : all) {
    const MonoTime last = std::min(ended, to);
    from = std::max(from, begun);
    if (last > from) sum += last - from;
    from = std::max(from, last);
  }
  return sum;
}

Micros StallMeter::fair_since(MonoTime from) const {
  const MonoTime now = BootClock::now();
  return now - from - within(from, now);
}

}  // namespace rota::testing
