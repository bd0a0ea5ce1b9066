// Notifications that are not delivered yet, by receiver; of each receiver at most one is on its way.
// Bounded: what is more than a receiver's share is counted in one that stands for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/model/notification.h"

namespace rota::master::core {

/// Thread: the Scheduler's.
class NotificationTable {
 public:
  struct Line {
    std::set<std::pair<MonoTime, std::int64_t>>
        due;                      ///< when each may be tried next; not the one on its way
    std::int64_t sent = 0;        ///< on its way; 0: none
    std::int64_t sent_count = 0;  ///< what its `count` was then
    std::int64_t combined = 0;    ///< the open one that stands for others; 0: none
    std::size_t open = 0;         ///< all, but `combined`
  };

  void set_receivers(std::vector<model::ReceiverRule> receivers) { receivers_ = std::move(receivers); }
  const std::vector<model::ReceiverRule>& receivers() const { return receivers_; }
  const model::ReceiverRule* receiver(const std::string& name) const;

  /// So many of it are open; one more may stand for those that were too many.
  bool is_full(const std::string& receiver, std::int32_t most) const;
  /// Its open one that stands for others; null: none.
  model::Notification* combined(const std::string& receiver);
  /// May be tried from that moment on.
  model::Notification& add(model::Notification row, MonoTime due);
  model::Notification* find(std::int64_t id);
  const std::map<std::int64_t, model::Notification>& all() const { return rows_; }
  const std::map<std::string, Line>& lines() const { return lines_; }
  const Line* line_of(const std::string& receiver) const;

  /// The next that may be tried, when none of its receiver's is on its way. It is from now on.
  const model::Notification* send_due(MonoTime now);
  /// The try has ended; it may be tried again from that moment on.
  void try_again(model::Notification& row, MonoTime due);
  /// It is settled.
  void erase(std::int64_t id);
  /// When something may be tried.
  std::optional<MonoTime> wake() const;

  /// True once in a Term.
  bool begin() { return !std::exchange(has_begun_, true); }
  /// True now and then: at most once in that time.
  bool forget_due(MonoTime now, Millis every) {
    if (forgotten_ && now - *forgotten_ < every) return false;
    forgotten_ = now;
    return true;
  }

 private:
  bool has_begun_ = false;
  std::optional<MonoTime> forgotten_;
  std::vector<model::ReceiverRule> receivers_;
  std::map<std::int64_t, model::Notification> rows_;
  std::map<std::string, Line> lines_;
};

}  // namespace rota::master::core
