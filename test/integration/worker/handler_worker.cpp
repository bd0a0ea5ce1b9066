// A worker whose handlers do what handlers should not.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
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
  if (run.output(std::string(70'000, 'x'))) return rota::fail(rota::ErrorCode::Internal, "too much was accepted");
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
/// Deaf to its cancellation until the file is there; prints only then.
Result<void> deaf(Context& run) {
  while (::access(run.parameter("until").c_str(), F_OK) != 0) ::usleep(10'000);
  run.log("late");
  return {};
}
Result<void> yield_when_told(Context& run) {
  run.log("waiting");
  if (run.wait_cancelled(rota::Millis{60'000})) run.log("told");
  return rota::fail(rota::ErrorCode::TimedOut, run.cancelled() ? "gave way" : "was never told");
}

/// Holds a lock until the file is there; dies with it if told to.
Result<void> hold(Context& run) {
  const auto lock = run.lock("door", rota::Millis{std::atoi(run.parameter("wait_ms", "30000").c_str())});
  if (!lock) return rota::fail(lock.error());
  run.log("in");
  if (run.parameter("die") == "yes") ::raise(SIGKILL);
  while (::access(run.parameter("until").c_str(), F_OK) != 0) {
    if (run.wait_cancelled(rota::Millis{10})) return rota::fail(rota::ErrorCode::TimedOut, "told");
  }
  if (!(*lock)->is_held()) return rota::fail(rota::ErrorCode::Internal, "the lock was lost");
  return run.output(std::to_string((*lock)->token()));
}

}  // namespace

int main(int argc, char** argv) {
  rota::sdk::Registry registry;
  for (const auto& [name, function] : std::map<std::string, Result<void> (*)(Context&)>{
           {"tell", tell}, {"refuse", refuse}, {"throw", throw_up}, {"crash", crash},
           {"leave", leave}, {"hang", hang}, {"deaf", deaf}, {"yield", yield_when_told}, {"hold", hold}}) {
    if (!registry.add(name, function)) return 2;
  }
  return rota::sdk::run_worker(argc, argv, registry);
}
