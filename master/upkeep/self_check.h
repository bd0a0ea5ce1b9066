// Looks every 10 s (2 s while something is wrong) at what a master needs:
// database, ZooKeeper, disk, memory, descriptors, backlog, and the
// clock against the database's. What it found last is shown by status, pages and the master's node.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/host/reading.h"
#include "master/api/leader_port.h"
#include "master/core/snapshot.h"
#include "master/upkeep/clock_guard.h"

namespace rota::master {

using HealthWords = std::vector<std::pair<std::string, std::string>>;

struct SelfCheckParts {
  std::string folder;                                          ///< on the disk that is looked at
  std::function<HealthWords()> servers;                        ///< database, ZooKeeper, log store
  std::function<ClockDoubt()> clock;                           ///< why it is not to be believed
  std::function<std::int64_t()> waiting_events;                ///< in the inbox
  std::function<std::int64_t()> most_events;                   ///< that may wait there
  std::function<std::vector<api::MasterView>()> masters;       ///< may ask ZooKeeper
  std::function<void(const std::string& verdict)> tell;        ///< it has changed
  std::function<void()> look_at_figures = {};                  ///< every two seconds; may be empty
};

struct SelfCheckReport {
  HealthWords words;                   ///< one for each part that was looked at
  std::string verdict = "not checked yet";
  host::ProcessReading process;
  std::int64_t disk_free_bytes = 0;
  std::vector<api::MasterView> masters;
  MonoTime looked{};                   ///< when it was finished
};

/// Owner: Master. One thread of its own; last() from any.
class SelfCheck {
 public:
  explicit SelfCheck(SelfCheckParts parts) : parts_(std::move(parts)) {}
  ~SelfCheck() { stop(); }
  void start();
  /// Twice is fine.
  void stop();
  SelfCheckReport last() const;
  /// The same with those words as they are at this moment.
  SelfCheckReport last_with(const HealthWords& now) const;
  /// Something has changed: look at once.
  void look_soon();

 private:
  void loop(std::stop_token stop);
  void wait(std::stop_token stop, Millis pause);
  SelfCheckReport look() const;

  const SelfCheckParts parts_;
  const MonoTime begun_ = BootClock::now();
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  bool asked_ = false;
  SelfCheckReport report_;
  std::jthread thread_;
};

/// Of the scheduler's invariants that this Term has met broken: "ok", or how many and the first. Pure.
std::string invariants_word(const core::Snapshot* snapshot);

/// The words with those of this host added; pure.
HealthWords health_words(HealthWords servers, const ClockDoubt& clock, const std::string& backlog,
                         const std::vector<std::string>& host);
/// Those of `now` in place of the ones of the same part, new ones at the end; pure.
HealthWords with_words(HealthWords words, const HealthWords& now);

/// `up`: for how long the process has run; a start waits for its servers (see host::verdict_of).
std::string verdict_of(const HealthWords& words, Millis up);

/// Says which part has not turned for longer than the limit; empty: all turn. Pure.
std::string standstill_of(MonoTime now, MonoTime last_beat, MonoTime last_look, Millis limit);

}  // namespace rota::master
