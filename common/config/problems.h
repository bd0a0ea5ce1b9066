// What is wrong with a text that a person wrote: every problem of one reading, with its place, so
// that they are all mended in one go.
#pragma once

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
  std::string what;  ///< what is wrong, what is allowed, what to do

  /// `file:line:column key: what`, without the parts that are not known.
  std::string text() const;
};

/// Gathers problems in the order found. Thread: one at a time.
class Problems {
 public:
  void add(std::string source, Mark mark, std::string key, std::string what);
  void add(const Problems& others);
  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  const std::vector<Problem>& list() const { return list_; }
  /// One line for each, in order of place.
  std::string text() const;

 private:
  std::vector<Problem> list_;
};

}  // namespace rota::config
