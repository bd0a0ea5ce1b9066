#include "master/store/mysql/node_rows.h"

namespace rota::master::store {
namespace {

constexpr std::size_t kStateBytes = 16;

std::int32_t small(Row& row) { return static_cast<std::int32_t>(row.integer()); }

}  // namespace

const MultiRow kReplaceWorkerMinutes{
    "REPLACE INTO worker_minute (worker_id, minute_ms, epoch, pool, state, looks, samples, cpu_percent, "
    "memory_percent, load_percent, cpu_most_percent, disk_free_bytes, threads, slots, running_hundredths, "
    "scheduled, succeeded, failed) VALUES",
    18, ""};
const MultiRow kReplacePoolMinutes{
    "REPLACE INTO pool_minute (pool, minute_ms, epoch, looks, workers, slots_hundredths, used_hundredths, "
    "used_most) VALUES",
    8, ""};

void bind_minute(Binder& binder, const model::WorkerMinute& row) {
  binder.text(row.worker)
      .time(row.minute)
      .integer(row.epoch.value)
      .text(row.pool)
      .prose(row.state, kStateBytes)
      .integer(row.looks)
      .integer(row.samples)
      .integer(row.cpu_percent)
      .integer(row.memory_percent)
      .integer(row.load_percent)
      .integer(row.cpu_most_percent)
      .integer(row.disk_free_bytes)
      .integer(row.threads)
      .integer(row.slots)
      .integer(row.running_hundredths)
      .integer(row.scheduled)
      .integer(row.succeeded)
      .integer(row.failed);
}

void bind_minute(Binder& binder, const model::PoolMinute& row) {
  binder.text(row.pool)
      .time(row.minute)
      .integer(row.epoch.value)
      .integer(row.looks)
      .integer(row.workers)
      .integer(row.slots_hundredths)
      .integer(row.used_hundredths)
      .integer(row.used_most);
}

model::WorkerMinute read_worker_minute(Row& row) {
  model::WorkerMinute out;
  out.worker = row.text();
  out.minute = row.time();
  out.epoch = Epoch{row.integer()};
  out.pool = row.text();
  out.state = row.text();
  out.looks = small(row);
  out.samples = small(row);
  out.cpu_percent = small(row);
  out.memory_percent = small(row);
  out.load_percent = small(row);
  out.cpu_most_percent = small(row);
  out.disk_free_bytes = row.integer();
  out.threads = small(row);
  out.slots = small(row);
  out.running_hundredths = small(row);
  out.scheduled = row.integer();
  out.succeeded = row.integer();
  out.failed = row.integer();
  return out;
}

model::PoolMinute read_pool_minute(Row& row) {
  model::PoolMinute out;
  out.pool = row.text();
  out.minute = row.time();
  out.epoch = Epoch{row.integer()};
  out.looks = small(row);
  out.workers = small(row);
  out.slots_hundredths = row.integer();
  out.used_hundredths = row.integer();
  out.used_most = row.integer();
  return out;
}

}  // namespace rota::master::store
