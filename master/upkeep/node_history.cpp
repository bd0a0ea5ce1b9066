#include "master/upkeep/node_history.h"

#include <utility>

#include "common/base/log.h"
#include "master/core/workers/capacity_rules.h"

namespace rota::master {
namespace {

constexpr Millis kLookSoon{500};
/// Read back to judge the last minutes.
constexpr Millis kJudged = (core::kMinutesShort + 3) * model::kMinute;

}  // namespace

NodeHistory::NodeHistory(NodeHistoryParts parts, const Clock& clock, NodeHistoryOptions options)
    : parts_(std::move(parts)),
      clock_(clock),
      options_(options),
      rounds_({[this] { begin(); }, [this] { return round(); }}, kLookSoon) {}

std::shared_ptr<const core::NodeFacts> NodeHistory::facts() const {
  std::scoped_lock lock(mutex_);
  return facts_;
}

void NodeHistory::begin() {
  book_.begin(clock_.wall());
  shortages_.clear();
  std::scoped_lock lock(mutex_);
  facts_ = nullptr;
}

Millis NodeHistory::round() {
  const auto snapshot = parts_.snapshot();
  if (!snapshot) return kLookSoon;
  const WallTime now = clock_.wall();
  if (!book_.knows_earlier()) {
    auto work = parts_.store.work_since(day_of(now), snapshot->epoch);
    if (work) book_.add_earlier(std::move(*work));
  }
  if (const auto rows = book_.look(*snapshot, now)) {
    store_minutes(*rows);
    judge_capacity(now);
    if (!parts_.holds()) delete_old(now);
  }
  publish();
  return options_.look_every;
}

void NodeHistory::store_minutes(const store::MinuteRows& rows) {
  const auto kept = parts_.store.keep_minutes(rows);
  if (kept && book_.unnoted() == 0) {
    is_trouble_told_ = false;
    return;
  }
  if (std::exchange(is_trouble_told_, true)) return;
  if (!kept) log_warn("nodes", "a minute of figures was lost", {{"why", kept.error().message}});
  if (book_.unnoted() == 0) return;
  log_warn("nodes", "there are more workers than are noted", {{"not", book_.unnoted()}});
}

void NodeHistory::delete_old(WallTime now) {
  const auto minutes = parts_.store.erase_minutes(minute_of(now) - options_.keep_minutes);
  if (!minutes) log_warn("nodes", "old minutes were not deleted", {{"why", minutes.error().message}});
  const bool is_due = !lives_deleted_ || clock_.mono() - *lives_deleted_ >= options_.lives_every;
  if (!is_due || options_.keep_lives == Millis{0}) return;
  const auto lives = parts_.store.erase_lives(now - options_.keep_lives, options_.lives_at_once);
  if (!lives) return log_warn("nodes", "old lives were not deleted", {{"why", lives.error().message}});
  if (*lives > 0) log_info("nodes", "old lives of workers are deleted", {{"lives", *lives}});
  if (*lives < options_.lives_at_once) lives_deleted_ = clock_.mono();
}

void NodeHistory::judge_pool(std::vector<model::PoolMinute> rows, WallTime now,
                             std::map<std::string, core::PoolShortage>& shortages) {
  const auto minutes = core::whole_minutes(std::move(rows));
  const auto since = core::short_since(minutes, options_.reserve_percent, now);
  if (!since) return;
  const std::string& pool = minutes.back().pool;
  const core::PoolCapacity capacity = core::capacity_of(minutes, options_.reserve_percent);
  core::PoolShortage shortage{pool, *since, core::shortage_words(capacity, options_.reserve_percent)};
  const auto known = shortages_.find(pool);
  if (known != shortages_.end()) {
    shortage.since = std::min(shortage.since, known->second.since);
  } else {
    log_warn("nodes", "a pool is short of slots", {{"pool", pool}, {"why", shortage.words}});
    parts_.tell_shortage(shortage);
  }
  shortages.emplace(pool, std::move(shortage));
}

/// From the rows, so that a new leader knows what the one before noted.
void NodeHistory::judge_capacity(WallTime now) {
  auto rows = parts_.reader.pool_minutes(now - kJudged);
  if (!rows) return;  // what was known still holds
  std::map<std::string, std::vector<model::PoolMinute>> by_pool;
  for (auto& row : *rows) by_pool[row.pool].push_back(std::move(row));
  std::map<std::string, core::PoolShortage> shortages;
  for (auto& [pool, minutes] : by_pool) judge_pool(std::move(minutes), now, shortages);
  for (const auto& [pool, shortage] : shortages_) {
    if (shortages.contains(pool)) continue;
    log_info("nodes", "a pool has its reserve of slots again", {{"pool", pool}});
  }
  shortages_ = std::move(shortages);
}

void NodeHistory::publish() {
  auto fresh = std::make_shared<core::NodeFacts>();
  fresh->day = book_.counted_from();
  fresh->today = book_.today();
  for (const auto& [pool, shortage] : shortages_) fresh->shortages.push_back(shortage);
  std::scoped_lock lock(mutex_);
  facts_ = std::move(fresh);
}

}  // namespace rota::master
