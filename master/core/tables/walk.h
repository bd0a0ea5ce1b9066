// A stretch of a table in its order, to be walked and nothing else: what holds the entries may change without
// a change for those who walk.
#pragma once

namespace rota::master::core {

/// Valid until the table changes, as the table's own iterators are. Two that are made of nothing are empty.
template <typename Iterator>
class Walk {
 public:
  Walk() = default;
  Walk(Iterator first, Iterator last) : first_(first), last_(last) {}

  Iterator begin() const { return first_; }
  Iterator end() const { return last_; }
  bool empty() const { return first_ == last_; }

 private:
  Iterator first_{};
  Iterator last_{};
};

/// All of a container.
template <typename Container>
auto walk(Container& all) {
  return Walk<decltype(all.begin())>(all.begin(), all.end());
}

/// Of a map by (id, something): those of one id, found by the smallest key that it may have.
template <typename Map, typename Key>
auto walk_of_id(Map& all, const Key& smallest) {
  const auto first = all.lower_bound(smallest);
  auto last = first;
  while (last != all.end() && last->first.id == smallest.id) ++last;
  return Walk<decltype(all.begin())>(first, last);
}

}  // namespace rota::master::core
