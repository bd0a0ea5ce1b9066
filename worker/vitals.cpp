#include "worker/vitals.h"

#include <algorithm>
#include <cmath>

#include "common/host/self_check_rules.h"

namespace rota::worker {

const model::WorkerVitals& Vitals::look(const OwnState& own, Now now) {
  const host::HostReading host = host::read_host(folder_);
  process_ = host::read_process();
  // The first look has nothing to compare with.
  vitals_.cpu_percent = looked_ ? host::cpu_percent(cpu_before_, host.cpu) : 0;
  cpu_before_ = host.cpu;
  looked_ = now.mono;
  if (!first_look_) first_look_ = now.mono;
  vitals_.memory_percent = host::used_percent(host.memory);
  const double load = load_.add(load_of(vitals_.cpu_percent / 100.0, vitals_.memory_percent / 100.0,
                                        static_cast<double>(own.used_slots) / std::max(own.slots, 1)));
  vitals_.load_percent = static_cast<std::int32_t>(std::lround(load));
  vitals_.disk_free_bytes = host.disk_free_bytes;
  vitals_.threads = process_.threads;
  vitals_.running = own.running;
  std::vector<std::string> troubles = host::host_troubles(host, process_, folder_);
  troubles.insert(troubles.end(), own.troubles.begin(), own.troubles.end());
  vitals_.health = host::verdict_of(troubles, own.awaited, floor_ms(now.mono - *first_look_));
  vitals_.sampled = now.wall;
  return vitals_;
}

std::optional<model::WorkerVitals> Vitals::to_tell() {
  if (!looked_) return std::nullopt;
  if (told_ && !is_worth_telling(*told_, vitals_)) return std::nullopt;
  told_ = vitals_;
  return vitals_;
}

}  // namespace rota::worker
