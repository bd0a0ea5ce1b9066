#include "sim_disk.h"

#include <utility>

#include "worker/report/outbox_record.h"

namespace rota::sim {

using worker::report::Acknowledged;
using worker::report::encode;
using worker::report::OutboxRecord;

void SimDisk::write(const model::AttemptReport& report) {
  const std::string bytes = encode(report);
  written_[report.key].insert(bytes);
  unsynced_ += bytes;
}

void SimDisk::forget(model::AttemptKey key) { unsynced_ += encode(Acknowledged{key}); }

void SimDisk::sync() { file_ += std::exchange(unsynced_, {}); }

void SimDisk::tear(Random& dice) {
  const std::size_t kept = dice.index(unsynced_.size() + 1);
  torn_ = kept > 0 && kept < unsynced_.size();
  file_ += unsynced_.substr(0, kept);
  unsynced_.clear();
}

bool SimDisk::flip(Random& dice) {
  if (file_.empty()) return false;
  const std::size_t at = dice.index(file_.size());
  file_[at] = static_cast<char>(file_[at] ^ (1 << dice.below(8)));
  return true;
}

void SimDisk::wipe() {
  file_.clear();
  unsynced_.clear();
}

std::map<model::AttemptKey, model::AttemptReport> SimDisk::read() {
  sync();
  worker::report::OutboxContent content = worker::report::read_records(file_);
  file_.resize(content.end);
  std::map<model::AttemptKey, model::AttemptReport> live;
  for (OutboxRecord& record : content.records) {
    if (const auto* done = std::get_if<Acknowledged>(&record)) {
      live.erase(done->key);
      continue;
    }
    auto& report = std::get<model::AttemptReport>(record);
    altered_ = altered_ || !written_[report.key].contains(encode(report));
    live[report.key] = std::move(report);
  }
  return live;
}

}  // namespace rota::sim
