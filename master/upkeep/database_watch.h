// Whether the database answers, for the candidacy and for status: a probe every half second. A master
// is a candidate only after the schema stands, and only while its database answers; after a loss it
// joins again when good answers have lasted.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::master {

struct DatabaseWatchOptions {
  Millis every{500};
  Millis give_up{6000};       ///< bad answers for so long: no candidate any more
  Millis settle{3000};        ///< good answers for so long after a loss: candidate again
};

/// Pure: what a series of good and bad answers means.
class DatabaseVerdict {
 public:
  explicit DatabaseVerdict(const DatabaseWatchOptions& options) : options_(options) {}
  /// Notes one answer; gives whether the master may be a candidate.
  bool take(bool good, MonoTime now);
  /// The Term found the database lost: good answers must last before it counts again.
  void lose(MonoTime now);
  bool is_good() const { return eligible_; }

 private:
  const DatabaseWatchOptions options_;
  bool eligible_ = false;
  bool was_lost_ = false;              ///< the first good answer of a process's life needs no wait
  std::optional<MonoTime> good_since_;
  std::optional<MonoTime> bad_since_;
};

/// Pure: since when the database does not answer at all. What it refuses, or lacks, is an answer.
class DatabaseSilence {
 public:
  /// `asked`: when the question was put.
  void take(const Result<void>& answer, Now asked);
  /// "the database does not answer since 2026-03-29T02:30:00.000Z: why"; empty: it does, or has been silent
  /// for less than `at_least`.
  std::string word(MonoTime now, Millis at_least) const;

 private:
  std::optional<Now> since_;
  std::string why_;
};

/// Thread: construct, stop and destroy by the owner; health from any.
class DatabaseWatch {
 public:
  using Probe = std::function<Result<void>()>;
  /// `prepare` (the schema steps) must have succeeded before a probe counts as good, and again after a
  /// bad answer; both are called on the watch's thread. `changed` hears each change, on that thread.
  DatabaseWatch(const DatabaseWatchOptions& options, Probe prepare, Probe probe,
                std::function<void(bool)> changed);
  ~DatabaseWatch();
  /// The Term has given the database up: candidacy ends now.
  void report_lost();
  /// A takeover failed: before the next good answer `prepare` must succeed again.
  void prepare_again();
  /// "ok", or what the last probe said.
  std::string health() const;
  /// That the database does not answer, and since when; empty: it does, or it has been silent for a short
  /// time only. With this, a caller need not wait for a timeout of its own.
  std::string silence() const;
  /// Why this master may not be a candidate; empty: it may.
  std::string why_not() const;
  void stop();

 private:
  void watch(std::stop_token stop);
  Result<void> ask();

  const DatabaseWatchOptions options_;
  const Probe prepare_, probe_;
  const std::function<void(bool)> changed_;
  std::atomic<bool> prepared_ = false;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  DatabaseVerdict verdict_;
  bool told_ = false;
  bool lost_reported_ = false;
  DatabaseSilence silence_;
  std::string health_ = "not asked yet";
  std::jthread thread_;                   // last: it uses the rest
};

}  // namespace rota::master
