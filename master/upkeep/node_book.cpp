#include "master/upkeep/node_book.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rota::master {

using core::WorkerView;
using core::WorkerWork;

namespace {

WorkerWork minus(const WorkerWork& now, const WorkerWork& before) {
  return {std::max<std::int64_t>(0, now.scheduled - before.scheduled),
          std::max<std::int64_t>(0, now.succeeded - before.succeeded),
          std::max<std::int64_t>(0, now.failed - before.failed)};
}

void add(WorkerWork& sum, const WorkerWork& more) {
  sum.scheduled += more.scheduled;
  sum.succeeded += more.succeeded;
  sum.failed += more.failed;
}

std::int32_t average(std::int64_t sum, std::int32_t count) {
  return count == 0 ? 0 : static_cast<std::int32_t>((sum + count / 2) / count);
}

/// A pool's limit counts where it is lower than the slots of its workers.
std::int64_t slots_of(const core::Snapshot& snapshot, const std::string& pool, std::int64_t of_workers) {
  const auto view = std::ranges::find(snapshot.pools, pool, &core::QuotaView::name);
  const bool is_limited = view != snapshot.pools.end() && view->quota.slots >= 0;
  return is_limited ? std::min<std::int64_t>(of_workers, view->quota.slots) : of_workers;
}

}  // namespace

WallTime minute_of(WallTime moment) { return std::chrono::floor<std::chrono::minutes>(moment); }
WallTime day_of(WallTime moment) { return std::chrono::floor<std::chrono::days>(moment); }

void NodeBook::begin(WallTime now) {
  *this = NodeBook();
  began_ = now;
  day_ = day_of(now);
}

void NodeBook::add_earlier(std::map<std::string, WorkerWork> today) {
  knows_earlier_ = true;
  for (const auto& [worker, work] : today) add(today_[worker], work);
}

/// Counts of a day that is over are in its rows.
void NodeBook::begin_day(WallTime day) {
  day_ = day;
  knows_earlier_ = true;
  today_.clear();
}

std::optional<store::MinuteRows> NodeBook::look(const core::Snapshot& snapshot, WallTime now) {
  std::optional<store::MinuteRows> over;
  const WallTime minute = minute_of(now);
  if (minute != minute_ && minute_ != WallTime{}) over = turn_page();
  minute_ = minute;
  epoch_ = snapshot.epoch;
  if (day_of(now) > day_) begin_day(day_of(now));
  unnoted_ = 0;
  for (const WorkerView& view : snapshot.workers) note_worker(view, now);
  note_pools(snapshot);
  return over;
}

void NodeBook::note_worker(const WorkerView& view, WallTime now) {
  const std::string& id = view.info->key.id;
  const auto known = known_.find(id);
  const WorkerWork before = known == known_.end() ? WorkerWork{} : known->second;
  const WorkerWork news = minus(view.work, before);
  const bool has_news = news != WorkerWork{};
  if (has_news) {
    known_[id] = view.work;
    add(today_[id], news);
  }
  const bool is_here = !core::is_away(view);
  auto page = workers_.find(id);
  if (page == workers_.end()) {
    if (!is_here && !has_news) return;
    if (workers_.size() >= kWorkersNoted) {
      ++unnoted_;
      return;
    }
    page = workers_.try_emplace(id).first;
    page->second.before = before;
  }
  WorkerPage& noted = page->second;
  noted.last = view.work;
  model::WorkerMinute& row = noted.row;
  row.pool = view.info->pool;
  row.state = view.state;
  if (!is_here) return;
  ++row.looks;
  row.slots = std::max(row.slots, view.info->slots);
  noted.sums.running += view.running;
  if (!view.vitals || now - view.vitals->sampled > kFreshFigures) return;
  const model::WorkerVitals& vitals = *view.vitals;
  noted.sums.cpu += vitals.cpu_percent;
  noted.sums.memory += vitals.memory_percent;
  noted.sums.load += vitals.load_percent;
  row.cpu_most_percent = std::max(row.cpu_most_percent, vitals.cpu_percent);
  row.threads = std::max(row.threads, vitals.threads);
  row.disk_free_bytes =
      row.samples == 0 ? vitals.disk_free_bytes : std::min(row.disk_free_bytes, vitals.disk_free_bytes);
  ++row.samples;
}

/// Of workers that get runs. What is drained or left out neither has slots nor uses any.
void NodeBook::note_pools(const core::Snapshot& snapshot) {
  std::map<std::string, Used> pools;
  for (const WorkerView& view : snapshot.workers) {
    if (!core::gets_work(view)) continue;
    Used& pool = pools[view.info->pool];
    ++pool.workers;
    pool.slots += view.info->slots;
    pool.used += view.used_slots;
  }
  Used all;
  for (auto& [name, pool] : pools) {
    pool.slots = slots_of(snapshot, name, pool.slots);
    all.workers += pool.workers;
    all.slots += pool.slots;
    all.used += pool.used;
    if (pools_.size() < kPoolsNoted || pools_.contains(name)) note_pool(name, pool);
  }
  note_pool("", all);
}

void NodeBook::note_pool(const std::string& pool, const Used& used) {
  PoolPage& page = pools_[pool];
  ++page.row.looks;
  page.row.workers = std::max(page.row.workers, used.workers);
  page.row.used_most = std::max(page.row.used_most, used.used);
  page.slots += used.slots;
  page.used += used.used;
}

store::MinuteRows NodeBook::turn_page() {
  store::MinuteRows rows;
  for (auto& [id, page] : std::exchange(workers_, {})) {
    model::WorkerMinute& row = rows.workers.emplace_back(page.row);
    const WorkerWork work = minus(page.last, page.before);
    row.worker = id;
    row.minute = minute_;
    row.epoch = epoch_;
    row.cpu_percent = average(page.sums.cpu, row.samples);
    row.memory_percent = average(page.sums.memory, row.samples);
    row.load_percent = average(page.sums.load, row.samples);
    row.running_hundredths = average(100 * page.sums.running, row.looks);
    row.scheduled = work.scheduled;
    row.succeeded = work.succeeded;
    row.failed = work.failed;
  }
  for (auto& [name, page] : std::exchange(pools_, {})) {
    model::PoolMinute& row = rows.pools.emplace_back(page.row);
    row.pool = name;
    row.minute = minute_;
    row.epoch = epoch_;
    row.slots_hundredths = 100 * page.slots / row.looks;
    row.used_hundredths = 100 * page.used / row.looks;
  }
  return rows;
}

}  // namespace rota::master
