#include "master/store/mysql/alike_updates.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "master/store/mysql/multi_row.h"
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

std::string statement_for(std::size_t count) {
  std::string sql = kUpdateRunsAlike + "(";
  for (std::size_t i = 0; i < count; ++i) sql += i == 0 ? "?" : ",?";
  return sql + ")";
}

Result<void> write_group(Connection& connection, const Updates& updates) {
  std::size_t changed = 0;
  for (std::size_t first = 0; first < updates.size();) {
    const std::size_t size = next_chunk(first, updates.size() - first, {});
    auto done = connection.change(statement_for(size), [&](Binder& binder) {
      bind_progress_alike(binder, updates[first]->progress);
      for (std::size_t i = 0; i < size; ++i) binder.integer(updates[first + i]->id.value);
    });
    if (!done) return fail(done.error());
    changed += static_cast<std::size_t>(*done);
    first += size;
  }
  // Less means that some stood already, or are not there.
  return changed == updates.size() ? Result<void>() : check_all_there(connection, updates);
}

}  // namespace

Result<void> write_alike(Connection& connection, Updates& updates) {
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
    } else if (auto written = write_group(connection, Updates(first, last)); !written) {
      return written;
    }
    first = last;
  }
  updates = std::move(others);
  return {};
}

}  // namespace rota::master::store
