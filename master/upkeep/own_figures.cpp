#include "master/upkeep/own_figures.h"

#include <utility>

namespace rota::master {

OwnFigures::OwnFigures(std::string folder, std::string version, const Clock& clock)
    : folder_(std::move(folder)), clock_(clock) {
  figures_.version = std::move(version);
  figures_.started = clock.wall();
}

void OwnFigures::look() {
  const host::HostReading host = host::read_host(folder_);
  const host::ProcessReading process = host::read_process();
  const std::scoped_lock lock(mutex_);
  // The first look has nothing to compare with.
  figures_.cpu_percent = cpu_before_ ? host::cpu_percent(*cpu_before_, host.cpu) : 0;
  cpu_before_ = host.cpu;
  figures_.memory_percent = host::used_percent(host.memory);
  figures_.disk_free_bytes = host.disk_free_bytes;
  figures_.threads = process.threads;
  figures_.resident_bytes = process.resident_bytes;
  figures_.sampled = clock_.mono();
}

std::optional<api::MasterFigures> OwnFigures::last() const {
  const std::scoped_lock lock(mutex_);
  return cpu_before_ ? std::optional(figures_) : std::nullopt;
}

}  // namespace rota::master
