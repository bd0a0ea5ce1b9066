// Notifications and receivers as rows.
#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/model/notification.h"
#include "master/core/effect.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Of the table under the alias n, for read_notification.
inline constexpr std::string_view kNotificationColumns =
    "n.id, n.receiver, n.what, n.job_id, n.namespace, n.job_name, n.run_id, n.worker, n.moment_ms, n.text, "
    "n.stands_for, n.made_ms, n.state, n.attempts, n.settled_ms, n.last_error";
/// Of the table under the alias r, for read_receiver.
inline constexpr std::string_view kReceiverColumns = "r.epoch, r.name, r.wants, r.is_default";

/// All that a batch says of notifications.
void write_notifications(BatchText& batch, const core::Changes& changes);

Result<model::Notification> read_notification(Row& row);
Result<model::ReceiverRow> read_receiver(Row& row);

}  // namespace rota::master::store
