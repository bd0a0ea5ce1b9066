#include "worker/desk/epoch_keeper.h"

#include <sstream>

#include "common/base/file.h"

namespace rota::worker::desk {

Result<void> EpochKeeper::load() {
  file_.make_room();
  auto text = read_file(file_.path());
  if (!text && text.error().code == ErrorCode::NotFound) return {};
  if (!text) return fail(text.error());
  std::istringstream lines(*text);
  std::string uuid;
  std::int64_t epoch = 0;
  std::scoped_lock lock(mutex_);
  while (lines >> uuid) {
    if (!(lines >> epoch) || epoch < 0) {
      return fail(ErrorCode::Corrupt, file_.path() + ": the epoch of cluster " + uuid + " is no number");
    }
    epochs_[uuid] = Epoch{epoch};
  }
  return {};
}

Result<Epoch> EpochKeeper::raise(const std::string& cluster_uuid, Epoch epoch) {
  std::scoped_lock lock(mutex_);
  Epoch& kept = epochs_[cluster_uuid];
  if (epoch <= kept) return kept;
  std::map<std::string, Epoch> wanted = epochs_;
  wanted[cluster_uuid] = epoch;
  std::string text;
  for (const auto& [uuid, value] : wanted) text += uuid + " " + std::to_string(value.value) + "\n";
  if (auto written = file_.write(text); !written) return fail(written.error());
  kept = epoch;
  return kept;
}

Epoch EpochKeeper::highest(const std::string& cluster_uuid) const {
  std::scoped_lock lock(mutex_);
  const auto found = epochs_.find(cluster_uuid);
  return found == epochs_.end() ? Epoch{} : found->second;
}

}  // namespace rota::worker::desk
