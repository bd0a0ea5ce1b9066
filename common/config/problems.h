// The problems of a text that a person wrote: all of them with their places, so that the person can
// fix them at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rota::config {

/// A place in a text, counted from 1. Line 0: no line (the environment, or a key that is missing).
struct Mark {
  int line = 0;
  int column = 0;
  bool operator==(const Mark&) const = default;
};

struct Problem {
  std::string source;  ///< file name, or "environment ROTA_X"
  Mark mark;
  std::string key;   ///< dotted path ("zookeeper.connect"); may be empty
  std::string what;  ///< the problem, the allowed values, the remedy

  /// `file:line:column key: what`, without the parts that are not known.
  std::string text() const;
};

/// Collects problems in the order found: the first 100, each of bounded length. Further ones are only
/// counted, so that even a very wrong text costs little more than its reading. Thread: one at a time.
class Problems {
 public:
  static constexpr std::size_t kMost = 100;
  static constexpr std::size_t kMostKeyBytes = 200;
  static constexpr std::size_t kMostWhatBytes = 1000;

  void add(std::string_view source, Mark mark, std::string_view key, std::string_view what);
  void add(const Problems& others);
  /// Whether a further problem would only be counted: then its text is not needed.
  bool is_full() const { return list_.size() >= kMost; }
  void count_one() { ++more_; }
  bool empty() const { return list_.empty() && more_ == 0; }
  /// The number of all problems found, also those not kept.
  std::size_t size() const { return list_.size() + more_; }
  /// One line for each problem, in order of place, and how many more there are. Printable UTF-8.
  std::string text() const;

 private:
  std::vector<Problem> list_;
  std::size_t more_ = 0;
};

}  // namespace rota::config
