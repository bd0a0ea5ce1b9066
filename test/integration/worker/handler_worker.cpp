// A worker whose handlers do what handlers should not.
#include <signal.h>
#include <unistd.h>

#include <stdexcept>

#include "worker/sdk/run_worker.h"

namespace {

using rota::Result;
using rota::sdk::Context;

/// Says and uses everything that a context has.
Result<void> tell(Context& run) {
  run.log("run " + std::to_string(run.facts().run) + " of " + run.facts().job_name + " on " +
          run.facts().worker + ": " + run.parameter("a b", "nothing"));
  run.write(std::string("raw\0bytes\n", 10));
  run.log_error("checkpoint " + run.checkpoint().value_or("none"));
  run.progress(70, "most of\nit");
  if (auto saved = run.save_checkpoint(std::string("at\0 7\n", 6)); !saved) return saved;
  if (run.output(std::string(70'000, 'x'))) return rota::fail(rota::ErrorCode::Internal, "too much was taken");
  return run.output("the result");
}

Result<void> refuse(Context&) { return rota::fail(rota::ErrorCode::NotFound, "no such\ncustomer"); }
Result<void> throw_up(Context&) { throw std::runtime_error("boom"); }
Result<void> crash(Context&) {
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
  return {};
}
Result<void> leave(Context&) { ::_exit(5); }
Result<void> hang(Context& run) {
  run.log("hanging");
  while (true) ::pause();
}
Result<void> yield_when_told(Context& run) {
  run.log("waiting");
  if (run.wait_cancelled(rota::Millis{60'000})) run.log("told");
  return rota::fail(rota::ErrorCode::TimedOut, run.cancelled() ? "gave way" : "was never told");
}

}  // namespace

int main(int argc, char** argv) {
  rota::sdk::Registry registry;
  for (const auto& [name, function] : std::map<std::string, Result<void> (*)(Context&)>{
           {"tell", tell}, {"refuse", refuse}, {"throw", throw_up}, {"crash", crash},
           {"leave", leave}, {"hang", hang}, {"yield", yield_when_told}}) {
    if (!registry.add(name, function)) return 2;
  }
  return rota::sdk::run_worker(argc, argv, registry);
}
