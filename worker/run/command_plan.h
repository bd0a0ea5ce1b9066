// From an order of the handler `command` to what the warden is asked to start. Pure.
#pragma once

#include <optional>
#include <string>

#include "worker/run/job_environment.h"
#include "worker/run/order.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

/// What is wrong with an order that can never be started: a NUL inside, nothing to run, a bad name in
/// the environment. Empty: nothing.
std::optional<std::string> trouble_with(const model::JobWork& work);

/// The program that reads the script: the interpreter's first word.
std::string interpreter_of(const model::JobWork& work);

/// Where an attempt works.
struct WorkPlace {
  std::string folder;        ///< of its own; empty when it needs none
  std::string script_file;   ///< where the script's text was put; empty: no script
  std::string checkpoint_file{};  ///< where the checkpoint was put; empty: none
  std::optional<warden::User> user{};  ///< as whom; none: as the worker itself
  std::string home{};                ///< the user's
};

/// What an adopting life must know of an attempt; travels as the warden's note.
struct AttemptNote {
  model::WorkerKey life;
  std::int64_t cap_bytes = 0;
  Millis kill_grace{10'000};
  model::JobLimits limits{};
  model::KeepFolder keep_folder = model::KeepFolder::Never;
  std::string folder{};      ///< of the attempt's own; empty: none
};
std::string encode_note(const AttemptNote& note);
/// Corrupt when another version wrote it.
Result<AttemptNote> decode_note(const std::string& text);

warden::Start plan_command(const Order& order, const WorkPlace& place,
                           const EnvironmentBase& base, Epoch epoch,
                           const model::WorkerKey& life);

inline warden::AttemptKey to_warden(model::AttemptKey key) { return {key.run, key.attempt}; }
inline model::AttemptKey from_warden(warden::AttemptKey key) { return {key.run, key.attempt}; }

}  // namespace rota::worker::run
