// What a handler sees of the run it works for, and how it speaks: log lines, a result, progress.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/time.h"
#include "worker/sdk/lock.h"

namespace rota::sdk {

/// Who this attempt is. (run, attempt) names it; `epoch` is the fencing token: pass it to the systems
/// that the handler writes to, so that they can refuse an older one.
struct RunFacts {
  std::int64_t run = 0;
  std::int32_t attempt = 0;
  std::int64_t epoch = 0;
  std::int64_t job = 0;
  std::string job_name;
  std::string space;                 ///< namespace of the job
  std::string kind;                  ///< "tick", "manual" or "one_off"
  std::optional<WallTime> tick;      ///< the planned moment, for ticks
  WallTime scheduled{};
  std::string worker;                ///< id of the worker
  std::string incarnation;
  std::map<std::string, std::string> parameters;
};

/// Lives as long as the call of Handler::run. Thread: any thread of the handler, until run returns.
class Context {
 public:
  virtual ~Context() = default;

  virtual const RunFacts& facts() const = 0;

  /// The value of a parameter, or `otherwise`.
  std::string parameter(const std::string& name, std::string otherwise = {}) const {
    const auto found = facts().parameters.find(name);
    return found == facts().parameters.end() ? std::move(otherwise) : found->second;
  }

  /// Writes a line (a line break is added) to the run's standard output. May wait while the worker
  /// is behind with reading output.
  virtual void log(std::string_view line) = 0;
  /// Writes bytes to its standard output as they are.
  virtual void write(std::string_view bytes) = 0;
  /// A line, as log does, to its standard error.
  virtual void log_error(std::string_view line) = 0;

  /// Sets the run's small result value, at most 64 KiB; the last call counts. InvalidArgument when it
  /// is longer.
  virtual Result<void> output(std::string value) = 0;

  /// 0 to 100 and a few words (at most 200 bytes); shown while the run goes on, told at most once a second.
  virtual void progress(int percent, std::string_view text) = 0;

  /// Saves a small state of any bytes, at most 64 KiB, in place of the one before. The run's next
  /// attempt gets it, on any worker, should this one fail, be lost or be killed. It is sent within a
  /// second and stored a moment later: work done since the last stored one is done again.
  /// InvalidArgument when it is longer.
  virtual Result<void> save_checkpoint(std::string state) = 0;
  /// What an earlier attempt of this run saved last; empty: nothing.
  virtual std::optional<std::string> checkpoint() const = 0;

  /// Acquires a lock that one run in the whole cluster can hold at a time, waiting so long while another has
  /// it; its end gives it back. TimedOut, Unavailable, InvalidArgument: see LockService::take;
  /// Unsupported: this worker has none.
  virtual Result<std::unique_ptr<HeldLock>> lock(const std::string& name, Millis at_most) = 0;

  /// True once the run was cancelled, timed out, or the worker must stop: return soon.
  virtual bool cancelled() const = 0;
  /// Waits; true when cancelled before the time was over.
  virtual bool wait_cancelled(Millis at_most) = 0;
};

}  // namespace rota::sdk
