#include "test/bench/single_run.h"

#include <fmt/format.h>

#include <thread>

namespace rota::bench {
namespace {

constexpr Millis kRunLook{20};
constexpr std::chrono::minutes kRunPatience{10};

}  // namespace

Result<std::int64_t> start_run(client::Cluster& cluster, const std::string& name,
                               std::vector<std::string> argv) {
  thrift::SubmitItem item;
  item.definition.__set_name(name);
  item.definition.work.__set_argv(std::move(argv));
  auto submitted = cluster.submit(item);
  if (!submitted) return fail(submitted.error());
  return submitted->run;
}

Result<double> await_success(client::Cluster& cluster, std::int64_t run) {
  const MonoTime give_up = BootClock::now() + kRunPatience;
  while (BootClock::now() < give_up) {
    auto seen = cluster.get_run(run);
    if (!seen) return fail(seen.error());
    const thrift::RunInfo& info = seen->run;
    if (info.__isset.ended_ms) {
      if (info.state == "succeeded") {
        return static_cast<double>(info.ended_ms - info.started_ms) / 1000.0;
      }
      return fail(ErrorCode::Internal, fmt::format("run {} ended as {}: {}", run, info.state, info.reason));
    }
    std::this_thread::sleep_for(kRunLook);
  }
  return fail(ErrorCode::TimedOut, fmt::format("run {} has not ended after 10 min", run));
}

}  // namespace rota::bench
