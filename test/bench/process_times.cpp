#include "test/bench/process_times.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "common/base/file.h"

namespace rota::bench {
namespace {

std::optional<ProcessTimes> look_at(const std::string& stat_file) {
  const std::string text = read_file(stat_file).value_or("");
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  ProcessTimes seen;
  seen.name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 1));
  std::string state, skipped;
  rest >> state >> seen.parent;
  for (int i = 0; i < 9; ++i) rest >> skipped;
  double user = 0, system = 0, childrens_user = 0, childrens_system = 0;
  rest >> user >> system >> childrens_user >> childrens_system;
  const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  seen.own_seconds = (user + system) / per_second;
  seen.with_children_seconds = seen.own_seconds + (childrens_user + childrens_system) / per_second;
  return seen;
}

/// The pid at the beginning of a file; 0: none.
int pid_in(const std::filesystem::path& file) {
  int pid = 0;
  std::ifstream(file) >> pid;
  return pid;
}

/// The number behind a word of such a file; 0: there is none.
double kib_line(const std::string& file, std::string_view wanted) {
  std::istringstream in(read_file(file).value_or(""));
  std::string word;
  while (in >> word) {
    double kib = 0;
    if (word == wanted && in >> kib) return kib;
  }
  return 0;
}

}  // namespace

std::map<int, ProcessTimes> look_at_processes() {
  std::map<int, ProcessTimes> out;
  for (const std::string& name : names_in("/proc").value_or(Names{})) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (auto seen = look_at("/proc/" + name + "/stat")) out[std::stoi(name)] = std::move(*seen);
  }
  return out;
}

std::vector<int> processes_of(const Surroundings& where, const std::map<int, ProcessTimes>& all,
                              bool with_database) {
  std::vector<int> out;
  for (const auto& entry : std::filesystem::directory_iterator(where.cluster_folder)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("master-") && !name.starts_with("worker-")) continue;
    if (const int pid = pid_in(entry.path() / (name + ".pid")); pid > 0) out.push_back(pid);
  }
  if (with_database) out.push_back(pid_in(where.cluster_folder + "/pids/mariadb"));
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const auto& [pid, seen] : all) {
      if (seen.parent == out[i]) out.push_back(pid);
    }
  }
  return out;
}

std::map<std::string, double> CpuMeter::by_program() const {
  const auto all = look_at_processes();
  std::vector<int> pids = processes_of(where_, all, true);
  pids.push_back(::getpid());
  std::map<std::string, double> sums;
  for (const int pid : pids) {
    if (const auto seen = all.find(pid); seen != all.end()) {
      sums[seen->second.name] += seen->second.with_children_seconds;
    }
  }
  return sums;
}

std::map<std::string, double> CpuMeter::seconds_by_program() const {
  auto sums = by_program();
  for (const auto& [name, before] : began_) sums[name] -= before;
  return sums;
}

double CpuMeter::seconds() const {
  double sum = 0;
  for (const auto& [name, seconds] : seconds_by_program()) sum += seconds;
  return sum;
}

double memory_bytes(int pid) { return kib_line(fmt::format("/proc/{}/smaps_rollup", pid), "Pss:") * 1024; }

double peak_memory_bytes(int pid) { return kib_line(fmt::format("/proc/{}/status", pid), "VmHWM:") * 1024; }

double own_cpu_seconds(int pid) {
  const auto seen = look_at(fmt::format("/proc/{}/stat", pid));
  return seen ? seen->own_seconds : 0;
}

}  // namespace rota::bench
