#include "notify_judge.h"

#include <algorithm>

namespace rota::sim {

using model::Delivery;
using model::Happening;
using model::Notification;
using model::RunState;

namespace {

std::optional<Happening> wanted_of(RunState state) {
  if (state == RunState::Lost) return Happening::Lost;
  const bool is_failed =
      state == RunState::Failed || state == RunState::TimedOut || state == RunState::KillFailed;
  return is_failed ? std::optional(Happening::Failed) : std::nullopt;
}

std::vector<std::string> named_by(const SimTables& tables, const model::Run& run) {
  for (JobVersion version = run.version; version > 0; --version) {
    const auto row = tables.versions.find({run.job, version});
    if (row != tables.versions.end() && row->second.definition) return row->second.definition->rules.notify;
  }
  return {};
}

}  // namespace

std::string NotifyJudge::judge_end(const SimTables& tables, const master::core::Changes& changes,
                                   const model::Run& run) {
  const auto what = wanted_of(run.progress.state);
  for (const auto& [key, row_of_receiver] : tables.receivers) {
    if (key.first != run.progress.epoch) continue;
    const model::ReceiverRule& rule = row_of_receiver.rule;
    const auto is_of = [&](const Notification& row) {
      const bool is_end = row.what == Happening::Failed || row.what == Happening::Lost;
      return is_end && row.run == run.id && row.receiver == rule.name;
    };
    const auto stands_for = [&](const Notification& row) {
      return row.what == Happening::Combined && row.receiver == rule.name;
    };
    const auto told = std::ranges::find_if(changes.notifications, is_of);
    const bool is_wanted = what && model::is_told(rule, named_by(tables, run), *what);
    const bool is_told = told != changes.notifications.end();
    if (is_wanted && !is_told && !std::ranges::any_of(changes.notifications, stands_for)) {
      return "P44: receiver " + rule.name + " is not told how run " +
             std::to_string(run.id.value) + " ended";
    }
    if (is_wanted && is_told) marks_.hit("failure_told");
    if (is_told && what != told->what) {
      return "P44: receiver " + rule.name + " is told another end of run " +
             std::to_string(run.id.value);
    }
  }
  return "";
}

std::string NotifyJudge::judge_batch(const SimTables& tables, const master::core::Changes& changes) {
  for (const Notification& row : changes.notifications) {
    const bool is_new = seen_.insert(row.id).second;
    const bool is_of_run = row.what == Happening::Failed || row.what == Happening::Lost;
    if (is_new && is_of_run) {
      const auto run = tables.runs.find(row.run);
      if (run == tables.runs.end() || wanted_of(run->second.progress.state) != row.what) {
        return "P44: a notification of run " + std::to_string(row.run.value) + ", which did not end so";
      }
    }
    if (row.what == Happening::SelfPaused) marks_.hit("self_pause_told");
    if (row.what == Happening::Missed) marks_.hit("missed_tick_told");
    if (row.what == Happening::TicksHeld) marks_.hit("hold_told");
    if (row.what == Happening::WorkerOffline) marks_.hit("worker_offline_told");
    if (row.attempts > 1) marks_.hit("notification_tried_again");
    if (row.state != Delivery::Delivered) continue;
    marks_.hit("notification_delivered");
    if (!heard_.contains(row.id))
      return "P44: notification " + std::to_string(row.id) + " counts as delivered, unheard";
  }
  return "";
}

std::string NotifyJudge::judge_sent(const SimTables& tables, const Notification& row) const {
  if (tables.notifications.contains(row.id) || seen_.contains(row.id)) return "";
  return "P44: notification " + std::to_string(row.id) + " leaves before it is stored";
}

void NotifyJudge::note_heard(std::int64_t id) {
  if (++heard_[id] > 1) marks_.hit("notification_heard_twice");
}

}  // namespace rota::sim
