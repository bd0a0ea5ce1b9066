// rota-warden: see warden.h for what it is, warden_options.h for its command line.
#include <cstdio>
#include <string_view>

#include "worker/warden/complain.h"
#include "worker/warden/launch.h"
#include "worker/warden/outer.h"

namespace warden = rota::worker::warden;

namespace {

int sweep_and_tell(const std::string& state_dir) {
  const warden::SweepResult result = warden::sweep(state_dir);
  if (result.warden_lives) warden::complain("a living warden holds the state folder", state_dir);
  std::printf("killed=%d left=%d\n", result.killed, result.left);
  return warden::sweep_exit_status(result);
}

}  // namespace

constexpr char kHelp[] =
    "usage: rota-warden [options] -- COMMAND ARG...   keeps a worker and what it starts\n"
    "       rota-warden --sweep STATE_DIR             ends what a dead one has left\n"
    "\n"
    "rota-worker starts it by itself; by hand only --sweep is of use.\n"
    "\n"
    "  --state-dir DIR     whose worker it is; one at a time\n"
    "  --means M           auto, pid_namespace, cgroup or scan\n"
    "  --cgroup-dir DIR    where cgroups may be made\n"
    "  --max-attempts N    held at a time, 1 to 100000\n"
    "\n"
    "exit: the worker's own; 2 wrong arguments; --sweep: 0 nothing is left, 3 something is\n";

int main(int argc, char** argv) {
  if (argc == 2 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h")) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  auto options = warden::parse_options({argv + 1, argv + argc});
  if (!options) {
    warden::complain("wrong command line", options.error().message);
    return warden::kExitUsage;
  }
  if (!options->sweep_dir.empty()) return sweep_and_tell(options->sweep_dir);
  return warden::run_warden(std::move(*options));
}
