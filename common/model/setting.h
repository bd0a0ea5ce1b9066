// What operators may change while the cluster runs. setting_fields.h has a row for each member: its name,
// unit, range, meaning, and where it acts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::model {

/// Bytes.
inline constexpr std::size_t kMaxSettingName = 64;
inline constexpr std::size_t kMaxSettingWhy = 500;

/// All values together. The initial ones are built in.
struct Settings {
  // workers: when they are dead, excluded, flapping, or in warning
  // (master/core/workers/worker_state_rules.h)
  Millis dead_after{600'000};
  Millis keep_offline{24 * 3600 * 1000};  ///< how long a worker that vanished is known at all
  Millis hold_first{60'000};              ///< how long a worker is left out the first time
  std::int32_t jobs_to_exclude = 3;
  std::int32_t lives_to_flap = 4;
  Millis slow_answer{2000};
  std::int32_t load_most = 90;  ///< percent
  Millis clock_off_most{1000};
  std::int32_t return_crowd = 20;  ///< more workers of a pool that come within 5 s are let in over 5 s
  // for how long a worker is away, as people are told
  Millis away_band_1{60'000};
  Millis away_band_2{120'000};
  Millis away_band_3{600'000};
  // the load formula: weights against each other
  std::int32_t load_cpu = 40;
  std::int32_t load_memory = 30;
  std::int32_t load_slots = 30;
  // rates and limits
  std::int32_t catch_up_rate = 20;  ///< runs of late ticks that start a second, in each pool
  std::int32_t notify_tries = 60;
  std::int32_t notify_open = 200;  ///< of one receiver
  Millis no_leader_after{30'000};
  std::int32_t inbox_events = 10'000;
  // how long things are kept; 0: forever, or no limit
  Millis keep_runs = std::chrono::hours{24 * 90};
  Millis keep_logs = std::chrono::hours{24 * 30};
  std::int64_t log_limit_bytes = std::int64_t{100} << 30;
  Millis keep_notifications = std::chrono::hours{24 * 90};
  // how many workers a pool should have (master/core/workers/scale_rules.h)
  std::int32_t scale_up_percent = 80;
  std::int32_t scale_down_percent = 30;
  Millis scale_cool_down{60'000};
  Millis scale_average{15'000};
  std::int32_t scale_tries = 60;
  Millis keep_scaling = std::chrono::hours{24 * 90};
  bool operator==(const Settings&) const = default;
};

/// One version of one setting, as it is stored. It is never changed afterwards.
struct SettingRow {
  std::string name;
  std::int32_t version = 0;           ///< from 1
  std::optional<std::int64_t> value;  ///< in the setting's unit; unset: what master.yaml says counts again
  WallTime changed{};                 ///< core time of the change
  std::int64_t number =
      0;  ///< higher in later changes, whatever clocks say; names the Term like a run's id
  std::string principal;
  std::string why;
  bool operator==(const SettingRow&) const = default;
};

}  // namespace rota::model
