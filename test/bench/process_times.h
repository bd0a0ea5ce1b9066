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
  explicit CpuMeter(const Surroundings& where) : where_(where), began_(sum()) {}
  double seconds() const { return sum() - began_; }

 private:
  double sum() const;
  const Surroundings& where_;
  const double began_;
};

}  // namespace rota::bench
