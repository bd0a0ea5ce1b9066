// Minutes of workers and pools as rows.
#pragma once

#include <string_view>

#include "common/model/node_minute.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/multi_row.h"

namespace rota::master::store {

inline constexpr std::string_view kWorkerMinuteColumns =
    "worker_id, minute_ms, epoch, pool, state, looks, samples, cpu_percent, memory_percent, load_percent, "
    "cpu_most_percent, disk_free_bytes, threads, slots, running_hundredths, scheduled, succeeded, failed";
inline constexpr std::string_view kPoolMinuteColumns =
    "pool, minute_ms, epoch, looks, workers, slots_hundredths, used_hundredths, used_most";

extern const MultiRow kReplaceWorkerMinutes, kReplacePoolMinutes;
void bind_minute(Binder& binder, const model::WorkerMinute& row);
void bind_minute(Binder& binder, const model::PoolMinute& row);

model::WorkerMinute read_worker_minute(Row& row);
model::PoolMinute read_pool_minute(Row& row);

}  // namespace rota::master::store
