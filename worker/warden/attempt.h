// One attempt as the warden knows it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/unique_fd.h"
#include "worker/warden/cgroup_tree.h"
#include "worker/warden/resting_keepers.h"
#include "worker/warden/wire.h"

namespace rota::worker::warden {

// Starting  the keeper is there, exec has not happened yet (PidNamespace only)
// Running   the main process runs
// Emptying  the main process has ended; the set is not proven empty yet
// Ended     told, or to be told; held until Forget
// Starting -> Running -> Emptying -> Ended; each may skip ahead.
enum class Phase { Starting, Running, Emptying, Ended };

struct Attempt {
  std::uint64_t serial = 0;
  AttemptKey key;
  std::string note;
  Millis kill_grace{0};
  Millis disconnect_grace{0};
  CgroupLimits limits;
  Phase phase = Phase::Starting;

  pid_t pid = -1;          ///< keeper (PidNamespace) or main process; -1 once reaped
  UniqueFd pidfd;
  UniqueFd out, err, progress;  ///< read ends, kept so that a crash of the proper loses no byte
  std::int32_t shown_pid = 0;
  std::optional<ServingKeeper> server;  ///< its keeper may serve again

  std::optional<MonoTime> term_at;     ///< the timeout
  std::optional<MonoTime> kill_at;     ///< TERM was sent; KILL follows then
  std::optional<MonoTime> give_up_at;  ///< KILL was sent; no proof by then: say so
  int empty_scans = 0;                 ///< Scan, Cgroup: passes in a row that saw nobody
  std::optional<Cgroup> cgroup;        ///< Cgroup: until it is proven empty

  Ended end;                           ///< filled as things become known
  bool main_status_known = false;
  bool unproven_told = false;
  bool is_forgotten = false;           ///< the proper does not care any more, the set still lives

  std::uint32_t owner_life = 0;        ///< the life of the proper that knows of this attempt
  bool started_untold = false;
  bool end_untold = false;
  bool held_untold = false;
  bool is_queued = false;              ///< in the queue of what is to be told
};

}  // namespace rota::worker::warden
