#include "master/core/tables/departed_table.h"

#include <algorithm>

namespace rota::master::core {

void DepartedTable::bound(std::size_t most) {
  while (workers_.size() > most) {
    workers_.erase(std::ranges::min_element(
        workers_, {}, [](const auto& each) { return each.second.left; }));
  }
}

}  // namespace rota::master::core
