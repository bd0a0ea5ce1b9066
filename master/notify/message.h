// What a receiver gets: one JSON object, always valid UTF-8.
#pragma once

#include <string>

#include "common/model/notification.h"

namespace rota::master::notify {

/// Who sends it.
struct Sender {
  std::string cluster;
  std::string master;
};

/// The same id in each try; `attempt` counts them. `id`: of one that is not stored; empty: the row's.
std::string message_of(const model::Notification& row, const Sender& sender, const std::string& id = {});

}  // namespace rota::master::notify
