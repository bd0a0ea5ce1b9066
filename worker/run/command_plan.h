// From an order that has a process of its own, a command or an isolated handler, to what the warden is
// asked to start. Pure.
#pragma once

#include <optional>
#include <string>

#include "worker/run/job_environment.h"
#include "worker/desk/order.h"
#include "worker/run/work_place.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

/// What is wrong with an order that can never be started: a NUL inside, nothing to run, a bad name in
/// the environment. Empty: nothing.
std::optional<std::string> trouble_with(const model::JobWork& work);

/// The program that reads the script: the interpreter's first word.
std::string interpreter_of(const model::JobWork& work);

/// What an adopting life must know of an attempt; travels as the warden's note.
struct AttemptNote {
  model::WorkerKey life;
  std::int64_t cap_bytes = 0;
  Millis kill_grace{10'000};
  model::JobLimits limits{};
  model::KeepFolder keep_folder = model::KeepFolder::Never;
  std::string folder{};      ///< of the attempt's own; empty: none
  bool is_handler = false;   ///< in a process of its own
  model::Demand demand{};    ///< what it takes of the worker
};
std::string encode_note(const AttemptNote& note);
/// Corrupt when another version wrote it.
Result<AttemptNote> decode_note(const std::string& text);

/// `program`: this one's path, which an isolated handler runs in once more.
warden::Start plan_command(const desk::Order& order, const WorkPlace& place,
                           const EnvironmentBase& base, Epoch epoch,
                           const model::WorkerKey& life, const std::string& program = {});

inline warden::AttemptKey to_warden(model::AttemptKey key) { return {key.run, key.attempt}; }
inline model::AttemptKey from_warden(warden::AttemptKey key) { return {key.run, key.attempt}; }

}  // namespace rota::worker::run
