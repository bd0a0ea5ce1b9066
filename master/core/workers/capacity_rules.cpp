#include "master/core/workers/capacity_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace rota::master::core {

using model::PoolMinute;
using model::WorkerMinute;

namespace {

constexpr double kMinutesOfDay = 24 * 60;
constexpr double kHundredths = 100;

/// An average over both.
template <typename Number>
Number together(Number one, std::int32_t weight, Number other, std::int32_t other_weight) {
  const std::int64_t sum = std::int64_t{weight} + other_weight;
  if (sum == 0) return one;
  return static_cast<Number>((std::int64_t{one} * weight + std::int64_t{other} * other_weight) / sum);
}

void add(PoolMinute& sum, const PoolMinute& row) {
  sum.slots_hundredths = together(sum.slots_hundredths, sum.looks, row.slots_hundredths, row.looks);
  sum.used_hundredths = together(sum.used_hundredths, sum.looks, row.used_hundredths, row.looks);
  sum.workers = std::max(sum.workers, row.workers);
  sum.used_most = std::max(sum.used_most, row.used_most);
  sum.looks += row.looks;
  sum.epoch = row.epoch;
}

void add(WorkerMinute& sum, const WorkerMinute& row) {
  const auto average = [&](auto WorkerMinute::*field) {
    sum.*field = together(sum.*field, sum.samples, row.*field, row.samples);
  };
  average(&WorkerMinute::cpu_percent);
  average(&WorkerMinute::memory_percent);
  average(&WorkerMinute::load_percent);
  if (sum.samples == 0 || (row.samples > 0 && row.disk_free_bytes < sum.disk_free_bytes)) {
    sum.disk_free_bytes = row.disk_free_bytes;
  }
  sum.cpu_most_percent = std::max(sum.cpu_most_percent, row.cpu_most_percent);
  sum.threads = std::max(sum.threads, row.threads);
  sum.running_hundredths = together(sum.running_hundredths, sum.looks, row.running_hundredths, row.looks);
  sum.slots = std::max(sum.slots, row.slots);
  sum.looks += row.looks;
  sum.samples += row.samples;
  sum.scheduled += row.scheduled;
  sum.succeeded += row.succeeded;
  sum.failed += row.failed;
  sum.state = row.state;
  sum.pool = row.pool;
  sum.epoch = row.epoch;
}

template <typename Row>
std::vector<Row> put_together(std::vector<Row> rows) {
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::tie(a.minute, a.epoch) < std::tie(b.minute, b.epoch);
  });
  std::vector<Row> out;
  for (Row& row : rows) {
    const bool is_more = !out.empty() && out.back().minute == row.minute;
    is_more ? add(out.back(), row) : out.push_back(std::move(row));
  }
  return out;
}

/// In slots a minute: the line through the minutes that lies nearest to all of them.
double slope_of(const std::vector<PoolMinute>& minutes) {
  const auto place = [&](const PoolMinute& row) {
    return static_cast<double>((row.minute - minutes.front().minute).count()) / 60'000;
  };
  double x_sum = 0, y_sum = 0;
  for (const PoolMinute& row : minutes) {
    x_sum += place(row);
    y_sum += static_cast<double>(row.used_hundredths) / kHundredths;
  }
  const auto count = static_cast<double>(minutes.size());
  double products = 0, squares = 0;
  for (const PoolMinute& row : minutes) {
    const double x = place(row) - x_sum / count;
    products += x * (static_cast<double>(row.used_hundredths) / kHundredths - y_sum / count);
    squares += x * x;
  }
  return squares == 0 ? 0 : products / squares;
}

/// When `used` reaches `most`; now, when it has.
std::optional<WallTime> end_at(WallTime from, double used, double most, double per_day) {
  if (used >= most) return from;
  if (per_day <= 0) return std::nullopt;
  const double days = (most - used) / per_day;
  if (days > static_cast<double>(kFarthestDays)) return std::nullopt;
  return from + Millis{static_cast<std::int64_t>(days * kMinutesOfDay) * 60'000};
}

double share_in_use(std::int32_t reserve_percent) { return (100.0 - reserve_percent) / 100; }

}  // namespace

std::vector<PoolMinute> whole_minutes(std::vector<PoolMinute> rows) { return put_together(std::move(rows)); }
std::vector<WorkerMinute> whole_minutes(std::vector<WorkerMinute> rows) {
  return put_together(std::move(rows));
}

bool is_short(const PoolMinute& minute, std::int32_t reserve_percent) {
  if (minute.slots_hundredths <= 0) return false;  // nothing is in use of nothing
  return static_cast<double>(minute.used_hundredths) >
         static_cast<double>(minute.slots_hundredths) * share_in_use(reserve_percent);
}

PoolCapacity capacity_of(const std::vector<PoolMinute>& minutes, std::int32_t reserve_percent) {
  const PoolMinute& newest = minutes.back();
  PoolCapacity out;
  out.pool = newest.pool;
  out.workers = newest.workers;
  out.slots = static_cast<double>(newest.slots_hundredths) / kHundredths;
  out.used = static_cast<double>(newest.used_hundredths) / kHundredths;
  for (const PoolMinute& row : minutes) out.used_most = std::max(out.used_most, row.used_most);
  out.free_percent = out.slots <= 0 ? 0 : 100 * (out.slots - out.used) / out.slots;
  out.is_short = is_short(newest, reserve_percent);
  out.minutes = static_cast<std::int64_t>(minutes.size());
  out.newest = newest.minute;
  const bool is_enough =
      minutes.size() >= kGrowthMinutes && newest.minute - minutes.front().minute >= kGrowthSpan;
  if (!is_enough) return out;
  const double per_day = slope_of(minutes) * kMinutesOfDay;
  out.growth_per_day = per_day;
  if (out.slots <= 0) return out;
  out.reserve_ends = end_at(newest.minute, out.used, out.slots * share_in_use(reserve_percent), per_day);
  out.slots_end = end_at(newest.minute, out.used, out.slots, per_day);
  return out;
}

std::optional<WallTime> short_since(const std::vector<PoolMinute>& minutes, std::int32_t reserve_percent,
                                    WallTime now) {
  const WallTime from = now - kMinutesShort * model::kMinute;
  std::optional<WallTime> since;
  int within = 0;
  for (auto row = minutes.rbegin(); row != minutes.rend() && is_short(*row, reserve_percent); ++row) {
    since = row->minute;
    if (row->minute + model::kMinute > from) ++within;
  }
  const bool is_new = !minutes.empty() && now - minutes.back().minute <= 3 * model::kMinute;
  return is_new && within >= kMinutesShort - 1 && *since <= from + model::kMinute ? since : std::nullopt;
}

std::string shortage_words(const PoolCapacity& capacity, std::int32_t reserve_percent) {
  return fmt::format("{:.1f} of {:g} slots of {} are in use: {:.0f} % are free, and {} % should be",
                     capacity.used, capacity.slots,
                     capacity.pool.empty() ? "all pools" : "pool " + capacity.pool, capacity.free_percent,
                     reserve_percent);
}

}  // namespace rota::master::core
