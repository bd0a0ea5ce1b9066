#include <algorithm>

#include "test/contract/agreement/store_script.h"

namespace rota::agreement {

/// New rows, and changes of those that stand.
void StoreScript::add_scaling(master::core::Changes& changes) {
  model::ScaleChange row;
  row.id = dice_.chance(60) ? ++scalings_ : 1 + dice_.below(scalings_ + 1);
  row.pool = row.id % 3 == 0 ? "Etl" : "etl";
  row.before = row.id % 5;
  row.after = row.id % 7;
  row.present = row.id % 4;
  row.leaving = row.id % 2;
  row.reason = static_cast<model::ScaleReason>(row.id % 9);
  row.hook = row.id % 2 == 0 ? "local" : "";
  if (row.id % 4 == 0) row.stoppable = {{"a worker", "i1"}, {"w;2", "h-i2"}};
  row.made = wall_from_ms(1'700'000'000'000 + row.id);
  row.state = static_cast<model::HookState>(dice_.below(5));
  row.attempts = static_cast<std::int32_t>(dice_.below(4));
  if (row.state != model::HookState::Open) row.settled = moment();
  if (dice_.chance(30)) row.last_error = "status 503";
  scalings_ = std::max(scalings_, row.id);
  changes.scaling.push_back(std::move(row));
  if (!dice_.chance(10)) return;
  changes.forget_scaling = {wall_from_ms(1'700'000'000'000 + dice_.below(scalings_ + 1)), {}};
  if (dice_.chance(50)) changes.forget_scaling->except = {1 + dice_.below(scalings_ + 1), 2};
}

}  // namespace rota::agreement
