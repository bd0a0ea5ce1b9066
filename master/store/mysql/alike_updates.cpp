#include "master/store/mysql/alike_updates.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "master/store/mysql/literals.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

using Updates = std::vector<const core::RunUpdate*>;

constexpr std::ptrdiff_t kWorthwhile = 8;  // rows; fewer go with the others

/// All that is written of a run's progress.
auto written_part(const core::RunUpdate* update) {
  const model::RunProgress& p = update->progress;
  return std::tie(p.state, p.reason, p.detail, p.attempt, p.worker, p.epoch, p.dispatched, p.started,
                  p.ended, p.not_before, p.cancel_asked, p.losses);
}

Result<void> check_all_there(Connection& connection, const Updates& updates) {
  std::string ids;
  for (const auto* update : updates) {
    ids += fmt::format("{}{}", ids.empty() ? "" : ",", update->id.value);
  }
  std::size_t found = 0;
  auto asked = connection.stream(
      fmt::format("SELECT COUNT(*) FROM run WHERE run_id IN ({})", ids),
      [&](Row& row) -> Result<void> {
        found = static_cast<std::size_t>(row.integer());
        return {};
      });
  if (!asked || found == updates.size()) return asked;
  return fail(ErrorCode::NotFound, fmt::format("of {} runs to update {} are in the store: {}",
                                               updates.size(), found, ids.substr(0, 200)));
}

void write_group(BatchText& batch, const Updates& updates) {
  std::vector<std::string> ids;
  ids.reserve(updates.size());
  for (const auto* update : updates) ids.push_back(std::to_string(update->id.value));
  const model::RunProgress& alike = updates.front()->progress;
  const bool is_first = is_first_dispatch(alike);
  const std::string& statement = is_first ? kFirstDispatchAlike : kUpdateRunsAlike;
  const auto head = with_literals(statement + "(", [&](Binder& binder) {
    is_first ? bind_first_dispatch(binder, alike) : bind_progress_alike(binder, alike);
  });
  batch.add_list(head, ids, ")", [&batch, updates](std::int64_t changed) {
    // Less means that some stood already, or are not there.
    if (changed == static_cast<std::int64_t>(updates.size())) return Result<void>();
    return check_all_there(batch.connection(), updates);
  });
}

/// What stands once for all runs of a group that succeeded; the first part: whether it may.
auto shared_part(const core::RunUpdate* update) {
  const model::RunProgress& p = update->progress;
  return std::tuple(has_one_start(p), p.attempt, std::tie(p.worker), p.epoch, p.outcome.exit_status);
}

}  // namespace

std::vector<AlikeSuccesses> take_alike_successes(Updates& succeeded) {
  std::stable_sort(succeeded.begin(), succeeded.end(), [](const auto* a, const auto* b) {
    return shared_part(a) < shared_part(b);
  });
  std::vector<AlikeSuccesses> groups;
  Updates others;
  for (auto first = succeeded.begin(); first != succeeded.end();) {
    const auto last = std::find_if(first, succeeded.end(), [&](const auto* update) {
      return shared_part(update) != shared_part(*first);
    });
    const model::RunProgress& alike = (*first)->progress;
    if (last - first < kWorthwhile || !has_one_start(alike)) {
      others.insert(others.end(), first, last);
    } else {
      const auto tail =
          with_literals(kSetAlikeSuccess, [&](Binder& binder) { bind_set_alike_success(binder, alike); });
      groups.push_back({tail, Updates(first, last)});
    }
    first = last;
  }
  succeeded = std::move(others);
  return groups;
}

void write_alike(BatchText& batch, Updates& updates) {
  std::stable_sort(updates.begin(), updates.end(), [](const auto* a, const auto* b) {
    return written_part(a) < written_part(b);
  });
  Updates others;
  for (auto first = updates.begin(); first != updates.end();) {
    const auto last = std::find_if(first, updates.end(), [&](const auto* update) {
      return written_part(update) != written_part(*first);
    });
    if (last - first < kWorthwhile) {
      others.insert(others.end(), first, last);
    } else {
      write_group(batch, Updates(first, last));
    }
    first = last;
  }
  updates = std::move(others);
}

}  // namespace rota::master::store
