// What a campaign went through: every fault and every path that must have been taken at least once.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace rota::sim {

/// Thread: one.
class Marks {
 public:
  /// With every name at zero.
  Marks();
  /// Ends the process for a name that is not in the list.
  void hit(const std::string& name, std::int64_t times = 1);
  void add(const Marks& other);
  std::int64_t of(const std::string& name) const { return counts_.at(name); }
  const std::map<std::string, std::int64_t>& counts() const { return counts_; }

 private:
  std::map<std::string, std::int64_t> counts_;
};

}  // namespace rota::sim
