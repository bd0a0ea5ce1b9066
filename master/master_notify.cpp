// What a master tells receivers of notifications, and the hooks of pools.
#include <fmt/format.h>

#include "master/master.h"

namespace rota::master {

/// A try that ends in a later Term of this master's counts there, if that has sent it too.
void Master::send_notification(const model::Notification& row) {
  services_->notifier().send(row, [this](std::int64_t id, const std::string& error) {
    (void)post(core::NotificationTried{id, error.empty(), error});
  });
}

/// The same of a hook.
void Master::call_hook(const model::ScaleChange& row) {
  services_->hooks().call(row, [this, pool = row.pool, id = row.id](const std::string& error) {
    (void)post(core::HookCalled{pool, id, error.empty(), error});
  });
}

/// As far as this master knows: it may be the one that is cut off, and then it says so all the same.
void Master::tell_no_leader() {
  const MonoTime now = BootClock::now();
  no_leader_.set_after(services_->settings().values().no_leader_after);
  const auto lasts = no_leader_.look(now, leader().has_value());
  if (!lasts) return;
  std::string text =
      fmt::format("master {} has known of no leader for {} s", options_.id, lasts->count() / 1000);
  if (const std::string why = office_state_.why_nobody_leads(); !why.empty()) text += ": " + why;
  const WallTime wall = clock_.now().wall;
  const std::string id = fmt::format("no_leader-{}-{}", options_.id, to_ms(wall));
  services_->notifier().tell(model::Happening::NoLeader, id, text, wall);
}

}  // namespace rota::master
