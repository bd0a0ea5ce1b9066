// Random scripts from one seed: the same seed gives the same script. The environment sets how many are tried:
// ROTA_AGREEMENT_SEEDS (scripts), ROTA_AGREEMENT_FROM (the first seed).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace rota::agreement {

/// splitmix64. Thread: one.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(mixed(seed)) {}

  /// 0 to n - 1.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(mixed(state_ += 0x9e3779b97f4a7c15ull) % static_cast<std::uint64_t>(n));
  }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<std::int64_t>(all.size())))];
  }

 private:
  /// Used for the seed too: otherwise two seeds a few steps apart would give shifted copies of one sequence.
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

struct Seeds {
  std::uint64_t from = 1;
  std::uint64_t count = 1;
};

inline Seeds seeds_to_try(std::uint64_t usual) {
  const auto number = [](const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  };
  return {number("ROTA_AGREEMENT_FROM", 1), number("ROTA_AGREEMENT_SEEDS", usual)};
}

/// Shows a disagreement to a person: the script up to it. That is the shortest prefix that shows it, because both
/// sides are compared after each step.
inline std::string disagreement(std::uint64_t seed, const std::vector<std::string>& script,
                                const std::string& real, const std::string& model) {
  std::string text = "seed " + std::to_string(seed) + " disagrees after step " +
                     std::to_string(script.size()) + " (ROTA_AGREEMENT_SEEDS=1 ROTA_AGREEMENT_FROM=" +
                     std::to_string(seed) + ")\n";
  for (std::size_t i = 0; i < script.size(); ++i) {
    text += "  " + std::to_string(i + 1) + ". " + script[i] + "\n";
  }
  return text + "real:\n" + real + "\nmodel:\n" + model + "\n";
}

}  // namespace rota::agreement
