// Notes what workers do while this master leads: a look every few seconds, rows each minute, beside the loop
// and its transactions. A write that fails loses a minute of figures and nothing else. Rows are kept for 24
// hours, ended lives of workers for `keep_lives`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/base/time.h"
#include "master/core/snapshot.h"
#include "master/core/workers/node_facts.h"
#include "master/store/node_store.h"
#include "master/store/reader.h"
#include "master/upkeep/leader_rounds.h"
#include "master/upkeep/node_book.h"

namespace rota::master {

struct NodeHistoryOptions {
  Millis look_every{5000};
  Millis keep_minutes = std::chrono::hours{24};
  Millis keep_lives = std::chrono::hours{24 * 90};  ///< 0: forever
  Millis lives_every = std::chrono::hours{1};
  std::int32_t lives_at_once = 500;
  std::int32_t reserve_percent = 30;
};

struct NodeHistoryParts {
  store::NodeStore& store;
  store::Reader& reader;
  std::function<std::shared_ptr<const core::Snapshot>()> snapshot;  ///< null: it does not lead
  std::function<bool()> holds;         ///< the clock can not be trusted now: nothing is deleted
  std::function<void(const core::PoolShortage&)> tell_shortage;     ///< one that is new in this Term
};

/// Owner: Services. One thread of its own. All references outlive it.
class NodeHistory {
 public:
  NodeHistory(NodeHistoryParts parts, const Clock& clock, NodeHistoryOptions options);

  void start() { rounds_.start(); }
  void stop() { rounds_.stop(); }
  /// Any thread; never waits.
  void set_leading(bool leads) { rounds_.set_leading(leads); }
  /// Any thread. Null before the first look of a Term.
  std::shared_ptr<const core::NodeFacts> facts() const;

  /// One look, with all that follows from it. The thread's, or a test's.
  Millis round();
  void begin();

 private:
  void store_minutes(const store::MinuteRows& rows);
  void delete_old(WallTime now);
  void judge_capacity(WallTime now);
  void judge_pool(std::vector<model::PoolMinute> rows, WallTime now,
                  std::map<std::string, core::PoolShortage>& shortages);
  void publish();

  const NodeHistoryParts parts_;
  const Clock& clock_;
  const NodeHistoryOptions options_;
  NodeBook book_;
  bool is_trouble_told_ = false;
  std::map<std::string, core::PoolShortage> shortages_;  ///< by pool
  std::optional<MonoTime> lives_deleted_;
  mutable std::mutex mutex_;
  std::shared_ptr<const core::NodeFacts> facts_;
  LeaderRounds rounds_;                ///< the last: it uses all others
};

}  // namespace rota::master
