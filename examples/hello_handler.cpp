// A worker with a handler of its own. Start it as rota-worker is started:
//   hello_handler --config worker.yaml
// and run it with a job whose handler is `hello`; parameters: name, times.
#include <cstdlib>
#include <string>

#include "worker/sdk/run_worker.h"

int main(int argc, char** argv) {
  rota::sdk::Registry registry;
  auto added = registry.add("hello", [](rota::sdk::Context& run) -> rota::Result<void> {
    const int times = std::atoi(run.parameter("times", "3").c_str());
    for (int i = 1; i <= times; ++i) {
      if (run.wait_cancelled(rota::Millis{100})) return rota::fail(rota::ErrorCode::TimedOut, "stopped");
      run.log("hello, " + run.parameter("name", "world") + " (" + std::to_string(i) + ")");
      run.progress(100 * i / times, "greeting");
    }
    return run.output("greeted " + std::to_string(times) + " times");
  });
  return added ? rota::sdk::run_worker(argc, argv, registry) : 2;
}
