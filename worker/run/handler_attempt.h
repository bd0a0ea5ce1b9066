// An attempt that runs inside the worker proper: a handler's context, and what it leaves behind.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "common/base/unique_fd.h"
#include "common/model/worker.h"
#include "worker/run/progress_lines.h"
#include "worker/sdk/handler.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

/// Hands the read end of a new pipe to the runner; called with the first line of a stream.
using PipeReceiver = std::function<void(model::AttemptKey, int stream, UniqueFd read_end)>;

/// Hears what the handler says of its progress; called on the handler's thread.
using NoteListener = std::function<void(model::AttemptKey, Said)>;

/// Owner: shared by the runner, which cancels, and the slot's thread, which runs the handler and may
/// outlast the runner's patience. Thread: any.
class HandlerAttempt final : public sdk::Context {
 public:
  HandlerAttempt(model::AttemptKey key, sdk::RunFacts facts, PipeReceiver pipe_receiver,
                 NoteListener note_listener = {}, std::optional<std::string> checkpoint = {},
                 sdk::LockService* locks = nullptr);

  // sdk::Context
  const sdk::RunFacts& facts() const override { return facts_; }
  void log(std::string_view line) override;
  void write(std::string_view bytes) override;
  void log_error(std::string_view line) override;
  Result<void> output(std::string value) override;
  void progress(int percent, std::string_view text) override;
  Result<void> save_checkpoint(std::string state) override;
  std::optional<std::string> checkpoint() const override { return checkpoint_; }
  Result<std::unique_ptr<sdk::HeldLock>> lock(const std::string& name, Millis at_most) override;
  bool cancelled() const override;
  bool wait_cancelled(Millis at_most) override;

  /// Asks the handler to stop; the first reason counts.
  void cancel(warden::KilledBy by);
  warden::KilledBy cancelled_by() const;

  /// Runs the handler to its end on the calling thread, catching what it throws, and closes the pipes.
  model::Outcome run(sdk::Handler& handler, const Clock& clock);
  /// A line was written, so the end must wait for output.
  bool has_output() const;

 private:
  void write_to(int stream, std::string_view bytes);
  model::Outcome outcome_of(const Result<void>& result) const;

  const model::AttemptKey key_;
  const sdk::RunFacts facts_;
  const PipeReceiver pipe_receiver_;
  const NoteListener note_listener_;
  const std::optional<std::string> checkpoint_;
  sdk::LockService* const locks_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  warden::KilledBy cancelled_by_ = warden::KilledBy::None;
  std::string result_;
  bool has_output_ = false;
  std::mutex write_mutex_;           ///< lines of several threads do not mix
  UniqueFd pipes_[2];
};

}  // namespace rota::worker::run
