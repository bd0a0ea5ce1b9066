// The outer warden: makes the pid namespace, lets the warden proper run in it as pid 1, passes signals
// on to it, and ends as it ended. If the outer one dies, the inner one is killed by the kernel, and
// the kernel kills everything in the namespace with it. Without namespaces there is only one warden.
#pragma once

#include "worker/warden/warden_options.h"

namespace rota::worker::warden {

/// Runs the warden as the options say and as this host allows. The exit status for the process:
/// the proper's 0 or 2, kExitUsage when the state folder is held by another warden, kExitKilled.
int run_warden(WardenOptions options);

}  // namespace rota::worker::warden
