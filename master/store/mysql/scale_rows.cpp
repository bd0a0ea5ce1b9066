#include "master/store/mysql/scale_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "master/store/mysql/multi_row.h"

namespace rota::master::store {
namespace {

constexpr int kForgottenChangesAtOnce = 2000;

const MultiRow kUpsertScaling{
    "INSERT INTO scale_change (id, pool, wanted_before, wanted_after, present, leaving, reason, hook, "
    "stoppable, made_ms, state, attempts, settled_ms, last_error) VALUES",
    14,
    "ON DUPLICATE KEY UPDATE state = VALUES(state), attempts = VALUES(attempts), settled_ms = "
    "VALUES(settled_ms), last_error = VALUES(last_error)"};

std::string text_of(const std::vector<model::WorkerKey>& workers) {
  std::string out;
  for (const model::WorkerKey& key : workers) {
    out += fmt::format("{}{} {}", out.empty() ? "" : "\n", key.id, key.incarnation);
  }
  return out;
}

std::vector<model::WorkerKey> workers_in(const std::string& text) {
  std::vector<model::WorkerKey> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (const auto blank = line.rfind(' '); blank != std::string::npos) {
      out.push_back({line.substr(0, blank), line.substr(blank + 1)});
    }
    at = end + 1;
  }
  return out;
}

}  // namespace

void write_scaling(BatchText& batch, const core::Changes& changes) {
  const auto bind = [&rows = changes.scaling](Binder& binder, std::size_t i) {
    const model::ScaleChange& row = rows[i];
    binder.integer(row.id).text(row.pool).integer(row.before).integer(row.after).integer(row.present);
    binder.integer(row.leaving);
    binder.text(name_of(row.reason)).text(row.hook).text(text_of(row.stoppable)).time(row.made);
    binder.text(name_of(row.state)).integer(row.attempts).time(row.settled);
    binder.prose(row.last_error, model::kMaxHookError);
  };
  batch.add_rows(kUpsertScaling, {changes.scaling.size(), bind});
  if (!changes.forget_scaling) return;
  const auto& except = changes.forget_scaling->except;
  std::string others;
  if (!except.empty()) others = fmt::format("AND id NOT IN ({}) ", fmt::join(except, ", "));
  batch.add(fmt::format("DELETE FROM scale_change WHERE state <> 'open' AND made_ms < {} {}ORDER BY id "
                        "LIMIT {}",
                        to_ms(changes.forget_scaling->before), others, kForgottenChangesAtOnce));
}

/// A newer master may know more reasons and states: its row is shown, and not called again by this one.
Result<model::ScaleChange> read_scale_change(Row& row) {
  model::ScaleChange out;
  out.id = row.integer();
  out.pool = row.text();
  out.before = row.integer();
  out.after = row.integer();
  out.present = row.integer();
  out.leaving = row.integer();
  out.reason = model::scale_reason_named(row.text()).value_or(model::ScaleReason::Unknown);
  out.hook = row.text();
  out.stoppable = workers_in(row.text());
  out.made = row.time();
  out.state = model::hook_state_named(row.text()).value_or(model::HookState::Replaced);
  out.attempts = static_cast<std::int32_t>(row.integer());
  out.settled = row.maybe_time();
  out.last_error = row.text();
  return out;
}

}  // namespace rota::master::store
