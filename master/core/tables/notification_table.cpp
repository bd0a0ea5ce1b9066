#include "master/core/tables/notification_table.h"

#include <algorithm>

namespace rota::master::core {

using model::Happening;
using model::Notification;

const model::ReceiverRule* NotificationTable::receiver(const std::string& name) const {
  const auto found = std::ranges::find(receivers_, name, &model::ReceiverRule::name);
  return found == receivers_.end() ? nullptr : &*found;
}

const NotificationTable::Line* NotificationTable::line_of(const std::string& receiver) const {
  const auto found = lines_.find(receiver);
  return found == lines_.end() ? nullptr : &found->second;
}

bool NotificationTable::is_full(const std::string& receiver, std::int32_t most) const {
  const Line* line = line_of(receiver);
  return line != nullptr && line->open >= static_cast<std::size_t>(most);
}

Notification* NotificationTable::combined(const std::string& receiver) {
  const Line* line = line_of(receiver);
  return line == nullptr || line->combined == 0 ? nullptr : &rows_.at(line->combined);
}

Notification& NotificationTable::add(Notification row, MonoTime due) {
  Line& line = lines_[row.receiver];
  line.due.emplace(due, row.id);
  if (row.what == Happening::Combined && line.combined == 0) {
    line.combined = row.id;
  } else {
    ++line.open;
  }
  const std::int64_t id = row.id;
  return rows_.insert_or_assign(id, std::move(row)).first->second;
}

Notification* NotificationTable::find(std::int64_t id) {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

const Notification* NotificationTable::send_due(MonoTime now) {
  for (auto& [name, line] : lines_) {
    if (line.sent != 0 || line.due.empty() || line.due.begin()->first > now) continue;
    line.sent = line.due.begin()->second;
    line.due.erase(line.due.begin());
    const Notification& row = rows_.at(line.sent);
    line.sent_count = row.count;
    return &row;
  }
  return nullptr;
}

void NotificationTable::try_again(Notification& row, MonoTime due) {
  Line& line = lines_.at(row.receiver);
  if (line.sent == row.id) line.sent = 0;
  line.due.emplace(due, row.id);
}

void NotificationTable::erase(std::int64_t id) {
  const auto found = rows_.find(id);
  if (found == rows_.end()) return;
  const auto line = lines_.find(found->second.receiver);
  if (line->second.sent == id) line->second.sent = 0;
  if (line->second.combined == id) {
    line->second.combined = 0;
  } else {
    --line->second.open;
  }
  std::erase_if(line->second.due, [id](const auto& each) { return each.second == id; });
  if (line->second.open == 0 && line->second.combined == 0) lines_.erase(line);
  rows_.erase(found);
}

std::optional<MonoTime> NotificationTable::wake() const {
  std::optional<MonoTime> first;
  for (const auto& [name, line] : lines_) {
    if (line.sent != 0 || line.due.empty()) continue;
    const MonoTime due = line.due.begin()->first;
    first = first ? std::min(*first, due) : due;
  }
  return first;
}

}  // namespace rota::master::core
