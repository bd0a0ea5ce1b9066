// rota-warden: see warden.h for what it is, warden_options.h for its command line.
#include <cstdio>

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

int main(int argc, char** argv) {
  auto options = warden::parse_options({argv + 1, argv + argc});
  if (!options) {
    warden::complain("wrong command line", options.error().message);
    return warden::kExitUsage;
  }
  if (!options->sweep_dir.empty()) return sweep_and_tell(options->sweep_dir);
  return warden::run_warden(std::move(*options));
}
