// The marks of a campaign: every fault and every path that must have occurred at least once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rota::sim {

/// Thread: one.
class Marks {
 public:
  /// Starts every name at zero.
  Marks();
  /// A name that is not in the list ends the process.
  void hit(std::string_view name, std::int64_t times = 1);
  void add(const Marks& other);
  std::int64_t of(std::string_view name) const { return counts_.at(name); }
  std::map<std::string, std::int64_t> counts() const;

 private:
  std::unordered_map<std::string_view, std::int64_t> counts_;  ///< the keys are constants
};

}  // namespace rota::sim
