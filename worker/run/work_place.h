// Where an attempt with a process of its own works, and what is laid out for it there: its script, its
// checkpoint, a handler's facts.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "worker/run/folder_pool.h"
#include "worker/run/job_user.h"
#include "worker/desk/order.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

struct WorkPlace {
  std::string folder{};           ///< of its own; empty when it needs none
  std::string script_file{};      ///< where the script's text was put; empty: no script
  std::string checkpoint_file{};  ///< where the checkpoint was put; empty: none
  std::string facts_file{};       ///< for a handler: where its facts were put; empty: a command
  std::optional<warden::User> user{};  ///< as whom; none: as the worker itself
  std::string home{};             ///< the user's
};

/// Acquires a folder where one is needed, writes what the attempt is to find there, and gives it to the
/// user of `run_as`. `facts`: of a handler, encoded; else empty. Denied: a user that is not allowed;
/// Unavailable: no folder, or no room in it.
Result<WorkPlace> make_work_place(FolderPool& folders, JobUsers& users, const desk::Order& order,
                                  const std::string& facts);

/// Removes what make_work_place has written. The folder stays.
void clear_work_place(const WorkPlace& place);

}  // namespace rota::worker::run
