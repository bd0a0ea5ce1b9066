#include "master/store/mysql/notification_rows.h"

#include <fmt/format.h>

#include <string>

#include "master/store/mysql/multi_row.h"

namespace rota::master::store {
namespace {

constexpr int kForgottenAtOnce = 2000;

const MultiRow kUpsertNotifications{
    "INSERT INTO notification (id, receiver, what, job_id, namespace, job_name, run_id, worker, moment_ms, "
    "text, "
    "stands_for, made_ms, state, attempts, settled_ms, last_error) VALUES",
    16,
    "ON DUPLICATE KEY UPDATE stands_for = VALUES(stands_for), state = VALUES(state), attempts = "
    "VALUES(attempts), "
    "settled_ms = VALUES(settled_ms), last_error = VALUES(last_error)"};

const MultiRow kInsertReceivers{"INSERT INTO receiver (epoch, name, wants, is_default) VALUES", 4,
                                "ON DUPLICATE KEY UPDATE name = VALUES(name)"};

void bind_notification(Binder& binder, const model::Notification& row) {
  binder.integer(row.id)
      .text(row.receiver)
      .text(name_of(row.what))
      .integer(row.job.value)
      .text(row.space)
      .text(row.job_name)
      .integer(row.run.value)
      .text(row.worker)
      .time(row.moment)
      .prose(row.text, model::kMaxNotificationText)
      .integer(row.count)
      .time(row.made)
      .text(name_of(row.state))
      .integer(row.attempts)
      .time(row.settled)
      .prose(row.last_error, model::kMaxNotificationError);
}

std::string text_of(const std::set<model::Happening>& wants) {
  std::string out;
  for (const model::Happening what : wants) out += (out.empty() ? "" : ",") + std::string(name_of(what));
  return out;
}

Error unreadable(std::string_view what, const std::string& text) {
  return {ErrorCode::Unsupported,
          fmt::format("a notification has the {} '{}', which this program does not know", what, text)};
}

}  // namespace

void write_notifications(BatchText& batch, const core::Changes& changes) {
  const auto& rows = changes.notifications;
  batch.add_rows(kUpsertNotifications,
                 {rows.size(), [&](Binder& binder, std::size_t i) { bind_notification(binder, rows[i]); }});
  batch.add_rows(kInsertReceivers, {changes.receivers.size(), [&](Binder& binder, std::size_t i) {
                                      const model::ReceiverRow& row = changes.receivers[i];
                                      binder.integer(row.epoch.value)
                                          .text(row.rule.name)
                                          .text(text_of(row.rule.wants))
                                          .integer(row.rule.is_default ? 1 : 0);
                                    }});
  if (!changes.forget_notifications) return;
  batch.add(
      fmt::format("DELETE FROM notification WHERE state IN ('delivered', 'given_up') AND made_ms < {} "
                  "ORDER BY state, id LIMIT {}",
                  to_ms(*changes.forget_notifications), kForgottenAtOnce));
}

Result<model::Notification> read_notification(Row& row) {
  model::Notification out;
  out.id = row.integer();
  out.receiver = row.text();
  const std::string what = row.text();
  // A newer master may have made it: it is sent all the same, with its text.
  out.what = model::happening_named(what).value_or(model::Happening::Combined);
  out.job = JobId{row.integer()};
  out.space = row.text();
  out.job_name = row.text();
  out.run = RunId{row.integer()};
  out.worker = row.text();
  out.moment = row.maybe_time();
  out.text = row.text();
  out.count = row.integer();
  out.made = row.time();
  const std::string state = row.text();
  const auto delivery = model::delivery_named(state);
  if (!delivery) return fail(unreadable("state", state));
  out.state = *delivery;
  out.attempts = static_cast<std::int32_t>(row.integer());
  out.settled = row.maybe_time();
  out.last_error = row.text();
  return out;
}

/// A newer master may know more happenings: this one does not look for them.
Result<model::ReceiverRow> read_receiver(Row& row) {
  model::ReceiverRow out;
  out.epoch = Epoch{row.integer()};
  out.rule.name = row.text();
  const std::string wants = row.text();
  for (std::size_t at = 0; at < wants.size();) {
    const std::size_t end = std::min(wants.find(',', at), wants.size());
    if (const auto what = model::happening_named(wants.substr(at, end - at))) out.rule.wants.insert(*what);
    at = end + 1;
  }
  out.rule.is_default = row.integer() != 0;
  return out;
}

}  // namespace rota::master::store
