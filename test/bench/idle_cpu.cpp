// The processor time that each process of an idle cluster takes.
#include <algorithm>
#include <thread>

#include "test/bench/figures.h"
#include "test/bench/process_times.h"

namespace rota::bench {
namespace {

constexpr double kAimPercent = 0.5;
constexpr std::chrono::seconds kSpan{10};

}  // namespace

Result<bool> idle_cpu(const Surroundings& where, const Effort&) {
  const auto before = look_at_processes();
  const std::vector<int> pids = processes_of(where, before, false);
  if (pids.empty()) return fail(ErrorCode::NotFound, "no pid files in " + where.cluster_folder);
  std::this_thread::sleep_for(kSpan);
  const auto after = look_at_processes();
  std::map<std::string, double> worst;  // of the processes with one name
  for (const int pid : pids) {
    const auto old = before.find(pid), fresh = after.find(pid);
    if (old == before.end() || fresh == after.end()) continue;
    double& most = worst[fresh->second.name];
    const double seconds = fresh->second.own_seconds - old->second.own_seconds;
    most = std::max(most, 100.0 * seconds / static_cast<double>(kSpan.count()));
  }
  Line line("idle_cpu");
  double most = 0;
  for (const auto& [name, percent] : worst) {
    line.add(name + "_percent_of_a_core", percent, 2);
    most = std::max(most, percent);
  }
  line.add("processes", static_cast<double>(pids.size())).add("limit_percent", kAimPercent, 1);
  line.add("ratio", most / kAimPercent, 2).print_verdict(most < kAimPercent, "each<0.5%");
  return most < kAimPercent;
}

}  // namespace rota::bench
