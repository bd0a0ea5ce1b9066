#include "master/store/mysql/alike_updates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "master/store/mysql/kept_runs.h"
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

std::vector<std::string> ids_of(const Updates& updates) {
  std::vector<std::string> ids;
  ids.reserve(updates.size());
  for (const auto* update : updates) ids.push_back(std::to_string(update->id.value));
  return ids;
}

Result<void> check_all_there(Connection& connection, const Updates& updates) {
  const std::string ids = fmt::format("{}", fmt::join(ids_of(updates), ","));
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

std::string head_of(const Updates& updates) {
  const auto bind = [&](Binder& binder) { bind_progress_alike(binder, updates.front()->progress); };
  return with_literals(kUpdateRunsAlike + "(", bind);
}

/// Runs that are not in run_open: into their own rows, if they have any, and into run_open.
Result<void> write_in_place(Connection& connection, const Updates& updates) {
  const std::string ids = fmt::format("{}", fmt::join(ids_of(updates), ","));
  if (auto done = connection.run_text(head_of(updates) + ids + ")"); !done) return fail(done.error());
  if (auto there = check_all_there(connection, updates); !there) return there;
  auto listed = connection.run_text(
      fmt::format("INSERT INTO run_open (run_id) SELECT run_id FROM run WHERE run_id IN ({}) "
                  "ON DUPLICATE KEY UPDATE run_id = run_open.run_id", ids));
  return listed ? Result<void>() : fail(listed.error());
}

Result<void> write_those_unlisted(Connection& connection, Updates updates) {
  std::set<std::int64_t> listed;
  auto asked = connection.stream(
      fmt::format("SELECT run_id FROM run_open WHERE run_id IN ({})", fmt::join(ids_of(updates), ",")),
      [&](Row& row) -> Result<void> {
        listed.insert(row.integer());
        return {};
      });
  if (!asked) return asked;
  std::erase_if(updates, [&](const auto* update) { return listed.contains(update->id.value); });
  return updates.empty() ? Result<void>() : write_in_place(connection, updates);
}

/// Less rows changed than there are updates: some stood already, or are not there.
bool all_changed(std::int64_t changed, const Updates& updates) {
  return changed == static_cast<std::int64_t>(updates.size());
}

void write_dispatch_apart(BatchText& batch, const Updates& updates) {
  const auto head = with_literals(kDispatchApart + "(", [&](Binder& binder) {
    bind_first_dispatch(binder, updates.front()->progress);
  });
  batch.add_list(head, ids_of(updates), ")", [&batch, updates](std::int64_t changed) {
    if (all_changed(changed, updates)) return Result<void>();
    return write_those_unlisted(batch.connection(), updates);
  });
}

void write_group(BatchText& batch, const Updates& updates) {
  if (is_first_dispatch(updates.front()->progress)) return write_dispatch_apart(batch, updates);
  batch.add_list(head_of(updates), ids_of(updates), ")", [&batch, updates](std::int64_t changed) {
    if (all_changed(changed, updates)) return Result<void>();
    return check_all_there(batch.connection(), updates);
  });
  forget_dispatch_apart(batch, updates);
}

/// What stands once for all runs of a group that succeeded; the first part: whether it may.
auto shared_part(const core::RunUpdate* update) {
  const model::RunProgress& p = update->progress;
  return std::tuple(has_one_start(p), p.attempt, std::tie(p.worker), p.epoch, p.outcome.exit_status);
}

/// The same, with what they cost.
auto shared_with_costs(const core::RunUpdate* update) {
  const model::RunProgress& p = update->progress;
  const model::Outcome& o = p.outcome;
  return std::tuple(has_one_start(p) && has_one_end(p), p.attempt, std::tie(p.worker), p.epoch, o.exit_status,
                    o.stdout_bytes, o.stderr_bytes, o.cpu_us, o.peak_memory_bytes, o.read_bytes,
                    o.written_bytes);
}

/// Gives `group` each stretch of updates with the same key, and keeps those that it does not take.
template <typename Key, typename Group>
void part(Updates& updates, const Key& key, const Group& group) {
  std::stable_sort(updates.begin(), updates.end(),
                   [&](const auto* a, const auto* b) { return key(a) < key(b); });
  Updates others;
  for (auto first = updates.begin(); first != updates.end();) {
    const auto last =
        std::find_if(first, updates.end(), [&](const auto* update) { return key(update) != key(*first); });
    if (last - first < kWorthwhile || !group(Updates(first, last))) others.insert(others.end(), first, last);
    first = last;
  }
  updates = std::move(others);
}

template <typename Key>
void take_form(Updates& succeeded, const AlikeForm& form, const Key& key,
               std::vector<AlikeSuccesses>& taken) {
  part(succeeded, key, [&](Updates group) {
    if (!std::get<0>(key(group.front()))) return false;
    const model::RunProgress& alike = group.front()->progress;
    auto tail = with_literals(form.tail, [&](Binder& binder) { form.bind_tail(binder, alike); });
    taken.push_back({&form, std::move(tail), std::move(group)});
    return true;
  });
}

}  // namespace

std::vector<AlikeSuccesses> take_alike_successes(Updates& succeeded) {
  std::vector<AlikeSuccesses> groups;
  take_form(succeeded, kAlikeCosts, shared_with_costs, groups);
  take_form(succeeded, kAlikeSuccesses, shared_part, groups);
  return groups;
}

void write_alike(BatchText& batch, Updates& updates) {
  part(updates, written_part, [&batch](const Updates& group) {
    write_group(batch, group);
    return true;
  });
}

}  // namespace rota::master::store
