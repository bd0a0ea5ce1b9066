#include "master/core/notify/notify_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/utf8.h"
#include "master/core/notify/try_again.h"

namespace rota::master::core {

using model::Delivery;
using model::Happening;
using model::Notification;
using model::RunState;

namespace {

constexpr Millis kForgetEvery = std::chrono::hours{1};

void store(Context& ctx, const Notification& row) { ctx.out.changes.notifications.push_back(row); }

Notification row_of(Context& ctx, const std::string& receiver, Happening what) {
  Notification row;
  row.id = ctx.state.new_notification_id();
  row.receiver = receiver;
  row.what = what;
  row.made = ctx.at;
  return row;
}

void add(Context& ctx, Notification row) {
  ++ctx.state.counters().notifications;
  store(ctx, ctx.state.notifications().add(std::move(row), ctx.now.mono));
}

/// There is no room for one more: it is counted.
void combine(Context& ctx, const std::string& receiver, std::int64_t count) {
  ctx.state.counters().notifications_combined += count;
  if (Notification* standing = ctx.state.notifications().combined(receiver)) {
    standing->count += count;
    return store(ctx, *standing);
  }
  Notification row = row_of(ctx, receiver, Happening::Combined);
  row.count = count;
  row.text = "more happened than is told one by one; see: rota run list, rota job list";
  add(ctx, std::move(row));
}

void tell_receiver(Context& ctx, const std::string& receiver, Notification row) {
  if (ctx.state.notifications().is_full(receiver, ctx.state.options().notify_open)) {
    return combine(ctx, receiver, 1);
  }
  row.id = ctx.state.new_notification_id();
  row.receiver = receiver;
  add(ctx, std::move(row));
}

Happening happening_of(RunState state) {
  switch (state) {
    case RunState::Failed:
    case RunState::TimedOut:
    case RunState::KillFailed:
      return Happening::Failed;
    case RunState::Lost:
      return Happening::Lost;
    default:
      return Happening::Test;
  }
}

std::string end_text(const RunEntry& run) {
  const auto& progress = run.progress();
  std::string text =
      fmt::format("run {} ended as {} ({}) after {} attempt{}", run.id().value, name_of(progress.state),
                  name_of(progress.reason), progress.attempt, progress.attempt == 1 ? "" : "s");
  const model::Outcome& outcome = progress.outcome();
  if (outcome.exit_status >= 0) text += fmt::format(", exit status {}", outcome.exit_status);
  if (!progress.worker().id.empty()) text += " on worker " + progress.worker().id;
  const std::string& more = outcome.message.empty() ? progress.detail() : outcome.message;
  if (!more.empty()) text += ": " + more;
  return text;
}

/// It was accepted. What has been counted in it meanwhile is another one.
void settle_delivered(Context& ctx, Notification& row, std::int64_t sent_count) {
  const std::int64_t later = row.count - sent_count;
  const std::string receiver = row.receiver;
  row.count = sent_count;
  row.state = Delivery::Delivered;
  row.settled = ctx.at;
  row.last_error.clear();
  ++ctx.state.counters().notifications_delivered;
  store(ctx, row);
  ctx.state.notifications().erase(row.id);
  if (later > 0) combine(ctx, receiver, later);
}

void give_up(Context& ctx, Notification& row, std::string why) {
  row.state = Delivery::GivenUp;
  row.settled = ctx.at;
  row.last_error = clean_text(why, model::kMaxNotificationError);
  ++ctx.state.counters().notifications_given_up;
  store(ctx, row);
  ctx.state.notifications().erase(row.id);
}

/// Deletion by age waits while the clock is in doubt.
void forget_old(Context& ctx) {
  if (ctx.state.ticks().are_held() || !ctx.state.notifications().forget_due(ctx.now.mono, kForgetEvery))
    return;
  ctx.out.changes.forget_notifications = ctx.at - ctx.state.options().keep_notifications;
}

}  // namespace

void notify_of_job(Context& ctx, Happening what, const JobEntry& job, Told told) {
  const NotificationTable& table = ctx.state.notifications();
  if (table.receivers().empty()) return;
  Notification row;
  row.what = what;
  row.job = job.row.id;
  row.space = job.row.space();
  row.job_name = job.row.name;
  row.run = told.run;
  row.moment = told.moment;
  row.text = clean_text(told.text, model::kMaxNotificationText);
  row.made = ctx.at;
  for (const model::ReceiverRule& receiver : table.receivers()) {
    if (model::is_told(receiver, job.rules().notify, what)) tell_receiver(ctx, receiver.name, row);
  }
}

void notify_of_end(Context& ctx, const RunEntry& run) {
  const Happening what = happening_of(run.progress().state);
  if (what == Happening::Test || ctx.state.notifications().receivers().empty()) return;
  notify_of_job(ctx, what, run.job(), {run.id(), run.row().tick, end_text(run)});
}

void notify_of_gap(Context& ctx, const JobEntry& job, const model::Gap& gap) {
  if (!model::is_missed(gap.reason) || ctx.state.notifications().receivers().empty()) return;
  notify_of_job(ctx, Happening::Missed, job,
                {{},
                 gap.from,
                 fmt::format("ticks did not fire ({}); rota job why {} tells more", name_of(gap.reason),
                             job.row.name)});
}

void notify_of_cluster(Context& ctx, Happening what, const std::string& worker, std::string text) {
  const NotificationTable& table = ctx.state.notifications();
  Notification row;
  row.what = what;
  row.worker = worker;
  row.text = clean_text(text, model::kMaxNotificationText);
  row.made = ctx.at;
  for (const model::ReceiverRule& receiver : table.receivers()) {
    if (receiver.wants.contains(what)) tell_receiver(ctx, receiver.name, row);
  }
}

std::string unknown_receiver(const State& state, const model::JobRules& rules) {
  for (const std::string& name : rules.notify) {
    if (name != model::kNobody && state.notifications().receiver(name) == nullptr) return name;
  }
  return {};
}

void handle_notification_tried(Context& ctx, const NotificationTried& event) {
  NotificationTable& table = ctx.state.notifications();
  Notification* row = table.find(event.id);
  const NotificationTable::Line* line = row == nullptr ? nullptr : table.line_of(row->receiver);
  if (line == nullptr || line->sent != event.id) return;  // a repeat
  ++row->attempts;
  if (event.accepted) return settle_delivered(ctx, *row, line->sent_count);
  ++ctx.state.counters().notifications_refused;
  if (row->attempts >= ctx.state.options().notify_tries) return give_up(ctx, *row, event.error);
  row->last_error = clean_text(event.error, model::kMaxNotificationError);
  store(ctx, *row);
  table.try_again(*row, ctx.now.mono + pause_before_try(row->attempts));
}

void send_notifications(Context& ctx) {
  while (const Notification* row = ctx.state.notifications().send_due(ctx.now.mono)) {
    ctx.out.notifications.push_back(*row);
  }
}

void begin_to_notify(Context& ctx) {
  NotificationTable& table = ctx.state.notifications();
  if (!table.begin()) {
    if (!table.receivers().empty()) forget_old(ctx);
    return;
  }
  for (const model::ReceiverRule& rule : table.receivers()) {
    ctx.out.changes.receivers.push_back({ctx.state.epoch(), rule});
  }
  std::vector<std::int64_t> homeless;
  for (const auto& [id, row] : table.all()) {
    if (table.receiver(row.receiver) == nullptr) homeless.push_back(id);
  }
  for (const std::int64_t id : homeless)
    give_up(ctx, *table.find(id), "the leader's settings name no such receiver");
  const std::string& hold = ctx.state.ticks().hold();
  if (!hold.empty()) notify_of_cluster(ctx, Happening::TicksHeld, "", "ticks are held: " + hold);
}

void handle_hold_ticks(Context& ctx, const HoldTicks& event) {
  const bool were_held = ctx.state.ticks().are_held();
  ctx.state.ticks().set_hold(event.why);
  if (were_held || event.why.empty()) return;
  notify_of_cluster(ctx, Happening::TicksHeld, "", "ticks are held: " + event.why);
}

std::optional<MonoTime> notify_wake(const State& state) { return state.notifications().wake(); }

}  // namespace rota::master::core
