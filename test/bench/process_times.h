// Processor time of the processes under test, from /proc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "test/bench/surroundings.h"

namespace rota::bench {

struct ProcessTimes {
  std::string name;
  int parent = 0;
  double own_seconds = 0;              ///< user and system
  double with_children_seconds = 0;    ///< and of children that have ended
};

/// Every process of this machine, by pid.
std::map<int, ProcessTimes> look_at_processes();

/// The masters and workers of the cluster, and all below them; with the database server if asked.
std::vector<int> processes_of(const Surroundings& where, const std::map<int, ProcessTimes>& all,
                              bool with_database);

/// Processor time that the cluster, its database and this program have taken since it was made. Where
/// others use the machine too, it tells more than the time on the clock.
class CpuMeter {
 public:
  explicit CpuMeter(const Surroundings& where) : where_(where), began_(by_program()) {}
  double seconds() const;
  /// The same by name of program, the database server among them.
  std::map<std::string, double> seconds_by_program() const;

 private:
  std::map<std::string, double> by_program() const;
  const Surroundings& where_;
  const std::map<std::string, double> began_;
};

/// What the process has for itself, and its share of what it has with others (PSS), in bytes; 0: it can not
/// be read.
double memory_bytes(int pid);
/// The most that it ever had resident.
double peak_memory_bytes(int pid);
/// Its user and system time in seconds, without its children's; 0: it is gone.
double own_cpu_seconds(int pid);

}  // namespace rota::bench
