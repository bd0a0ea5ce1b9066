// The warden's command line:
//   rota-warden [--means auto|pid_namespace|cgroup|scan] [--cgroup-dir DIR] [--state-dir DIR]
//               [--max-attempts N] -- PROPER ARGS…
//   rota-warden --sweep DIR
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace rota::worker::warden {

struct WardenOptions {
  enum class MeansChoice { Auto, PidNamespace, Cgroup, Scan };
  MeansChoice means = MeansChoice::Auto;
  std::string cgroup_dir;   ///< where to make cgroups; empty: below the warden's own
  std::string state_dir;    ///< empty: none; no lock is held then, and a sweep finds nothing
  std::string sweep_dir;    ///< not empty: sweep and end
  int max_attempts = 4096;  ///< 1 to 100,000
  std::vector<std::string> proper;
};

/// Exit statuses of rota-warden besides those that the proper chose.
inline constexpr int kExitUsage = 2;    ///< also: another warden holds the state folder
inline constexpr int kExitKilled = 70;  ///< the inner warden was killed, or the proper dies forever

/// InvalidArgument says what is wrong with which word.
Result<WardenOptions> parse_options(const std::vector<std::string>& arguments);

/// How the means is called on the command line.
Result<WardenOptions::MeansChoice> means_named(const std::string& name);

}  // namespace rota::worker::warden
