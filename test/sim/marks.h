// What a campaign went through: every fault and every path that must have been taken at least once.
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
  /// With every name at zero.
  Marks();
  /// Ends the process for a name that is not in the list.
  void hit(std::string_view name, std::int64_t times = 1);
  void add(const Marks& other);
  std::int64_t of(std::string_view name) const { return counts_.at(name); }
  std::map<std::string, std::int64_t> counts() const;

 private:
  std::unordered_map<std::string_view, std::int64_t> counts_;  ///< of names that stay
};

}  // namespace rota::sim
